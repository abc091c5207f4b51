#pragma once

#include "kernels/ops/conv_weights.hpp"
#include "kernels/weights/onnx_file.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::vits {

/// Shape and weights of one convolution as the file has them.
struct conv_source {
  std::string module;        // "dec.ups.0", for messages
  std::vector<float> weight; // [out, in / groups, kernel], transposed: [in, out, kernel]
  std::vector<float> bias;   // [out] or empty
  shape extents;             // of `weight`
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  std::int64_t pad_left = 0;
  std::int64_t pad_right = 0;
};

/// Finds the parts of a VITS model in an exported graph. Weights of convolutions are often anonymous there, so names
/// are only one of the ways: the bias, which keeps its name, comes first, then the weight's name, then the node's
/// address. All errors are `load_error` sentences that name the file and the module.
class voice_graph {
public:
  explicit voice_graph(std::shared_ptr<const onnx_file> file);

  [[nodiscard]] const std::string& where() const { return file_->where(); }
  [[nodiscard]] const onnx_file& file() const { return *file_; }
  /// Whether the model has that convolution ("dp.pre").
  [[nodiscard]] bool has_conv(const std::string& module) const;
  [[nodiscard]] conv_source conv(const std::string& module) const;
  /// How many of `before` + N + `after`, N = 0, 1, ..., are convolutions.
  [[nodiscard]] std::int64_t count_convs(const std::string& before, const std::string& after) const;
  /// The last convolution of the graph: a HiFi-GAN's output layer, which has no bias to find it by.
  [[nodiscard]] conv_source last_conv(const std::string& module) const;

  /// Values of a named tensor, of that many values.
  [[nodiscard]] std::vector<float> values(const std::string& name, std::int64_t count) const;
  [[nodiscard]] std::optional<tensor> find(const std::string& name) const { return file_->find(name); }
  /// A table [rows, width] that a Gather reads with graph input `index`, else the tensor called `name`.
  [[nodiscard]] std::optional<tensor> find_table(std::string_view index, const std::string& name) const;

  [[noreturn]] void reject(const std::string& problem) const;

private:
  [[nodiscard]] const onnx_node* find_conv_node(const std::string& module) const;
  [[nodiscard]] conv_source read(const onnx_node& node, const std::string& module) const;

  std::shared_ptr<const onnx_file> file_;
};

/// Packs a Conv1d with "same" padding and one group, whose shape must be [out, in, any]; 0 means any.
conv_weights pack_same(const voice_graph& graph, const conv_source& source, std::int64_t out, std::int64_t in);
/// The same for a module that is looked up; 1x1 when `kernel` is 1, any kernel when it is 0.
conv_weights load_same(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t in,
                       std::int64_t kernel = 0);
conv_weights load_1x1(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t in);

/// gamma and beta of a layer normalisation.
struct norm_weights {
  std::vector<float> gamma;
  std::vector<float> beta;
};
norm_weights load_norm(const voice_graph& graph, const std::string& module, std::int64_t channels);

} // namespace omni::vits
