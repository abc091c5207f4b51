#pragma once

#include "kernels/core/tensor.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni {

/// A file or folder of named tensors, mapped into memory. Immutable, so any thread may read it, except where a class
/// says otherwise (dummy_checkpoint.hpp).
///
/// Tensors are views into the mapping: row-major, slowest axis first, read-only, valid while the checkpoint lives.
/// They are aligned no better than the file made them, perhaps to a single byte: copy, or use `read_f32` (convert.hpp),
/// before reading them as numbers. A tensor of more than four axes shows its last ones as one:
/// [1152, 3, 2, 16, 16] is [1152, 3, 2, 256].
class checkpoint {
public:
  virtual ~checkpoint() = default;
  /// The path of the file or folder, for messages.
  [[nodiscard]] virtual const std::string& where() const = 0;
  [[nodiscard]] virtual std::optional<tensor> find(std::string_view name) const = 0;
  /// All names, sorted.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  /// The tensor of that name and exactly that shape; throws `load_error` naming file, tensor, expected, found.
  [[nodiscard]] virtual tensor get(std::string_view name, const shape& expected) const;
};

/// What the readers of mapped files share: a table of views, and what keeps the memory below them.
class mapped_checkpoint : public checkpoint {
public:
  [[nodiscard]] const std::string& where() const override { return where_; }
  [[nodiscard]] std::optional<tensor> find(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> names() const override;

protected:
  explicit mapped_checkpoint(std::string where) : where_(std::move(where)) {}
  /// Keeps what `owner` holds alive as long as this checkpoint.
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  /// Adds a tensor; throws `load_error` when the name is taken.
  void add(std::string name, const tensor& view);
  [[nodiscard]] std::size_t size() const { return tensors_.size(); }

private:
  std::string where_;
  std::map<std::string, tensor, std::less<>> tensors_;
  std::vector<std::shared_ptr<const void>> owners_;
};

/// Opens a checkpoint: a folder or .safetensors file, a .gguf file, a .onnx file; other names by their first bytes.
/// Throws `load_error`.
std::shared_ptr<const checkpoint> open_checkpoint(const std::filesystem::path& path);

} // namespace omni
