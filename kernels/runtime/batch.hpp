#pragma once

#include "kernels/runtime/media.hpp"
#include "kernels/runtime/payload.hpp"
#include "kernels/runtime/sampling_params.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace omni {

/// A runner's name for one sequence: chosen by the scheduler, unique among those open, reused after `close`.
using sequence_slot = std::int32_t;

/// How a voice stage speaks one request.
struct voice_params {
  std::string speaker; // name; empty means the voice's default
  float speed = 1.0F;  // 0.25..4
  std::uint64_t seed = 0;
};

/// What a runner must know of a sequence once, before its first step.
struct sequence_params {
  sampling_params sampling;         // autoregressive stages; the seed is always set here
  voice_params voice;               // voice stages
  std::vector<std::int32_t> prompt; // autoregressive stages: ids that penalties count as seen
  std::vector<std::shared_ptr<const media_input>> media; // autoregressive stages: in the order of their places in it
  bool hand_on = false;             // autoregressive stages: the next stage wants what this one makes for it
};

/// One sequence's share of a step. An autoregressive runner reads the first group, a stream runner the second.
struct batch_item {
  sequence_slot slot = 0;

  std::span<const std::int32_t> tokens;      // [n] ids to feed, at positions position .. position+n-1
  std::int32_t position = 0;
  std::span<const std::int32_t> block_table; // [ceil((position+n)/block_size)] KV blocks, in order
  bool sample = false;                       // choose the token that follows the last one fed

  std::shared_ptr<const payload> input; // what arrived from the stage before; may be null
  bool end_of_input = false;            // nothing follows `input`
};

/// What one step computes. Spans stay valid until `execute` returns.
struct batch {
  std::vector<batch_item> items;
  std::int64_t deadline = 0; // see thread_pool::lane::step
};

struct token_choice {
  std::int32_t id = -1;
  float logprob = 0.0F;                                 // of `id`, if asked for
  std::vector<std::pair<std::int32_t, float>> top;      // best first, if asked for
};

/// What a step made of one item, in the order of the batch.
struct item_result {
  token_choice token;                             // if the item sampled; else id -1
  std::vector<std::shared_ptr<const payload>> outputs; // what to hand on, in order
  bool input_used_up = true;                      // stream stages: false = call again without new input
  bool finished = false;                          // stream stages: the sequence has ended
  bool cut_short = false;                         // ... by a limit, not by its own end
  bool no_room = false;                           // stream stages: it waits until others give memory back
  std::int64_t prompt_tokens = 0;                 // stream stages: of the prompt that this step began to compute
  std::string input_problem;                      // not empty: this sequence alone cannot go on, a sentence saying why
};

struct step_result {
  std::vector<item_result> items;
  double cache_usage = 0; // stream stages with a KV cache: fraction of it that is in use after the step
  std::vector<sequence_slot> preempted; // stream stages: gave their memory up in this step
};

} // namespace omni
