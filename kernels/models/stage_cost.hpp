#pragma once

#include "kernels/models/stage_model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace omni {

/// Numbers of a model, and the bytes that hold them.
struct weight_amount {
  double values = 0;
  double bytes = 0;

  weight_amount& operator+=(const weight_amount& other) {
    values += other.values;
    bytes += other.bytes;
    return *this;
  }
  friend weight_amount operator+(weight_amount a, const weight_amount& b) { return a += b; }
  friend weight_amount operator*(double times, const weight_amount& a) { return {times * a.values, times * a.bytes}; }
};

/// What one kind of step must read and compute at least.
struct step_cost {
  std::string what;        // "decode, 16 sequences"
  double weight_bytes = 0; // each weight that the step needs, once; experts as if chosen evenly
  double kv_bytes = 0;     // keys and values, at the asked-for context
  double flops = 0;        // multiplications and additions with weights; of attention where `what` says so
  double makes = 0;        // so many of `unit`
  std::string unit;        // "tokens", "frames"
};

/// What a stage costs, from its configuration or the header of its file alone.
struct stage_cost {
  struct part {
    std::string name;
    weight_amount held;
  };
  std::vector<part> parts;           // all that the stage holds in memory
  std::int64_t kv_token_bytes = 0;   // keys and values of a token over all layers
  std::int64_t kept_token_bytes = 0; // what is kept of a token beside them
  std::int64_t stream_bytes = 0;     // state of a stream, however long it is
  std::int64_t context = 0;          // positions that the model knows; 0: it has none
  std::vector<step_cost> steps;
  std::vector<std::string> notes; // what is not modelled, in sentences

  [[nodiscard]] weight_amount held() const {
    weight_amount all;
    for (const auto& each : parts) all += each.held;
    return all;
  }
  /// Bytes of a stream of so many positions.
  [[nodiscard]] std::int64_t stream_bytes_at(std::int64_t positions) const {
    return stream_bytes + positions * (kv_token_bytes + kept_token_bytes);
  }
};

/// The sizes for which steps are listed.
struct cost_question {
  std::int64_t max_num_seqs = 16;
  std::int64_t max_num_batched_tokens = 512;
  std::int64_t context = 0; // tokens before a decode step, of each sequence; 0: keys and values are left out
};

/// The cost of a stage. Reads no weights: of a Hugging Face folder config.json is enough. Throws `load_error`.
stage_cost cost_of_stage(const stage_model_spec& spec, const cost_question& question);

} // namespace omni
