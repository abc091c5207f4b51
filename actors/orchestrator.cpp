#include "actors/orchestrator.hpp"

#include "actors/replica_name.hpp"
#include "messages/type_ids.hpp"

#include <algorithm>
#include <chrono>
#include <ranges>

namespace omni {
namespace {

// A request that takes its replica down each time must not take down all of them.
constexpr std::int32_t max_attempts = 3;

failure lost_answer() {
  return {errc::replica_lost, "The replica that worked on this request was lost: send the request again.", {}};
}

} // namespace

orchestrator_state::orchestrator_state(orchestrator_actor::pointer self, orchestrator_options options)
    : self_(self), options_(std::move(options)), registry_(options_.graph.size()),
      router_(options_.config.routing, options_.config.seed), prefixes_(options_.config.stages.front().block_size) {
  self_->set_down_handler([this](caf::down_msg& what) { on_down(what); });
}

// -- requests ---------------------------------------------------------------------------------------------------------

void orchestrator_state::on_submit(const submit& what) {
  if (draining_) return refuse(what, errc::shutting_down, "The engine is shutting down: send the request elsewhere.");
  if (table_.size() >= std::size_t(options_.config.max_num_requests)) {
    pipeline_report facts;
    ++facts.rejected[std::size_t(rejected_as::max_num_queued_reqs)];
    tell(std::move(facts));
    return refuse(what, errc::overloaded, "The engine works on as many requests as it may: try again later.");
  }
  const auto way = options_.graph.path_of(what.what);
  if (!way) return self_->send(what.sink, request_over{way.error()});
  sinks_[what.id] = what.sink;
  auto& one = table_.add(what.id, what.what, *way, what.what.received.value_or(what.arrival));
  one.submitted = what.arrival;
  place_or_wait(one);
  tell({});
}

void orchestrator_state::refuse(const submit& what, errc code, std::string sentence) {
  self_->send(what.sink, request_over{failure{code, std::move(sentence), {}}});
}

void orchestrator_state::place_or_wait(flight& one) {
  one.now = flight::phase::waiting;
  if (place(one)) return;
  const auto limit = std::chrono::microseconds(in_us(options_.config.dispatch_timeout_s));
  self_->delayed_send(self_, limit, place_timeout{one.id, one.attempt});
}

bool orchestrator_state::place(flight& one) {
  std::vector<flight::share> chosen;
  const auto prompt = prefixes_.blocks_of(one.what.prompt);
  for (auto at = one.way.first; at <= one.way.last; ++at) {
    const stage_id stage{std::int32_t(at)};
    auto choices = registry_.choices(stage);
    for (auto& choice : choices) choice.held = prefixes_.worth({stage, choice.replica}, prompt);
    const auto replica = router_.pick(stage, choices);
    if (!replica) return false;
    chosen.push_back({stage, *replica});
  }
  one.shares = std::move(chosen);
  one.now = flight::phase::placed;
  // The last stage first, so that each is open before the one that feeds it.
  stage_binding next;
  for (const auto& part : std::views::reverse(one.shares)) {
    registry_.add_load(part.stage, part.replica, load_of(one, part.stage));
    prefixes_.remember({part.stage, part.replica}, prompt);
    stage_binding here{part.stage, part.replica, replicas_.at({part.stage, part.replica})};
    auto task =
        options_.graph.task_for(std::size_t(part.stage.value), one.way, one.id, one.attempt, one.what, one.arrival);
    self_->send(here.handle, open_request{std::move(task), next, sinks_.at(one.id)});
    next = std::move(here);
  }
  pipeline_report facts;
  facts.queue_wait.add(in_seconds(now_us(self_) - one.submitted), facts.bad);
  tell(std::move(facts));
  return true;
}

void orchestrator_state::place_waiting() {
  for (const auto id : table_.waiting()) place(*table_.find(id));
}

void orchestrator_state::on_place_timeout(const place_timeout& what) {
  auto* one = table_.find(what.id);
  if (one == nullptr || one->now != flight::phase::waiting || one->attempt != what.attempt) return;
  auto missing = one->way.first;
  while (missing < one->way.last && !registry_.choices({std::int32_t(missing)}).empty()) ++missing;
  end_flight(*one, failure{errc::no_replica,
                           "Stage " + std::to_string(missing) + " (" + options_.graph[missing].name +
                               ") has no live replica: start one, or try again later.",
                           {}});
}

void orchestrator_state::on_abort(request_id id, bool client_left) {
  auto* one = table_.find(id);
  if (one == nullptr) return;
  one->client_left = client_left;
  end_flight(*one, failure{errc::aborted, "The request was aborted.", {}});
}

void orchestrator_state::on_stage_done(const stage_done& what) {
  auto* one = table_.find(what.result.request);
  if (one == nullptr || one->attempt != what.result.attempt || !one->needs(what.stage, what.replica)) return;
  if (what.result.problem && what.result.problem->code == errc::replica_lost) return lose(*one);
  if (what.result.problem) return end_flight(*one, what.result.problem);
  auto& part = *one->share_of(what.stage);
  if (!one->finish) one->finish = what.result.finish;
  one->prompt_tokens += what.result.prompt_tokens;
  one->generation_tokens += what.result.generation_tokens;
  part.inside = what.result.inside;
  part.handed_over = what.result.handed_over;
  unbind(*one, part);
  if (one->all_done()) end_flight(*one, std::nullopt);
}

void orchestrator_state::lose(flight& one) {
  release(one);
  if (++one.attempt >= max_attempts) return end_flight(one, lost_answer());
  one.now = flight::phase::asking;
  one.finish.reset();
  one.prompt_tokens = one.generation_tokens = 0;
  const auto id = one.id;
  const auto attempt = one.attempt;
  self_->request(sinks_.at(id), caf::infinite, start_over{attempt})
      .then([this, id, attempt](start_over_answer answer) { on_start_over_answer(id, attempt, answer); },
            [this, id](caf::error&) { on_abort(id); }); // nobody listens any more
}

void orchestrator_state::on_start_over_answer(request_id id, std::int32_t attempt, start_over_answer answer) {
  auto* one = table_.find(id);
  if (one == nullptr || one->attempt != attempt) return;
  if (answer == start_over_answer::complete) return end_flight(*one, std::nullopt);
  if (answer == start_over_answer::already_heard) return end_flight(*one, lost_answer());
  place_or_wait(*one);
  tell({});
}

void orchestrator_state::unbind(const flight& one, flight::share& part) {
  part.done = true;
  registry_.add_load(part.stage, part.replica, -load_of(one, part.stage));
  retire_if_idle({part.stage, part.replica});
}

void orchestrator_state::release(flight& one) {
  for (auto& part : one.shares) {
    if (part.done) continue;
    const auto replica = replicas_.find({part.stage, part.replica});
    if (replica != replicas_.end()) self_->send(replica->second, abort_request{one.id});
    unbind(one, part);
  }
}

void orchestrator_state::end_flight(flight& one, const std::optional<failure>& problem) {
  release(one);
  pipeline_report facts;
  count_end(one, problem, facts);
  tell_timing(one);
  const auto sink = std::move(sinks_.extract(one.id).mapped());
  table_.erase(one.id);
  tell(std::move(facts));
  self_->send(sink, request_over{problem}); // last, so that who hears of the end finds the place free
  if (table_.size() > 0) return;
  for (auto& promise : drained_) promise.deliver(engine_drained{});
  drained_.clear();
}

// -- replicas ---------------------------------------------------------------------------------------------------------

caf::result<replica_outcome> orchestrator_state::on_start(const start_replicas& what) {
  if (draining_) return replica_outcome{{}, failure{errc::shutting_down, "The engine is shutting down.", {}}};
  const auto group = std::make_shared<cohort>();
  for (const auto& wanted : what.wanted) {
    const auto stage = std::size_t(wanted.stage.value);
    const auto fingerprint = stage < options_.fingerprints.size() ? options_.fingerprints[stage] : 0;
    const auto place = registry_.join({wanted.stage, wanted.id, next_identity_++, fingerprint, {}, now_us(self_)});
    if (!place) {
      group->problem = place.error();
      break;
    }
    const replica_key which{wanted.stage, place->replica};
    engines_[which] = place->engine;
    group->members.push_back(which);
    starting_[which] = group;
  }
  group->unsettled = group->members.size();
  group->answer = self_->make_response_promise<replica_outcome>();
  for (const auto& which : group->members) start(which);
  if (group->members.empty()) settle(*group);
  return group->answer;
}

void orchestrator_state::start(const replica_key& which) {
  auto handle = options_.make_replica(which.first, which.second, self_);
  self_->monitor(handle);
  replicas_[which] = std::move(handle);
}

join_answer orchestrator_state::on_join(const join_replica& what) {
  if (draining_) return {{}, failure{errc::shutting_down, "The head is shutting down.", {}}};
  const auto stage = std::size_t(what.stage.value);
  if (stage < options_.fingerprints.size() && options_.fingerprints[stage] != what.fingerprint)
    return {{},
            failure{errc::replica_conflict,
                    "The model differs from the head's for stage " + std::to_string(stage) + " (" +
                        options_.graph[stage].name +
                        "): start the replica with the same checkpoint, --dtype and stage.",
                    {}}};
  const auto place =
      registry_.join({what.stage, what.wanted, what.identity, what.fingerprint, what.address, now_us(self_)});
  if (!place) return {{}, place.error()};
  const replica_key which{what.stage, place->replica};
  if (!place->fresh)
    return {{}, failure{errc::replica_conflict, replica_name(which.first, which.second) + " is here.", {}}};
  const auto group = std::make_shared<cohort>();
  group->members.push_back(which);
  group->unsettled = 1;
  starting_[which] = group;
  engines_[which] = place->engine;
  self_->monitor(what.handle);
  replicas_[which] = what.handle;
  return {place->replica, std::nullopt};
}

void orchestrator_state::on_ready(const replica_ready& what) {
  const auto waits = starting_.find({what.stage, what.replica});
  if (waits == starting_.end()) return;
  const auto group = waits->second;
  group->ready[waits->first] = what.info;
  --group->unsettled;
  settle(*group);
}

void orchestrator_state::settle(cohort& group) {
  if (group.unsettled > 0) return;
  // First known to the stat logger, then to the router.
  register_engines entries;
  for (const auto& [which, info] : group.ready) entries.engines.push_back(describe(which, info));
  if (options_.logger && !entries.engines.empty()) self_->send(options_.logger, std::move(entries));
  replica_outcome outcome{{}, group.problem};
  for (const auto& which : group.members) {
    starting_.erase(which);
    if (!group.ready.contains(which)) continue;
    outcome.replicas.push_back({which.first, which.second, group.ready.at(which)});
    if (registry_.state(which.first, which.second) == replica_state::starting) serve(which, group.ready.at(which));
    retire_if_idle(which); // it may have been removed meanwhile
  }
  if (group.answer.pending()) group.answer.deliver(std::move(outcome));
  place_waiting();
}

void orchestrator_state::serve(const replica_key& which, const runner_info& info) {
  registry_.serve(which.first, which.second);
  const auto stage = std::size_t(which.first.value);
  if (options_.graph[stage].text && options_.config.stages[stage].enable_prefix_caching &&
      options_.config.routing == routing_policy::least_queue_length)
    prefixes_.add(which, std::int64_t(info.blocks) * info.block_size);
}

void orchestrator_state::on_failed(const replica_failed& what) { gone({what.stage, what.replica}, what.problem); }

void orchestrator_state::on_down(const caf::down_msg& what) {
  const auto at = std::ranges::find_if(replicas_, [&](const auto& entry) { return entry.second == what.source; });
  if (at == replicas_.end()) return;
  const auto [stage, replica] = at->first;
  gone(at->first,
       {errc::replica_lost, replica_name(stage, replica) + " ended: " + reason_text(self_, what.reason) + ".", {}});
}

void orchestrator_state::gone(replica_key which, const failure& why) {
  if (replicas_.erase(which) == 0) return;
  const auto [stage, replica] = which;
  const auto bound = table_.bound_to(stage, replica);
  tell_departure(which, bound.size(), why);
  registry_.depart(stage, replica, now_us(self_));
  prefixes_.forget(which);
  engines_.erase(which);
  if (const auto waits = starting_.find(which); waits != starting_.end()) {
    const auto group = waits->second;
    if (group->ready.erase(which) == 0) --group->unsettled;
    if (!group->problem) group->problem = why;
    settle(*group);
  } else if (options_.logger) {
    std::int64_t unfinished = 0;
    for (const auto id : bound) unfinished += load_of(*table_.find(id), stage);
    self_->send(options_.logger, engine_departed{stage, replica, unfinished});
  }
  for (const auto id : bound) lose(*table_.find(id));
}

void orchestrator_state::tell_departure(const replica_key& which, std::size_t requests, const failure& why) const {
  const auto state = registry_.state(which.first, which.second);
  const auto name = replica_name(which.first, which.second);
  if (state == replica_state::serving) return options_.tell("WARNING", name + " was lost: " + why.message);
  if (state != replica_state::draining) return;
  if (requests == 0) return options_.tell("INFO", name + " has left.");
  options_.tell("WARNING", name + " left before " + std::to_string(requests) +
                               (requests == 1 ? " request" : " requests") + " ended that it worked on.");
}

void orchestrator_state::retire_if_idle(const replica_key& which) {
  const auto [stage, replica] = which;
  if (registry_.state(stage, replica) != replica_state::draining || registry_.load(stage, replica) > 0) return;
  if (const auto at = replicas_.find(which); at != replicas_.end())
    self_->send_exit(at->second, caf::exit_reason::user_shutdown);
}

replica_outcome orchestrator_state::on_remove(const remove_replica& what) {
  const auto before = registry_.state(what.stage, what.replica);
  if (const auto drained = registry_.drain(what.stage, what.replica); !drained) return {{}, drained.error()};
  if (before == replica_state::serving)
    options_.tell("INFO", replica_name(what.stage, what.replica) +
                              " drains: it gets no new requests and leaves after its last one.");
  retire_if_idle({what.stage, what.replica});
  return {};
}

replica_list orchestrator_state::on_list() const {
  std::vector<std::int32_t> max_running;
  for (const auto& stage : options_.config.stages) max_running.push_back(stage.max_num_seqs);
  return {registry_.list(max_running, now_us(self_))};
}

std::int32_t orchestrator_state::load_of(const flight& one, stage_id stage) const {
  return options_.graph[std::size_t(stage.value)].text ? one.what.n : 1;
}

// -- the whole engine -------------------------------------------------------------------------------------------------

caf::result<engine_drained> orchestrator_state::on_drain() {
  draining_ = true;
  if (table_.size() == 0) return engine_drained{};
  return drained_.emplace_back(self_->make_response_promise<engine_drained>());
}

void orchestrator_state::on_stop() {
  draining_ = true;
  const failure stopped{errc::shutting_down, "The engine has stopped.", {}};
  for (const auto id : table_.all()) end_flight(*table_.find(id), stopped);
  for (const auto& [which, group] : starting_)
    if (group->answer.pending()) group->answer.deliver(replica_outcome{{}, stopped});
  // Not as one that is let go: a replica of another process looks for the next head then.
  for (const auto& [which, handle] : replicas_) self_->send_exit(handle, caf::exit_reason::kill);
  self_->quit();
}

// -- statistics -------------------------------------------------------------------------------------------------------

register_engine orchestrator_state::describe(const replica_key& which, const runner_info& info) const {
  const auto at = std::size_t(which.first.value);
  const auto& kind = options_.graph[at];
  register_engine entry;
  entry.stage = which.first;
  entry.replica = which.second;
  entry.engine = engines_.at(which);
  entry.max_model_len = info.max_model_len;
  entry.unit = info.max_model_len > 0                 ? stage_unit::tokens
               : kind.final_output == modality::audio ? stage_unit::audio_seconds
                                                      : stage_unit::frames;
  if (info.blocks > 0)
    entry.cache =
        cache_facts{info.block_size, info.blocks, 0, "auto", options_.config.stages[at].enable_prefix_caching};
  return entry;
}

void orchestrator_state::count_end(const flight& one, const std::optional<failure>& problem,
                                   pipeline_report& facts) const {
  const bool speech = one.what.prompt.empty();
  facts.prompt_tokens = one.prompt_tokens;
  facts.generation_tokens = one.generation_tokens;
  if (!problem) {
    facts.add_success(to_finished_as(one.finish.value_or(finish_reason::stop)),
                      in_seconds(now_us(self_) - one.arrival));
    facts.speech_completed = speech;
    return;
  }
  const bool asked = problem->code == errc::aborted;
  facts.add_failure(one.client_left ? failed_as::client_disconnect
                    : asked         ? failed_as::client_abort
                                    : failed_as::stage_error);
  if (!speech) return;
  const bool dead = problem->code == errc::replica_lost || problem->code == errc::no_replica;
  ++facts.speech_aborted[std::size_t(one.client_left ? speech_aborted_as::closed
                                     : asked         ? speech_aborted_as::cancelled
                                     : dead          ? speech_aborted_as::engine_dead
                                                     : speech_aborted_as::error)];
}

void orchestrator_state::tell(pipeline_report facts) {
  if (!options_.logger) return;
  facts.waiting = std::int64_t(table_.count(flight::phase::waiting) + table_.count(flight::phase::asking));
  facts.running = std::int64_t(table_.size()) - *facts.waiting;
  facts_.merge(std::move(facts));
  has_facts_ = true;
  flush_facts();
}

void orchestrator_state::flush_facts() {
  const auto now = now_us(self_);
  if (!has_facts_ || pace_.wait(now, true) != 0) return; // few, and each may be looked for
  pace_.sent(now);
  has_facts_ = false;
  self_->request(options_.logger, caf::infinite, std::exchange(facts_, {}))
      .then(
          [this] {
            pace_.acknowledged();
            flush_facts();
          },
          [this](caf::error&) { options_.logger = nullptr; });
}

void orchestrator_state::tell_timing(const flight& one) const {
  if (!options_.logger || !options_.config.log_request_timing) return;
  const auto now = now_us(self_);
  request_timeline line;
  line.name = one.what.name;
  line.total_s = in_seconds(now - one.arrival);
  line.preprocess_s = in_seconds(one.submitted - one.arrival);
  line.engine_s = in_seconds(now - one.submitted);
  for (const auto& part : one.shares) {
    line.stages.push_back({part.stage, in_seconds(part.inside)});
    if (&part == &one.shares.front()) continue;
    line.transfers.push_back({{part.stage.value - 1}, part.stage, in_seconds(part.handed_over)});
  }
  self_->send(options_.logger, std::move(line));
}

orchestrator_actor::behavior_type orchestrator_behavior(orchestrator_actor::pointer self,
                                                        orchestrator_options options) {
  const auto state = std::make_shared<orchestrator_state>(self, std::move(options));
  return {
      [state](const submit& what) { state->on_submit(what); },
      [state](const abort_request& what) { state->on_abort(what.id, what.client_left); },
      [state](const stage_done& what) { state->on_stage_done(what); },
      [state](const replica_ready& what) { state->on_ready(what); },
      [state](const replica_failed& what) { state->on_failed(what); },
      [state](const start_replicas& what) { return state->on_start(what); },
      [state](const remove_replica& what) { return state->on_remove(what); },
      [state](const join_replica& what) { return state->on_join(what); },
      [state](list_replicas) { return state->on_list(); },
      [state](drain_engine) { return state->on_drain(); },
      [state](stop_engine) { state->on_stop(); },
      [state](const place_timeout& what) { state->on_place_timeout(what); },
  };
}

} // namespace omni
