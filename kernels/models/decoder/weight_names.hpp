#pragma once

#include <cstdint>
#include <string>

namespace omni {

/// The tensors of a text decoder.
enum class decoder_tensor : std::uint8_t {
  embedding,
  attention_norm,
  query,
  key,
  value,
  attention_out,
  attention_scale,
  query_norm,
  key_norm,
  mlp_norm,
  gate,
  up,
  down,
  mlp_scale,
  router,
  expert_gate,
  expert_up,
  expert_down,
  fused_gate_up,
  fused_down,
  shared_gate,
  shared_up,
  shared_down,
  shared_expert_gate,
  final_norm,
  head,
};

enum class name_style : std::uint8_t { hugging_face, gguf };

/// How a checkpoint names its tensors. A decoder that is part of a larger model has another root in Hugging Face files:
/// "thinker.model" in place of "model".
struct tensor_names {
  name_style style = name_style::hugging_face;
  std::string root = "model";
  std::string head = "lm_head";

  tensor_names() = default;
  tensor_names(name_style which) : style(which) {} // NOLINT(google-explicit-constructor): a style alone says it all
  tensor_names(std::string hugging_face_root, std::string head_name)
      : root(std::move(hugging_face_root)), head(std::move(head_name)) {}
};

/// The name in a checkpoint, without ".weight", ".bias" or ".scale"; of a fused tensor, the whole name. GGUF keeps all
/// experts of a layer in one tensor, so `expert` does not matter there; nor do fused tensors and scales exist there.
std::string tensor_name(decoder_tensor which, const tensor_names& names, std::int64_t layer = 0,
                        std::int64_t expert = 0);

} // namespace omni
