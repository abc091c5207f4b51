#pragma once

#include "kernels/weights/checkpoint.hpp"

#include <span>

namespace omni {

struct onnx_model;

/// An attribute of a node; only the field that its type names is set.
struct onnx_attribute {
  std::string_view name;
  std::int64_t i = 0;
  float f = 0;
  std::string_view s;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::optional<tensor> t;
};

struct onnx_node {
  std::string_view name;
  std::string_view op_type;
  std::vector<std::string_view> inputs; // an optional input that is left out is empty
  std::vector<std::string_view> outputs;
  std::vector<onnx_attribute> attributes;

  [[nodiscard]] const onnx_attribute* find_attribute(std::string_view wanted) const;
};

/// The weights and the graph of an ONNX model. `find` knows initializers and the values of Constant nodes, also through
/// Identity nodes; `names` lists the initializers. Layout: onnx `onnx.proto`.
/// Strings are views into the file and live as long as it. Queries scan the nodes: for load time only.
class onnx_file final : public mapped_checkpoint {
public:
  /// Maps the file, and the files of external data that lie in its folder or below. Throws `load_error`.
  static std::shared_ptr<const onnx_file> open(const std::filesystem::path& path);
  /// Reads a file that is already in memory and has no external data; `owner` keeps `bytes` alive. Throws `load_error`.
  static std::shared_ptr<const onnx_file> parse(std::span<const std::byte> bytes, std::string where,
                                                std::shared_ptr<const void> owner = {});

  [[nodiscard]] std::optional<tensor> find(std::string_view name) const override;

  [[nodiscard]] const std::vector<onnx_node>& nodes() const { return nodes_; } // in the order of the file
  [[nodiscard]] const std::vector<std::string_view>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::string_view>& outputs() const { return outputs_; }

  /// The node of that name, or null.
  [[nodiscard]] const onnx_node* find_node(std::string_view name) const;
  /// The node that computes `value`, or null for an input or initializer.
  [[nodiscard]] const onnx_node* producer(std::string_view value) const;
  /// The nodes that read `value`, in the order of the file.
  [[nodiscard]] std::vector<const onnx_node*> consumers(std::string_view value) const;
  /// Where `value` comes from, back through Identity nodes; `value` itself when no such node makes it.
  [[nodiscard]] std::string_view resolve(std::string_view value) const;
  /// The Conv or ConvTranspose whose bias is `bias` (by name, else through Identity nodes); null when there is none, or
  /// several that share it.
  [[nodiscard]] const onnx_node* find_conv_by_bias(std::string_view bias) const;
  /// The name of the table that a Gather reads with `index` (a graph input, perhaps through Identity or Cast), or
  /// nothing.
  [[nodiscard]] std::optional<std::string_view> find_gather_table(std::string_view index) const;

private:
  onnx_file(std::string where, onnx_model model);

  std::vector<onnx_node> nodes_;
  std::vector<std::string_view> inputs_;
  std::vector<std::string_view> outputs_;
};

} // namespace omni
