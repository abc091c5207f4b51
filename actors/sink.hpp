#pragma once

#include "actors/engine.hpp"
#include "messages/control.hpp"

#include <memory>

namespace omni {

/// Passes the pieces of one request's answer to whoever wants them, and sees to it that the end is told exactly once,
/// after everything else, whatever happens to the engine. A request ends well when all answers have ended and the
/// orchestrator has let it go, in whatever order the two are heard of.
class sink_state {
public:
  /// `awaited`: answers, one per choice and modality.
  sink_state(std::shared_ptr<sink> to, std::int32_t awaited)
      : to_(std::move(to)), answers_(awaited), awaited_(awaited) {}
  ~sink_state();
  sink_state(const sink_state&) = delete;
  sink_state& operator=(const sink_state&) = delete;

  void on_piece(const answer_piece& piece);
  void on_over(const request_over& what);
  [[nodiscard]] start_over_answer on_start_over(const start_over& what);
  [[nodiscard]] bool ended() const { return to_ == nullptr; }

private:
  void end(const std::optional<failure>& problem);

  std::shared_ptr<sink> to_; // null once the end was told
  std::int32_t answers_;     // in all
  std::int32_t awaited_;     // that have not ended
  std::int32_t attempt_ = 0;
  bool heard_ = false; // the sink has some of the answer
  bool let_go_ = false;
};

/// Answers that `what` waits for.
std::int32_t awaited_answers(const request& what);

/// The behaviour of a `sink_actor`, which ends itself with the request. Scheduled.
sink_actor::behavior_type sink_behavior(sink_actor::pointer self, std::shared_ptr<sink> to, std::int32_t awaited);

} // namespace omni
