#pragma once

#include "kernels/runtime/batch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace omni {

/// What the scheduler and the front end must know of a loaded model.
struct runner_info {
  // Autoregressive stages; zero for the others.
  std::int32_t block_size = 0;    // tokens per KV block
  std::int32_t blocks = 0;        // KV blocks in the cache
  std::int64_t block_bytes = 0;   // bytes of one block over all layers
  std::int32_t max_model_len = 0; // tokens; also of a stream stage that makes its rows one by one, like tokens
  std::int32_t vocab_size = 0;
  std::vector<std::int32_t> eos_ids; // any of them ends a sequence unless ignore_eos
  // Stages that make sound.
  std::int32_t sample_rate = 0;        // Hz
  double rows_per_second = 0;          // of the rows it hands on (vocoder frames), 0 if not sound
  std::int32_t sequences_per_step = 1; // stream stages: more than these do not gain from being in one step
};

/// Computes steps of one stage replica: owns its KV cache or stream states and its scratch memory, shares the weights.
/// Used by one thread. `execute` throws `device_error` when the device failed; what it throws ends the replica.
class runner {
public:
  virtual ~runner() = default;
  [[nodiscard]] virtual const runner_info& info() const = 0;
  /// Starts a sequence. Throws `input_error` for an unknown speaker.
  virtual void open(sequence_slot slot, const sequence_params& params) = 0;
  /// Forgets a sequence, finished or not.
  virtual void close(sequence_slot slot) = 0;
  /// Runs one step over open sequences. The result of an item does not depend on the other items of the batch.
  virtual step_result execute(const batch& work) = 0;
};

} // namespace omni
