#pragma once

#include "messages/caf.hpp"
#include "messages/output.hpp"
#include "messages/replica_status.hpp"
#include "messages/stage_task.hpp"

#include "kernels/runtime/runner.hpp"

// How plain structs are written and read as parts of messages. Apart from the structs, so that they stay free of CAF.

namespace omni {

template <class Inspector>
auto inspect(Inspector& f, request_id& x) {
  return fields(f, x.value);
}
template <class Inspector>
auto inspect(Inspector& f, stage_id& x) {
  return fields(f, x.value);
}
template <class Inspector>
auto inspect(Inspector& f, replica_id& x) {
  return fields(f, x.value);
}
template <class Inspector>
auto inspect(Inspector& f, failure& x) {
  return fields(f, x.code, x.message, x.param);
}
template <class Inspector>
auto inspect(Inspector& f, sampling_params& x) {
  return fields(f, x.temperature, x.top_p, x.top_k, x.min_p, x.repetition_penalty, x.presence_penalty,
                x.frequency_penalty, optional_field(x.seed), x.logit_bias, x.max_tokens, x.min_tokens, x.ignore_eos,
                x.stop_token_ids, x.stop, x.include_stop_str_in_output, x.skip_special_tokens,
                optional_field(x.logprobs));
}
template <class Inspector>
auto inspect(Inspector& f, voice_params& x) {
  return fields(f, x.speaker, x.speed, x.seed);
}
template <class Inspector>
auto inspect(Inspector& f, request& x) {
  return fields(f, x.name, x.prompt, x.text, x.sampling, x.n, x.want_text, x.want_audio, x.voice, x.prompt_param,
                optional_field(x.received));
}
template <class Inspector>
auto inspect(Inspector& f, stage_task& x) {
  return fields(f, x.id, x.attempt, x.what, x.arrival, x.for_client, x.for_next);
}
template <class Inspector>
auto inspect(Inspector& f, stage_result& x) {
  return fields(f, x.request, x.attempt, x.finish, x.prompt_tokens, x.generation_tokens, optional_field(x.problem),
                x.inside, x.handed_over);
}
template <class Inspector>
auto inspect(Inspector& f, runner_info& x) {
  return fields(f, x.block_size, x.blocks, x.block_bytes, x.max_model_len, x.vocab_size, x.eos_ids, x.sample_rate,
                x.rows_per_second, x.sequences_per_step);
}
template <class Inspector>
auto inspect(Inspector& f, replica_status& x) {
  return fields(f, x.stage, x.replica, x.state, x.running, x.waiting, x.address, x.up_s, x.fingerprint);
}

} // namespace omni
