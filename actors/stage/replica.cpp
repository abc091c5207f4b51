#include "actors/stage/replica.hpp"

#include "actors/stage/ar_scheduler.hpp"
#include "actors/stage/stream_scheduler.hpp"
#include "actors/weak_timer.hpp"
#include "kernels/core/error.hpp"
#include "messages/type_ids.hpp"

#include <algorithm>
#include <chrono>

namespace omni {
namespace {

std::size_t size_of(const payload& data) { return data.text.size() + data.bytes.size(); }

} // namespace

runner_options runner_options_for(const stage_config& config) {
  runner_options options;
  options.kv_cache_bytes = config.kv_cache_memory_bytes;
  options.block_size = config.block_size;
  options.max_num_seqs = config.max_num_seqs;
  options.max_num_batched_tokens = config.max_num_batched_tokens;
  options.max_model_len = config.max_model_len;
  options.max_threads = unsigned(config.max_threads);
  return options;
}

stage_replica::stage_replica(stage_replica_actor::pointer self, replica_options options)
    : self_(self), options_(std::move(options)) {
  out_.report = blank_report();
  self_->monitor(options_.owner);
  self_->set_down_handler([self](caf::down_msg&) { self->quit(); }); // nobody to work for
  self_->send(self_, step_atom{});
  step_posted_ = true;
}

// -- messages ---------------------------------------------------------------------------------------------------------

void stage_replica::on_open(const open_request& what) {
  requests_[what.task.id] = {what.task.attempt, what.next, what.sink, 0, 0, 0};
  scheduler_->open(what.task, now(), out_);
  carry_out();
  post_step();
}

void stage_replica::on_chunk(const chunk& what) {
  const auto at = requests_.find(what.request);
  if (at == requests_.end() || at->second.attempt != what.attempt) return; // ended, or of an earlier attempt
  if (what.number != at->second.received++) {
    const failure gap{errc::internal, "A piece between two stages is missing: send the request again.", {}};
    scheduler_->end(what.request, gap, now(), out_);
    return carry_out();
  }
  auto& edge = out_.report.transfer(what.from_stage, what.from_replica, options_.stage, options_.replica);
  const auto in_flight = now() - what.sent;
  at->second.handed_over += in_flight;
  edge.in_flight.add(in_seconds(in_flight), out_.report.bad);
  edge.rx.add(0, out_.report.bad); // shared memory: nothing to read
  scheduler_->feed(what.request, what.data, what.end, now());
  post_step();
}

void stage_replica::on_abort(request_id id) {
  scheduler_->end(id, std::nullopt, now(), out_);
  carry_out();
}

void stage_replica::on_step() {
  step_posted_ = false;
  if (runner_ == nullptr) return start();
  if (scheduler_->has_work()) compute();
}

// -- work -------------------------------------------------------------------------------------------------------------

template <class Work>
std::optional<failure> stage_replica::guarded(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const input_error& problem) {
    return failure{errc::invalid_request, problem.what(), problem.param};
  } catch (const load_error& problem) {
    return failure{errc::load_failed, problem.what(), {}};
  } catch (const std::exception& problem) {
    return failure{errc::replica_lost, problem.what(), {}};
  }
}

void stage_replica::start() {
  const auto problem =
      guarded([this] { runner_ = options_.model->make_runner(runner_options_for(options_.config), *options_.pool); });
  if (problem) return die(*problem);
  make_scheduler();
  self_->send(options_.owner, replica_ready{options_.stage, options_.replica, runner_->info()});
}

void stage_replica::make_scheduler() {
  const auto& info = runner_->info();
  const auto& config = options_.config;
  if (info.block_size > 0) {
    scheduler_ = std::make_unique<ar_scheduler>(
        ar_limits{info.blocks, info.block_size, info.max_model_len, config.max_num_seqs, config.max_num_batched_tokens,
                  config.enable_prefix_caching, options_.model->ports().hands_on == payload::kind::text, info.eos_ids},
        options_.model->tokenizer());
  } else {
    scheduler_ = std::make_unique<stream_scheduler>(
        stream_limits{std::min(config.max_num_seqs, info.sequences_per_step), info.rows_per_second, info.sample_rate,
                      info.max_model_len > 0});
  }
}

void stage_replica::compute() {
  const auto& work = scheduler_->plan(now());
  step_result result;
  if (const auto problem = guarded([&] { result = runner_->execute(work); })) return die(*problem);
  scheduler_->update(result, now(), out_);
  carry_out();
  post_step();
}

void stage_replica::die(failure problem) {
  flush_facts(true);
  const caf::error reason = ended_with(problem.message);
  self_->send(options_.owner, replica_failed{options_.stage, options_.replica, std::move(problem)});
  self_->quit(reason);
}

void stage_replica::post_step() {
  if (step_posted_ || !scheduler_->has_work()) return;
  step_posted_ = true;
  self_->send(self_, step_atom{});
}

// -- what comes of it -------------------------------------------------------------------------------------------------

void stage_replica::carry_out() {
  for (const auto slot : out_.closed)
    if (slots_.erase(slot) > 0) runner_->close(slot);
  out_.closed.clear();
  open_slots();
  send_pieces();
  flush_facts(!out_.results.empty()); // before the end is told, so that who hears of it finds it counted
  send_results();
}

void stage_replica::open_slots() {
  // A refusal ends its request, which leaves more to do in `out_`.
  const auto opened = std::exchange(out_.opened, {});
  for (const auto& one : opened) {
    if (!requests_.contains(one.request)) continue; // refused with its first choice
    const auto problem = guarded([&] { runner_->open(one.slot, one.params); });
    if (!problem) {
      slots_.insert(one.slot);
      continue;
    }
    if (problem->code != errc::invalid_request) return die(*problem);
    scheduler_->end(one.request, problem, now(), out_);
    carry_out();
  }
}

void stage_replica::hand_over(const emissions::handover& piece) {
  auto& from = requests_.at(piece.request);
  auto& edge = out_.report.transfer(options_.stage, options_.replica, from.next.stage, from.next.replica);
  const auto before = now();
  self_->send(from.next.handle, chunk{piece.request, from.attempt, options_.stage, options_.replica, from.sent++,
                                      piece.data, piece.end, before});
  edge.size.add(piece.data ? double(size_of(*piece.data)) : 0, out_.report.bad);
  edge.tx.add(in_seconds(now() - before), out_.report.bad);
}

void stage_replica::send_pieces() {
  for (const auto& piece : std::exchange(out_.chunks, {})) hand_over(piece);
  for (auto& piece : std::exchange(out_.outputs, {})) {
    const auto& to = requests_.at(piece.request);
    self_->send(to.sink, answer_piece{to.attempt, std::move(piece)});
  }
}

void stage_replica::send_results() {
  for (auto& result : std::exchange(out_.results, {})) {
    if (const auto at = requests_.find(result.request); at != requests_.end()) {
      result.handed_over = at->second.handed_over;
      requests_.erase(at);
    }
    self_->send(options_.owner, stage_done{options_.stage, options_.replica, std::move(result)});
  }
}

void stage_replica::flush_facts(bool urgent) {
  if (!out_.has_facts || !options_.logger) return;
  const auto wait = pace_.wait(now(), urgent);
  if (wait == 0) return send_report();
  if (!wait || flush_posted_) return;
  flush_posted_ = true;
  if (!timer_) timer_ = make_weak_timer(self_->system(), caf::actor_cast<caf::strong_actor_ptr>(self_));
  send_later(timer_, *wait, flush_atom{});
}

void stage_replica::on_flush() {
  flush_posted_ = false;
  flush_facts(false);
}

void stage_replica::send_report() {
  pace_.sent(now());
  out_.has_facts = false;
  self_->request(options_.logger, caf::infinite, std::exchange(out_.report, blank_report()))
      .then(
          [this] {
            pace_.acknowledged();
            flush_facts(false);
          },
          [this](caf::error&) { options_.logger = nullptr; }); // it has ended: statistics are over
}

engine_report stage_replica::blank_report() const {
  engine_report blank;
  blank.stage = options_.stage;
  blank.replica = options_.replica;
  return blank;
}

stage_replica_actor::behavior_type replica_behavior(stage_replica_actor::pointer self, replica_options options) {
  const auto state = std::make_shared<stage_replica>(self, std::move(options));
  return {
      [state](const open_request& what) { state->on_open(what); },
      [state](const chunk& what) { state->on_chunk(what); },
      [state](const abort_request& what) { state->on_abort(what.id); },
      [state](step_atom) { state->on_step(); },
      [state](flush_atom) { state->on_flush(); },
  };
}

} // namespace omni
