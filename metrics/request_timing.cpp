#include "metrics/request_timing.hpp"

#include <algorithm>
#include <utility>

namespace omni {

double step_record::elapsed(double from_s, double to_s) {
  if (to_s < from_s) {
    ++report_.bad[std::size_t(bad_value::clock_back)];
    return 0;
  }
  return to_s - from_s;
}

std::optional<double> step_record::elapsed(std::optional<double> from_s, std::optional<double> to_s) {
  if (!from_s || !to_s) return std::nullopt;
  return elapsed(*from_s, *to_s);
}

void step_record::take_prompt(const request_timing& request) {
  prompt_split split;
  split.local_cached = std::clamp<std::int64_t>(request.local_cached_, 0, request.prompt_tokens_);
  split.external_cached =
      std::clamp<std::int64_t>(request.external_cached_, 0, request.prompt_tokens_ - split.local_cached);
  if (split.local_cached != request.local_cached_ || split.external_cached != request.external_cached_)
    ++report_.bad[std::size_t(bad_value::malformed)];
  split.computed = request.prompt_tokens_ - split.cached();
  report_.prompt.merge(split);
  computed_ += split.computed;
}

void step_record::take_preemptions(request_timing& request) {
  const std::int32_t fresh = std::exchange(request.unreported_preemptions_, 0);
  request.preemptions_ += fresh;
  report_.preemptions += fresh;
}

void step_record::first_output(request_timing& request, double now_s) {
  take_prompt(request);
  request.time_to_first_token_ = elapsed(request.arrival_, now_s);
  report_.time_to_first_token.add(*request.time_to_first_token_, report_.bad);
  request.first_token_ = batch_s_;
}

void step_record::book_intervals() {
  if (intervals_ == 0) return;
  const bool back = batch_s_ < interval_from_;
  if (back) report_.bad[std::size_t(bad_value::clock_back)] += intervals_;
  report_.inter_token_latency.add(back ? 0 : batch_s_ - interval_from_, report_.bad, intervals_);
}

finished_request step_record::finish(request_timing& request, sample_group& group, finished_as reason, double now_s) {
  take_preemptions(request);
  finished_request one;
  one.reason = reason;
  one.num_prompt_tokens = request.prompt_tokens_;
  one.num_cached_tokens = request.local_cached_ + request.external_cached_;
  one.num_generation_tokens = request.generated_;
  one.num_preemptions = request.preemptions_;
  one.max_tokens = request.max_tokens_;
  one.e2e_latency = elapsed(request.arrival_, now_s);
  one.queued_time = elapsed(request.queued_, request.scheduled_);
  one.prefill_time = elapsed(request.scheduled_, request.first_token_);
  one.decode_time = elapsed(request.first_token_, request.last_token_);
  one.inference_time = elapsed(request.scheduled_, request.last_token_);
  if (one.decode_time)
    one.mean_time_per_output_token = request.generated_ > 1 ? *one.decode_time / double(request.generated_ - 1) : 0.0;
  one.time_to_first_token = request.time_to_first_token_;
  report_.finished.add(one, report_.bad);

  group.longest_ = std::max(group.longest_, request.generated_);
  if (--group.open_ == 0) {
    report_.groups.n.add(double(group.n_), report_.bad);
    report_.groups.longest_generation.add(double(group.longest_), report_.bad);
  }
  return one;
}

void step_record::close() {
  book_intervals();
  report_.generation_tokens += generated_;
  if (any_output_) report_.iteration_tokens.add(double(computed_ + generated_), report_.bad);
}

} // namespace omni
