#include "actors/sink.hpp"

namespace omni {

std::int32_t awaited_answers(const request& what) { return (what.want_text ? what.n : 0) + (what.want_audio ? 1 : 0); }

sink_state::~sink_state() {
  if (ended()) return;
  end(awaited_ == 0 ? std::nullopt : std::optional(failure{errc::shutting_down, "The engine has stopped.", {}}));
}

void sink_state::on_piece(const answer_piece& piece) {
  if (ended() || piece.attempt != attempt_) return;
  heard_ = true;
  to_->on_output(piece.what);
  if (piece.what.finish) --awaited_;
  if (awaited_ == 0 && let_go_) end(std::nullopt);
}

void sink_state::on_over(const request_over& what) {
  let_go_ = true;
  if (what.problem || awaited_ == 0) end(what.problem);
}

void sink_state::end(const std::optional<failure>& problem) {
  if (!ended()) std::exchange(to_, nullptr)->on_end(problem);
}

start_over_answer sink_state::on_start_over(const start_over& what) {
  if (awaited_ == 0) return start_over_answer::complete;
  if (heard_ && (ended() || !to_->take_back())) return start_over_answer::already_heard;
  heard_ = false;
  awaited_ = answers_;
  attempt_ = what.attempt;
  return start_over_answer::allowed;
}

sink_actor::behavior_type sink_behavior(sink_actor::pointer self, std::shared_ptr<sink> to, std::int32_t awaited) {
  const auto state = std::make_shared<sink_state>(std::move(to), awaited);
  return {
      [self, state](const answer_piece& piece) {
        state->on_piece(piece);
        if (state->ended()) self->quit();
      },
      [self, state](const request_over& what) {
        state->on_over(what);
        if (state->ended()) self->quit();
      },
      [state](const start_over& what) { return state->on_start_over(what); },
  };
}

} // namespace omni
