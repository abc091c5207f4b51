#pragma once

#include "kernels/core/buffer.hpp"
#include "kernels/weights/checkpoint.hpp"
#include "kernels/weights/hf_config.hpp"

#include <map>
#include <string>
#include <vector>

namespace omni {

/// The type of the weights that a config.json describes (`dtype`, in older files `torch_dtype`, of the model or of its
/// thinker): BF16 where it names none.
dtype weights_type(const hf_config& config);

/// Random weights for a configuration without files. A tensor exists from the time somebody asks for it by name and
/// shape. Vectors called NAME.weight, which are norms, lie near 1, all else near 0 with a deviation of 0.02, so that
/// activations stay in range at any depth. The same name and shape always give the same values.
///
/// All tensors are views into one table of noise, each from a place of its own, so the whole costs the memory of the
/// largest tensor. Unlike checkpoints of files it remembers what was asked for: one thread at a time may use it.
class dummy_checkpoint final : public checkpoint {
public:
  /// For a folder with a config.json. Throws `load_error`.
  static std::shared_ptr<const dummy_checkpoint> open(const std::filesystem::path& folder);
  /// `type`: F32, F16 or BF16.
  dummy_checkpoint(std::string where, dtype type);

  [[nodiscard]] const std::string& where() const override { return where_; }
  /// A tensor that was asked for before; nothing else is known by name alone.
  [[nodiscard]] std::optional<tensor> find(std::string_view name) const override;
  [[nodiscard]] std::vector<std::string> names() const override;
  /// The same with the shape: makes the tensor. Throws `load_error` when it was asked for in another shape.
  [[nodiscard]] tensor get(std::string_view name, const shape& expected) const override;

private:
  [[nodiscard]] std::byte* noise_of(std::int64_t values) const;

  std::string where_;
  dtype type_;
  buffer near_zero_;                    // one period of noise
  buffer near_one_;                     // and one around 1
  mutable std::vector<buffer> repeats_; // of the period, for tensors that need more; the last is the largest
  mutable std::map<std::string, tensor, std::less<>> made_;
};

} // namespace omni
