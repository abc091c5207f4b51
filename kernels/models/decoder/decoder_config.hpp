#pragma once

#include "kernels/layers/block_config.hpp"
#include "kernels/layers/rope_angles.hpp"
#include "kernels/weights/gguf_file.hpp"
#include "kernels/weights/hf_config.hpp"

#include <optional>
#include <string>
#include <vector>

namespace omni {

/// A text decoder as data: what distinguishes Llama, Qwen2, Qwen3, Qwen3-MoE and their sizes.
struct decoder_config {
  std::string family; // "llama", "qwen2", "qwen3", "qwen3_moe"
  std::int64_t vocab = 0;
  std::int64_t hidden = 0;
  std::int64_t context = 0; // positions
  float norm_epsilon = 0.0F;
  std::optional<bool> tied; // the head is the embedding table; absent: if the file has no head
  bool permuted_qk = false; // rows of q and k lie in the order of GGUF `llama` files
  rope_config rope;
  std::vector<block_config> blocks;
  std::vector<std::int32_t> eos_ids;
  /// The residual stream after so many layers, before anything is added to it there, is handed on for rows of media;
  /// 0: nothing is.
  std::int64_t accept_layer = 0;
};

/// From config.json. `generation`: generation_config.json if there is one; its eos ids win. Throws `load_error`, for an
/// unsupported architecture too.
decoder_config decoder_config_from(const hf_config& config, const std::optional<hf_config>& generation);
/// From the metadata of a GGUF file, and from which tensors it has.
decoder_config decoder_config_from(const gguf_file& file);

/// The decoder that an object inside of a larger model's config.json describes, built like `family`. Of its vocabulary,
/// head and eos ids nothing is read. Throws `load_error`.
decoder_config inner_decoder_config(const hf_config& config, const std::string& family);

/// Throws `load_error` for what no checkpoint can mean: heads that do not divide, more choices than experts, odd rope.
void check_decoder_config(const decoder_config& config, const std::string& where);

/// Throws the `load_error` for an architecture that is not supported; lists those that are.
[[noreturn]] void reject_architecture(const std::string& where, const std::string& found);

/// Sizes that a configuration may have. Wide enough for any known model, and small enough that no product of two
/// overflows.
namespace decoder_limits {
inline constexpr int_range layers{1, 1024};
inline constexpr int_range width{1, 1 << 20};
inline constexpr int_range heads{1, 1024};
inline constexpr int_range head_dim{1, 256};
inline constexpr int_range vocab{1, 1 << 24};
inline constexpr int_range context{1, 1 << 24};
inline constexpr int_range experts{0, 4096};
} // namespace decoder_limits

} // namespace omni
