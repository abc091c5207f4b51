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
  query_norm,
  key_norm,
  mlp_norm,
  gate,
  up,
  down,
  router,
  expert_gate,
  expert_up,
  expert_down,
  final_norm,
  head,
};

enum class name_style : std::uint8_t { hugging_face, gguf };

/// The name in a checkpoint, without ".weight" or ".bias". GGUF keeps all experts of a layer in one tensor, so `expert`
/// does not matter there.
std::string tensor_name(decoder_tensor which, name_style style, std::int64_t layer = 0, std::int64_t expert = 0);

} // namespace omni
