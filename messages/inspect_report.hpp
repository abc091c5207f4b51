#pragma once

#include "messages/inspect.hpp"
#include "messages/report.hpp"

// How reports are written and read. `observations::list` is fixed by the field it stands in, so it does not travel.

namespace omni {

template <class Inspector>
auto inspect(Inspector& f, observations& x) {
  return fields(f, x.counts, x.sum);
}
template <class Inspector>
auto inspect(Inspector& f, cache_facts& x) {
  return fields(f, x.block_size, x.num_gpu_blocks, x.gpu_memory_utilization, x.cache_dtype, x.enable_prefix_caching);
}
template <class Inspector>
auto inspect(Inspector& f, register_engine& x) {
  return fields(f, x.stage, x.replica, optional_field(x.engine), x.max_model_len, x.device, x.unit,
                x.speculative_tokens, optional_field(x.cache));
}
template <class Inspector>
auto inspect(Inspector& f, engine_departed& x) {
  return fields(f, x.stage, x.replica, x.unfinished);
}
template <class Inspector>
auto inspect(Inspector& f, cache_counts& x) {
  return fields(f, x.requests, x.queries, x.hits);
}
template <class Inspector>
auto inspect(Inspector& f, scheduler_snapshot& x) {
  return fields(f, x.running, x.waiting, x.deferred, x.kv_cache_usage, x.kv_fetch);
}
template <class Inspector>
auto inspect(Inspector& f, prompt_split& x) {
  return fields(f, x.computed, x.local_cached, x.external_cached);
}
template <class Inspector>
auto inspect(Inspector& f, finished_totals& x) {
  return fields(f, x.by_reason, x.prompt_tokens, x.generation_tokens, x.max_tokens, x.prefill_computed_tokens,
                x.preemptions, x.e2e_latency, x.queued_time, x.prefill_time, x.decode_time, x.inference_time,
                x.time_per_output_token);
}
template <class Inspector>
auto inspect(Inspector& f, group_totals& x) {
  return fields(f, x.n, x.longest_generation);
}
template <class Inspector>
auto inspect(Inspector& f, speculation_counts& x) {
  return fields(f, x.drafts, x.draft_tokens, x.accepted_tokens, x.accepted_at);
}
template <class Inspector>
auto inspect(Inspector& f, work_estimate& x) {
  return fields(f, x.flops, x.read_bytes, x.write_bytes);
}
template <class Inspector>
auto inspect(Inspector& f, audio_totals& x) {
  return fields(f, x.ttfp, x.duration, x.rtf, x.underrun, x.frames, x.continuity_ok, x.skipped);
}
template <class Inspector>
auto inspect(Inspector& f, transfer_totals& x) {
  return fields(f, x.from_stage, x.from_replica, x.to_stage, x.to_replica, x.size, x.tx, x.rx, x.in_flight);
}
template <class Inspector>
auto inspect(Inspector& f, engine_report& x) {
  return fields(f, x.stage, x.replica, optional_field(x.scheduler), x.prefix_cache, x.preempted_prefix_cache,
                x.external_prefix_cache, x.external_hits_by_tier, x.mm_cache, x.generation_tokens, x.prompt,
                x.preemptions, x.iteration_tokens, x.time_to_first_token, x.inter_token_latency, x.finished, x.groups,
                x.units, optional_field(x.speculation), optional_field(x.work), x.audio, x.stage_gen_time, x.transfers,
                x.bad);
}
template <class Inspector>
auto inspect(Inspector& f, pipeline_report& x) {
  return fields(f, optional_field(x.running), optional_field(x.waiting), x.success, x.failed, x.rejected, x.e2e_latency,
                x.queue_wait, x.prompt_tokens, x.generation_tokens, x.speech_completed, x.speech_aborted, x.bad);
}
template <class Inspector>
auto inspect(Inspector& f, request_timeline::stage_share& x) {
  return fields(f, x.stage, x.seconds);
}
template <class Inspector>
auto inspect(Inspector& f, request_timeline::transfer_share& x) {
  return fields(f, x.from, x.to, x.seconds);
}
template <class Inspector>
auto inspect(Inspector& f, request_timeline& x) {
  return fields(f, x.name, x.total_s, x.preprocess_s, x.engine_s, x.stages, x.transfers);
}
template <class Inspector>
auto inspect(Inspector& f, http_report& x) {
  return fields(f, x.handler, x.method, x.status, x.request_bytes, x.response_bytes, x.seconds);
}

} // namespace omni
