#include "messages/report.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {
namespace {

template <std::size_t N>
void add_to(std::array<std::int64_t, N>& to, const std::array<std::int64_t, N>& more) {
  for (std::size_t i = 0; i < N; ++i) to[i] += more[i];
}

template <class T>
void merge_optional(std::optional<T>& to, const std::optional<T>& later) {
  if (!later) return;
  if (to) {
    to->merge(*later);
  } else {
    to = later;
  }
}

} // namespace

void cache_counts::merge(const cache_counts& later) {
  requests += later.requests;
  queries += later.queries;
  hits += later.hits;
}

void prompt_split::merge(const prompt_split& later) {
  computed += later.computed;
  local_cached += later.local_cached;
  external_cached += later.external_cached;
}

void finished_totals::add(const finished_request& one, bad_value_counts& bad) {
  ++by_reason[std::size_t(one.reason)];
  prompt_tokens.add(double(one.num_prompt_tokens), bad);
  generation_tokens.add(double(one.num_generation_tokens), bad);
  if (one.max_tokens.value_or(0) != 0) max_tokens.add(double(*one.max_tokens), bad);
  prefill_computed_tokens.add(double(one.num_prompt_tokens - std::max<std::int64_t>(one.num_cached_tokens, 0)), bad);
  preemptions.add(double(one.num_preemptions), bad);
  e2e_latency.add(one.e2e_latency, bad);
  if (one.queued_time) queued_time.add(*one.queued_time, bad);
  if (one.prefill_time) prefill_time.add(*one.prefill_time, bad);
  if (one.decode_time) decode_time.add(*one.decode_time, bad);
  if (one.inference_time) inference_time.add(*one.inference_time, bad);
  if (one.mean_time_per_output_token) time_per_output_token.add(*one.mean_time_per_output_token, bad);
}

void finished_totals::merge(const finished_totals& later) {
  add_to(by_reason, later.by_reason);
  prompt_tokens.merge(later.prompt_tokens);
  generation_tokens.merge(later.generation_tokens);
  max_tokens.merge(later.max_tokens);
  prefill_computed_tokens.merge(later.prefill_computed_tokens);
  preemptions.merge(later.preemptions);
  e2e_latency.merge(later.e2e_latency);
  queued_time.merge(later.queued_time);
  prefill_time.merge(later.prefill_time);
  decode_time.merge(later.decode_time);
  inference_time.merge(later.inference_time);
  time_per_output_token.merge(later.time_per_output_token);
}

void group_totals::merge(const group_totals& later) {
  n.merge(later.n);
  longest_generation.merge(later.longest_generation);
}

void speculation_counts::merge(const speculation_counts& later) {
  drafts += later.drafts;
  draft_tokens += later.draft_tokens;
  accepted_tokens += later.accepted_tokens;
  if (accepted_at.size() < later.accepted_at.size()) accepted_at.resize(later.accepted_at.size());
  for (std::size_t i = 0; i < later.accepted_at.size(); ++i) accepted_at[i] += later.accepted_at[i];
}

void work_estimate::merge(const work_estimate& later) {
  flops += later.flops;
  read_bytes += later.read_bytes;
  write_bytes += later.write_bytes;
}

void audio_totals::merge(const audio_totals& later) {
  ttfp.merge(later.ttfp);
  duration.merge(later.duration);
  rtf.merge(later.rtf);
  underrun.merge(later.underrun);
  frames += later.frames;
  continuity_ok += later.continuity_ok;
  skipped += later.skipped;
}

void transfer_totals::merge(const transfer_totals& later) {
  size.merge(later.size);
  tx.merge(later.tx);
  rx.merge(later.rx);
  in_flight.merge(later.in_flight);
}

transfer_totals& engine_report::transfer(stage_id from_stage, replica_id from_replica, stage_id to_stage,
                                         replica_id to_replica) {
  const auto same = [&](const transfer_totals& edge) {
    return edge.from_stage == from_stage && edge.from_replica == from_replica && edge.to_stage == to_stage &&
           edge.to_replica == to_replica;
  };
  const auto found = std::find_if(transfers.begin(), transfers.end(), same);
  if (found != transfers.end()) return *found;
  transfers.push_back({from_stage, from_replica, to_stage, to_replica});
  return transfers.back();
}

void engine_report::merge(engine_report&& later) {
  OMNI_CHECK(stage == later.stage && replica == later.replica, "reports of two replicas cannot be merged");
  if (later.scheduler) scheduler = later.scheduler;
  prefix_cache.merge(later.prefix_cache);
  preempted_prefix_cache.merge(later.preempted_prefix_cache);
  external_prefix_cache.merge(later.external_prefix_cache);
  add_to(external_hits_by_tier, later.external_hits_by_tier);
  mm_cache.merge(later.mm_cache);
  generation_tokens += later.generation_tokens;
  prompt.merge(later.prompt);
  preemptions += later.preemptions;
  iteration_tokens.merge(later.iteration_tokens);
  time_to_first_token.merge(later.time_to_first_token);
  inter_token_latency.merge(later.inter_token_latency);
  finished.merge(later.finished);
  groups.merge(later.groups);
  units += later.units;
  merge_optional(speculation, later.speculation);
  merge_optional(work, later.work);
  audio.merge(later.audio);
  stage_gen_time.merge(later.stage_gen_time);
  for (const auto& edge : later.transfers)
    transfer(edge.from_stage, edge.from_replica, edge.to_stage, edge.to_replica).merge(edge);
  add_to(bad, later.bad);
}

void pipeline_report::add_success(finished_as reason, double e2e_seconds) {
  ++success[std::size_t(reason)];
  e2e_latency.add(e2e_seconds, bad);
}

void pipeline_report::add_failure(failed_as reason) {
  ++failed[std::size_t(reason)];
  ++success[std::size_t(finished_as::abort)];
}

void pipeline_report::merge(pipeline_report&& later) {
  if (later.running) running = later.running;
  if (later.waiting) waiting = later.waiting;
  add_to(success, later.success);
  add_to(failed, later.failed);
  add_to(rejected, later.rejected);
  e2e_latency.merge(later.e2e_latency);
  queue_wait.merge(later.queue_wait);
  prompt_tokens += later.prompt_tokens;
  generation_tokens += later.generation_tokens;
  speech_completed += later.speech_completed;
  add_to(speech_aborted, later.speech_aborted);
  add_to(bad, later.bad);
}

} // namespace omni
