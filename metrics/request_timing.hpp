#pragma once

#include "messages/report.hpp"

#include <cstdint>
#include <optional>

namespace omni {

/// The stamps and counts of one sequence in one stage, from its arrival to its finished record. All stamps are seconds
/// on one monotonic clock of the process that runs the stage. Plain data: the caller owns it and the clock.
///
/// Only the first QUEUED and the first SCHEDULED count: preemption stretches the phase it falls into and never resets
/// it.
class request_timing {
public:
  /// `arrival_s`: when the request came in, before tokenisation. `max_tokens`: none if the client set no limit.
  request_timing(double arrival_s, std::int64_t prompt_tokens, std::optional<std::int64_t> max_tokens)
      : arrival_(arrival_s), prompt_tokens_(prompt_tokens), max_tokens_(max_tokens) {}

  /// Tokens of a prompt that is known only once it is computed; before its first output.
  void has_prompt(std::int64_t tokens) { prompt_tokens_ = tokens; }
  void queued(double now_s) { keep_first(queued_, now_s); }
  void scheduled(double now_s) { keep_first(scheduled_, now_s); }
  /// Reported with the next output, or with the end.
  void preempted() { ++unreported_preemptions_; }
  /// Tokens of the prompt that did not have to be computed; known at admission.
  void found_cached(std::int64_t local, std::int64_t external) {
    local_cached_ = local;
    external_cached_ = external;
  }

private:
  friend class step_record;
  static void keep_first(std::optional<double>& stamp, double now_s) {
    if (!stamp) stamp = now_s;
  }

  // What every output touches comes first, side by side.
  std::optional<double> last_token_;
  std::int64_t generated_ = 0;
  std::int32_t unreported_preemptions_ = 0;
  std::int32_t preemptions_ = 0;
  double arrival_;
  std::int64_t prompt_tokens_;
  std::optional<std::int64_t> max_tokens_;
  std::int64_t local_cached_ = 0;
  std::int64_t external_cached_ = 0;
  std::optional<double> queued_;
  std::optional<double> scheduled_;
  std::optional<double> first_token_;
  std::optional<double> time_to_first_token_;
};

/// The samples of one client request in one stage: its facts are booked once, when the last of them has ended.
class sample_group {
public:
  explicit sample_group(std::int32_t n) : n_(n), open_(n) {}

private:
  friend class step_record;
  std::int32_t n_;
  std::int32_t open_;
  std::int64_t longest_ = 0;
};

/// Books the outputs of one step into a report. Make one per step, then call `output` and `finish` as they happen, then
/// `close`; several steps may go into one report.
class step_record {
public:
  /// `batch_s`: when the step's results were ready; one stamp for all its sequences. `report` must outlive this.
  step_record(engine_report& report, double batch_s) : report_(report), batch_s_(batch_s) {}

  /// `request` produced an output, with tokens or without, that leaves the stage at `now_s`.
  void output(request_timing& request, std::int64_t new_tokens, double now_s) {
    if (request.unreported_preemptions_ > 0) take_preemptions(request);
    any_output_ = true;
    request.generated_ += new_tokens;
    generated_ += new_tokens;
    // The sequences of a decode step had their last output together: their intervals are one observation, many times.
    if (!request.last_token_) {
      first_output(request, now_s);
    } else if (*request.last_token_ == interval_from_) {
      ++intervals_;
    } else {
      book_intervals();
      interval_from_ = *request.last_token_;
      intervals_ = 1;
    }
    request.last_token_ = batch_s_;
  }
  /// `request` has ended at `now_s`; its output, if it had one in this step, was booked before. Also for a request
  /// that ends between steps, for example by an abort. Counts it in the report; the record is for whoever else wants
  /// it.
  finished_request finish(request_timing& request, sample_group& group, finished_as reason, double now_s);
  /// The step is over: books what it gathered, and its token count as one observation if it had any output.
  void close();

private:
  [[nodiscard]] double elapsed(double from_s, double to_s);
  [[nodiscard]] std::optional<double> elapsed(std::optional<double> from_s, std::optional<double> to_s);
  void first_output(request_timing& request, double now_s);
  void book_intervals();
  void take_prompt(const request_timing& request);
  void take_preemptions(request_timing& request);

  engine_report& report_;
  double batch_s_;
  std::int64_t computed_ = 0;  // tokens of prompts
  std::int64_t generated_ = 0; // tokens
  double interval_from_ = 0;   // when the last output was of the sequences whose intervals are not booked yet
  std::int64_t intervals_ = 0; // how many of those there are
  bool any_output_ = false;
};

} // namespace omni
