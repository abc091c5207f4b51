#pragma once

#include <cstdint>

namespace omni {

/// How one layer's attention differs between families.
struct attention_config {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0; // divides heads; query head h reads kv head h * kv_heads / heads
  std::int64_t head_dim = 0;
  bool qkv_bias = false;
  bool out_bias = false;
  bool qk_norm = false;    // RMSNorm over head_dim on q and k, before rope
  std::int64_t window = 0; // keys that a token sees at most, its own included; 0: all
};

/// How one layer's feed-forward part differs: down(silu(gate x) * up x), of one or of chosen experts.
struct mlp_config {
  std::int64_t width = 0;        // inner width, of each expert if there are any
  bool bias = false;             // dense layers only
  std::int64_t experts = 0;      // 0: dense
  std::int64_t top = 0;          // experts per token
  bool normalise_top = false;    // their weights sum to one
  std::int64_t shared_width = 0; // of one more expert that serves all tokens, by a gate of its own; 0: none
};

/// One pre-norm decoder block: x += attention(norm(x)); x += mlp(norm(x)).
struct block_config {
  std::int64_t hidden = 0;
  float norm_epsilon = 0.0F;
  attention_config attention;
  mlp_config mlp;
  bool layer_scale = false; // what attention and MLP add is scaled channel by channel
};

} // namespace omni
