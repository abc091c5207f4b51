#pragma once

#include "actors/stage/playback_clock.hpp"
#include "actors/stage/scheduler.hpp"
#include "actors/stage/slot_pool.hpp"
#include "metrics/playback.hpp"
#include "metrics/request_timing.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace omni {

/// What a stage with a stream runner makes, and how many of its sequences one step may hold.
struct stream_limits {
  std::int32_t max_num_seqs = 1;
  double rows_per_second = 0;   // of the rows that it hands on
  std::int32_t sample_rate = 0; // Hz, of the samples that it makes
  bool rows_are_tokens = false; // it chooses them one by one, and statistics count them so
};

/// Schedules a stage whose runner turns input pieces into output pieces (talker, vocoder), by playback deadline: first
/// who needs sound soonest. A step cannot be interrupted, so it holds the most urgent sequence and, if the runner gains
/// from that, only those others that are due soon too; a newcomer waits for no work that could wait itself. A stage
/// that makes its rows one by one reads all its weights for each, so there a step holds as many as it may.
///
/// A sequence that finds no room in its runner's memory is passed over until another one has ended or waits for input;
/// so those that have room are never kept from going on by those that have none.
class stream_scheduler final : public scheduler {
public:
  explicit stream_scheduler(stream_limits limits) : limits_(limits) {}

  void open(stage_task task, time_us now, emissions& out) override;
  void feed(request_id request, std::shared_ptr<const payload> input, bool end, time_us now) override;
  void end(request_id request, const std::optional<failure>& problem, time_us now, emissions& out) override;
  [[nodiscard]] bool has_work() const override;
  const batch& plan(time_us now) override;
  void update(const step_result& result, time_us now, emissions& out) override;

private:
  struct stream {
    stream(stage_task what, time_us now)
        : task(std::move(what)), began(now), timing(in_seconds(task.arrival), 0, std::nullopt) {}

    /// Has something to compute.
    [[nodiscard]] bool ready() const { return unfinished || !input.empty() || (input_ended && !told_end); }

    stage_task task;
    sequence_slot slot = 0;
    std::deque<std::shared_ptr<const payload>> input;
    bool input_ended = false;
    bool told_end = false;               // the runner knows that nothing follows
    bool unfinished = false;             // the runner has not used up what it was given
    bool no_room = false;                // the runner cannot go on with it before others give memory back
    std::optional<playback_clock> clock; // runs from the first input on
    time_us began;                       // with the first input; before that it was opened

    request_timing timing;
    sample_group facts{1};
    playback heard;
    std::int64_t frames = 0;        // samples per channel so far
    std::int64_t prompt_tokens = 0; // of stages whose rows are tokens
    std::int64_t tokens = 0;
  };

  /// Two pieces of text that wait become one: a step costs more than a longer piece.
  static void add_input(stream& to, std::shared_ptr<const payload> piece);
  void give_input(stream& from, batch_item& item);
  void hand_on(stream& one, std::shared_ptr<const payload> piece, time_us now, emissions& out);
  void finish(stream& one, finish_reason reason, const std::optional<failure>& problem, time_us now, emissions& out);
  [[nodiscard]] double seconds_of(const payload& piece) const;
  /// Those that can be worked on, most urgent first; those without room only if there are no others.
  void choose(time_us now);
  /// Those that gave their memory up, and those that may find some again.
  void note_memory(const step_result& result);
  void let_all_try_again();
  void note_state(emissions& out) const;

  stream_limits limits_;
  slot_pool slots_;
  std::unordered_map<request_id, std::unique_ptr<stream>> streams_;
  std::vector<stream*> planned_;
  double cache_usage_ = 0; // after the last step
  batch batch_;
};

} // namespace omni
