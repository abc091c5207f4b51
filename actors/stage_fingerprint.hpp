#pragma once

#include "actors/mix.hpp"
#include "kernels/models/stage_model.hpp"
#include "messages/config.hpp"

#include <cstdint>

namespace omni {

/// Equal for replicas that give the same results: the checkpoint, the part of it that runs, and how it is computed.
inline std::uint64_t stage_fingerprint(const stage_model& model, const stage_config& config) {
  std::uint64_t hash = model.fingerprint();
  for (const char letter : config.model_stage + "/" + config.dtype) hash = mix64(hash ^ std::uint8_t(letter));
  return hash;
}

} // namespace omni
