#pragma once

#include "kernels/layers/encoder_block.hpp"
#include "kernels/models/qwen3_omni/image_patches.hpp"
#include "kernels/models/weight_reader.hpp"

#include <span>
#include <vector>

namespace omni::qwen3_omni {

/// Pictures and videos to rows of the thinker. Patches of one instant see each other; groups of them become one row,
/// with what some inner layers add to the thinker's first layers. Read-only after loading.
class vision_encoder {
public:
  /// Throws `load_error`.
  vision_encoder(const vision_config& config, const checkpoint& file, bool as_f32);
  vision_encoder(const vision_encoder&) = delete;
  vision_encoder& operator=(const vision_encoder&) = delete;

  [[nodiscard]] const vision_config& config() const { return config_; }
  /// Rows [patches / merge^2, 1 + deepstack layers, out] of patches [grid.patches(), patch_values]; a row's first part
  /// is its embedding. `observer`: for tests.
  [[nodiscard]] std::vector<float> encode(std::span<const float> patches, const patch_grid& grid,
                                          const tensor_observer* observer, const op_context& context) const;

private:
  /// Norm, two linear layers: several patches to one row. Some norm each patch, some all of them as one.
  struct merger {
    layer_norm_weights norm;
    bool norms_patches = false;
    linear_weights fc1, fc2;
  };
  [[nodiscard]] merger read_merger(weight_reader& from, const std::string& module, bool norms_patches) const;
  [[nodiscard]] tensor merged(const merger& w, const tensor& patches, const op_context& context) const;
  /// Learned positions [patches, hidden] of a grid, interpolated.
  [[nodiscard]] tensor positions(const patch_grid& grid, const op_context& context) const;

  vision_config config_;
  encoder_config block_;
  weight_arena arena_;
  linear_weights patch_embed_;
  const float* position_table_; // [side, side, hidden]
  std::vector<encoder_weights> blocks_;
  merger last_;
  std::vector<merger> deepstack_;
};

} // namespace omni::qwen3_omni
