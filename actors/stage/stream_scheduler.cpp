#include "actors/stage/stream_scheduler.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {
namespace {

constexpr time_us start_budget_us = 200'000; // for the first packet, from the first input
constexpr time_us soon_us = 100'000;         // due within this time counts as urgent

} // namespace

void stream_scheduler::open(stage_task task, time_us now, emissions& out) {
  const auto id = task.id;
  const auto [at, fresh] = streams_.try_emplace(id, std::make_unique<stream>(std::move(task), now));
  OMNI_CHECK(fresh, "a request is opened once");
  auto& one = *at->second;
  one.slot = slots_.take();
  sequence_params params;
  params.sampling = one.task.what.sampling;
  params.voice = one.task.what.voice;
  out.opened.push_back({id, one.slot, std::move(params)});
  if (one.task.what.text.empty()) return;
  auto said = std::make_shared<payload>(); // the request enters here
  said->text = std::move(one.task.what.text);
  feed(id, std::move(said), true, now);
}

void stream_scheduler::feed(request_id request, std::shared_ptr<const payload> input, bool end, time_us now) {
  const auto at = streams_.find(request);
  if (at == streams_.end()) return;
  auto& one = *at->second;
  if (!one.clock) {
    one.clock.emplace(now, start_budget_us);
    one.began = now;
    one.timing.queued(in_seconds(now));
  }
  if (input) add_input(one, std::move(input));
  one.input_ended |= end;
}

void stream_scheduler::add_input(stream& to, std::shared_ptr<const payload> piece) {
  if (to.input.empty() || piece->what != payload::kind::text || to.input.back()->what != payload::kind::text) {
    to.input.push_back(std::move(piece));
    return;
  }
  auto joined = std::make_shared<payload>(*to.input.back());
  joined->text += piece->text;
  to.input.back() = std::move(joined);
}

bool stream_scheduler::has_work() const {
  return std::ranges::any_of(streams_, [](const auto& entry) { return entry.second->ready(); });
}

// -- plan -------------------------------------------------------------------------------------------------------------

void stream_scheduler::choose(time_us now) {
  const auto ready = [](bool without_room) {
    return [=](const auto& entry) { return entry.second->ready() && entry.second->no_room == without_room; };
  };
  const bool all_without = std::ranges::none_of(streams_, ready(false));
  planned_.clear();
  for (const auto& entry : streams_)
    if (ready(all_without)(entry)) planned_.push_back(entry.second.get());
  // Without room the oldest is first: a runner makes room for it.
  std::ranges::sort(planned_, [&](const stream* a, const stream* b) {
    return std::pair(all_without ? 0 : a->clock->due(), a->task.id) <
           std::pair(all_without ? 0 : b->clock->due(), b->task.id);
  });
  const auto urgent =
      std::ranges::count_if(planned_, [&](const stream* one) { return one->clock->due() <= now + soon_us; });
  const auto limit =
      limits_.rows_are_tokens ? limits_.max_num_seqs : std::clamp<std::int64_t>(urgent, 1, limits_.max_num_seqs);
  if (std::int64_t(planned_.size()) > limit) planned_.resize(std::size_t(limit));
}

const batch& stream_scheduler::plan(time_us now) {
  choose(now);
  batch_.items.clear();
  for (auto* one : planned_) {
    auto& item = batch_.items.emplace_back();
    item.slot = one->slot;
    give_input(*one, item);
    one->timing.scheduled(in_seconds(now));
  }
  batch_.deadline = planned_.empty() ? now : planned_.front()->clock->due();
  return batch_;
}

void stream_scheduler::give_input(stream& from, batch_item& item) {
  if (!from.unfinished && !from.input.empty()) {
    item.input = std::move(from.input.front());
    from.input.pop_front();
  }
  item.end_of_input = from.input_ended && from.input.empty();
  from.told_end = item.end_of_input;
}

// -- update -----------------------------------------------------------------------------------------------------------

void stream_scheduler::update(const step_result& result, time_us now, emissions& out) {
  OMNI_CHECK(result.items.size() == planned_.size(), "a runner answers each item of its batch");
  step_record record(out.report, in_seconds(now));
  cache_usage_ = result.cache_usage;
  note_memory(result);
  for (std::size_t i = 0; i < planned_.size(); ++i) {
    auto& one = *planned_[i];
    const auto& item = result.items[i];
    if (!item.input_problem.empty()) {
      finish(one, finish_reason::error, failure{errc::invalid_request, item.input_problem, {}}, now, out);
      continue;
    }
    if (item.prompt_tokens > 0) one.timing.has_prompt(one.prompt_tokens = item.prompt_tokens);
    std::int64_t tokens = 0;
    for (const auto& piece : item.outputs) {
      hand_on(one, piece, now, out);
      if (limits_.rows_are_tokens) tokens += piece->rows;
    }
    one.tokens += tokens;
    if (!item.outputs.empty()) record.output(one.timing, tokens, in_seconds(now));
    one.unfinished = !item.input_used_up;
    OMNI_CHECK(item.finished || one.unfinished || !one.told_end,
               "a stream runner ends a sequence whose input has ended");
    if (item.finished)
      finish(one, item.cut_short ? finish_reason::length : finish_reason::stop, std::nullopt, now, out);
  }
  record.close();
  planned_.clear();
  note_state(out);
}

void stream_scheduler::note_memory(const step_result& result) {
  for (const auto slot : result.preempted)
    for (const auto& [id, one] : streams_)
      if (one->slot == slot) one->timing.preempted();
  // Who waits for input lets others have its memory, as who has ended does.
  const bool freed = std::ranges::any_of(result.items, [](const item_result& item) {
    return item.finished || item.input_used_up || !item.input_problem.empty();
  });
  if (freed) let_all_try_again();
  for (std::size_t i = 0; i < planned_.size(); ++i) planned_[i]->no_room = result.items[i].no_room;
}

void stream_scheduler::let_all_try_again() {
  for (const auto& entry : streams_) entry.second->no_room = false;
}

double stream_scheduler::seconds_of(const payload& piece) const {
  if (piece.what == payload::kind::samples && piece.sample_rate > 0) return double(piece.rows) / piece.sample_rate;
  return limits_.rows_per_second > 0 ? double(piece.rows) / limits_.rows_per_second : 0;
}

void stream_scheduler::hand_on(stream& one, std::shared_ptr<const payload> piece, time_us now, emissions& out) {
  const bool sound = piece->what == payload::kind::samples;
  one.clock->deliver(seconds_of(*piece), now);
  out.report.units += sound ? seconds_of(*piece) : double(piece->rows);
  if (one.task.for_client && sound && piece->rows > 0) {
    if (!one.heard.started()) out.report.audio.ttfp.add(in_seconds(now - one.task.arrival), out.report.bad);
    one.heard.packet(in_seconds(now), piece->rows, piece->sample_rate);
    one.frames += piece->rows;
  }
  if (one.task.for_next) out.chunks.push_back({one.task.id, piece, false});
  if (!one.task.for_client) return;
  output answer;
  answer.request = one.task.id;
  answer.kind = modality::audio;
  answer.audio = std::move(piece);
  out.outputs.push_back(std::move(answer));
}

void stream_scheduler::finish(stream& one, finish_reason reason, const std::optional<failure>& problem, time_us now,
                              emissions& out) {
  step_record(out.report, in_seconds(now)).finish(one.timing, one.facts, to_finished_as(reason), in_seconds(now));
  if (reason == finish_reason::stop || reason == finish_reason::length) {
    const double inside = in_seconds(now - one.began);
    out.report.stage_gen_time.add(inside, out.report.bad);
    if (one.task.for_client) {
      count_sound(out.report.audio, one.frames, limits_.sample_rate, inside, out.report.bad);
      one.heard.close(out.report.audio, out.report.bad);
      output last;
      last.request = one.task.id;
      last.kind = modality::audio;
      last.finish = reason;
      out.outputs.push_back(std::move(last));
    }
    if (one.task.for_next) out.chunks.push_back({one.task.id, nullptr, true});
  }
  out.closed.push_back(one.slot);
  slots_.give_back(one.slot);
  const auto id = one.task.id;
  out.results.push_back({id, one.task.attempt, reason, one.prompt_tokens, one.tokens, problem, now - one.began});
  streams_.erase(id);
}

void stream_scheduler::end(request_id request, const std::optional<failure>& problem, time_us now, emissions& out) {
  const auto at = streams_.find(request);
  if (at == streams_.end()) return;
  finish(*at->second, problem ? finish_reason::error : finish_reason::abort, problem, now, out);
  let_all_try_again();
  note_state(out);
}

void stream_scheduler::note_state(emissions& out) const {
  auto& state = out.report.scheduler.emplace();
  for (const auto& [id, one] : streams_)
    ++(!one->clock ? state.deferred : one->no_room ? state.waiting : state.running);
  state.kv_cache_usage = streams_.empty() ? 0 : cache_usage_;
  out.has_facts = true;
}

} // namespace omni
