#include "messages/caf.hpp"

#include "actors/net/replica_host.hpp"

#include "actors/mix.hpp"
#include "actors/replica_name.hpp"
#include "actors/weak_timer.hpp"

#include <algorithm>

namespace omni::net {
namespace {

constexpr auto dial_limit = std::chrono::milliseconds(3000);

/// Connects, and if asked encrypts: what may wait is done by a thread of its own.
dialled dial_and_wait(std::uint64_t whom, const std::string& address, std::uint16_t port, const tls_context* tls) {
  auto socket = connect_to(address, port, dial_limit);
  if (!socket) return {whom, nullptr, socket.error().message};
  auto made = std::make_shared<connected_socket>(connected_socket{std::move(*socket), nullptr});
  if (tls == nullptr) return {whom, std::move(made), {}};
  made->session = tls->connecting(made->socket.get());
  if (!made->session->finish_handshake(made->socket.get(), dial_limit))
    return {whom, nullptr, "TLS: " + made->session->problem()};
  return {whom, std::move(made), {}};
}

} // namespace

replica_host::replica_host(caf::io::broker* self, std::shared_ptr<replica_host_options> options)
    : self_(self), options_(std::move(options)),
      timer_(make_weak_timer(self->system(), caf::actor_cast<caf::strong_actor_ptr>(self))),
      links_(self, {[this](link_id from, frame_kind kind, std::span<const char> body) { on_frame(from, kind, body); },
                    [this](link_id from, bulk_kind kind, std::span<const char> body) { on_message(from, kind, body); },
                    [this](link_id which, const std::string& why) { on_lost(which, why); }}) {
  add_listener(self_, std::move(options_->listening.socket), options_->tls);
  self_->set_down_handler([this](caf::down_msg& what) { on_down(what); });
  dial_head();
  send_later(timer_, tick_us, step_atom::value);
}

// -- connections ------------------------------------------------------------------------------------------------------

void replica_host::dial_head() { dial(0, options_->head.address, options_->head.port); }

void replica_host::dial(std::uint64_t whom, const std::string& address, std::uint16_t port) {
  self_->system().spawn<caf::detached>(
      [=, tls = options_->tls, hub = as<caf::actor>(self_)](caf::event_based_actor* dialler) {
        dialler->send(hub, dial_and_wait(whom, address, port, tls.get()));
      });
}

link_id replica_host::add_dialled(connected_socket& one) {
  auto words = one.session ? one.session->last_words() : nullptr;
  return links_.add(add_connection(self_, std::move(one)), true, std::move(words));
}

void replica_host::on_dialled(const dialled& what) {
  if (what.whom == 0) {
    if (!what.socket) return lose_head("cannot be reached: " + what.problem);
    head_ = add_dialled(*what.socket);
    hello me;
    me.version = options_->version;
    me.identity = options_->identity;
    me.address = options_->address;
    me.port = options_->listening.port;
    return links_.send(*head_, frame_of(frame_kind::hello, std::move(me)));
  }
  const auto at = peers_.find(what.whom);
  if (at == peers_.end()) return; // of an earlier head
  if (!what.socket) return lose_peer(what.whom, "cannot be reached: " + what.problem);
  auto& to = at->second;
  to.link = add_dialled(*what.socket);
  hello me;
  me.version = options_->version;
  me.from_peer = true;
  me.token = token_;
  me.identity = options_->identity;
  links_.send(*to.link, frame_of(frame_kind::hello, std::move(me)));
  for (auto& message : std::exchange(to.waiting, {})) links_.send_bulk(*to.link, std::move(message));
}

void replica_host::on_lost(link_id which, const std::string& why) {
  if (head_ == which) {
    head_.reset();
    return lose_head(why);
  }
  feeders_.erase(which);
  const auto at = std::ranges::find_if(peers_, [&](const auto& one) { return one.second.link == which; });
  if (at != peers_.end()) lose_peer(at->first, why);
}

void replica_host::lose_head(const std::string& why) {
  if (said_goodbye_) return end_if_heard();
  if (leaving_) return end(host_end::left, "The head is gone.");
  const auto sentence = "The head at " + options_->head.address + ":" + std::to_string(options_->head.port) + " " +
                        why + ": trying again until it answers.";
  if (sentence != last_problem_) options_->tell(sentence);
  last_problem_ = sentence;
  // Everything of this head is void: its requests, its peers, the ids that it gave.
  welcomed_ = false;
  token_ = 0;
  joining_.clear();
  for (const auto& [id, one] : std::exchange(replicas_, {})) self_->send_exit(one, caf::exit_reason::kill);
  unopened_.clear();
  requests_.clear();
  early_.clear();
  for (const auto& [id, one] : std::exchange(peers_, {})) {
    if (one.link) links_.close(*one.link);
    self_->send_exit(one.stand_in, caf::exit_reason::kill);
  }
  for (const auto link : std::exchange(feeders_, {})) links_.close(link);
  dial_later();
}

void replica_host::dial_later() {
  // 100 ms, 200, 400 ... 2 s, each up to a quarter more, so that many replicas do not come at once.
  const auto base = std::min(std::int64_t(100'000) << std::min(tries_, 5U), std::int64_t(2'000'000));
  const auto extra = std::int64_t(mix64(options_->identity + tries_) % std::uint64_t(base / 4 + 1));
  ++tries_;
  send_later(timer_, base + extra, dial_again{});
}

void replica_host::on_tick() {
  links_.on_tick();
  early_.forget_older_than(now_us(self_));
  say_goodbye_if_done();
  send_later(timer_, tick_us, step_atom::value);
}

// -- the head ---------------------------------------------------------------------------------------------------------

void replica_host::on_frame(link_id from, frame_kind kind, std::span<const char> body) {
  if (head_ != from) return on_stranger(from, kind, body);
  if (!on_head_frame(kind, body)) links_.lose(from, "sent a message that cannot be read");
}

bool replica_host::on_head_frame(frame_kind kind, std::span<const char> body) {
  const auto pass = []<class T>(std::optional<T> what, auto&& handle) {
    if (what) handle(*what);
    return what.has_value();
  };
  switch (kind) {
  case frame_kind::welcome:
    return pass(decode<welcome>(body), [&](const welcome& what) { on_welcome(what); });
  case frame_kind::refused:
    return pass(decode<refused>(body), [&](const refused& what) { on_refused(what); });
  case frame_kind::joined:
    return pass(decode<joined>(body), [&](const joined& what) { on_joined(what); });
  case frame_kind::open:
    return pass(decode<open>(body), [&](open& what) { on_open(what); });
  case frame_kind::abort:
    return pass(decode<abort>(body), [&](const abort& what) { on_abort(what.id); });
  case frame_kind::retired:
    return pass(decode<retired>(body), [&](const retired& what) { on_retired(what.replica); });
  default:
    return false;
  }
}

void replica_host::on_welcome(const welcome& what) {
  if (std::exchange(welcomed_, true)) return;
  token_ = what.token;
  for (std::int32_t slot = 0; slot < options_->replicas; ++slot) {
    join one;
    one.slot = slot;
    one.stage = options_->config.id;
    if (options_->wanted) one.wanted = replica_id{options_->wanted->value + slot};
    one.fingerprint = options_->fingerprint;
    one.info = options_->info;
    joining_.insert(slot);
    links_.send(*head_, frame_of(frame_kind::join, std::move(one)));
  }
}

void replica_host::on_refused(const refused& what) {
  if (!what.retry) {
    links_.send(*head_, frame_of(frame_kind::goodbye)); // those that were let in leave without a trace
    return end(host_end::refused, what.sentence);
  }
  links_.lose(*head_, "refused (" + what.sentence + ")");
}

void replica_host::on_joined(const joined& what) {
  if (joining_.erase(what.slot) == 0 || replicas_.contains(what.replica)) return;
  const auto logger = options_->log_stats ? as<stat_logger_actor>(self_) : stat_logger_actor();
  auto actor = self_->system().spawn<caf::detached>(
      replica_behavior, replica_options{options_->config.id, what.replica, options_->config, options_->model,
                                        options_->pool, as<orchestrator_actor>(self_), logger});
  self_->monitor(actor);
  replicas_[what.replica] = std::move(actor);
}

void replica_host::on_open(open& what) {
  if (what.media == 0) return take_in(what);
  what.task.arrival = now_us(self_) - what.age;
  unopened_[what.task.id] = std::move(what);
}

void replica_host::on_medium(request_medium& what) {
  const auto at = unopened_.find(what.request);
  if (at == unopened_.end() || at->second.task.attempt != what.attempt) return; // aborted meanwhile
  auto& one = at->second;
  one.task.what.media.push_back(std::move(what.medium));
  if (one.task.what.media.size() < one.media) return;
  one.age = now_us(self_) - one.task.arrival;
  auto complete = std::move(one);
  unopened_.erase(at);
  take_in(complete);
}

void replica_host::take_in(open& what) {
  const auto at = replicas_.find(what.replica);
  if (at == replicas_.end()) return; // it has failed, which the head is about to hear
  what.task.arrival = now_us(self_) - what.age;
  opened one{what.task.attempt, what.replica, {}, {}};
  stage_binding next;
  if (what.next) {
    next = {what.next_stage, what.next_replica, stand_in_for(*what.next)};
    one.next = what.next->is_head ? 0 : what.next->identity;
  }
  const auto id = what.task.id;
  requests_[id] = one;
  self_->send(at->second, open_request{std::move(what.task), std::move(next), as<sink_actor>(self_)});
  for (auto& piece : early_.take(id, one.attempt)) give(one, std::move(piece));
}

void replica_host::on_abort(request_id id) {
  unopened_.erase(id);
  const auto at = requests_.find(id);
  if (at == requests_.end()) return;
  if (const auto replica = replicas_.find(at->second.replica); replica != replicas_.end())
    self_->send(replica->second, abort_request{id});
  requests_.erase(at);
}

void replica_host::on_retired(replica_id replica) {
  const auto at = replicas_.find(replica);
  if (at == replicas_.end()) return;
  self_->send_exit(at->second, caf::exit_reason::user_shutdown);
  forget_replica(replica);
  options_->tell(replica_name(options_->config.id, replica) + " has left the head.");
  finishing_ = replicas_.empty() && joining_.empty();
  say_goodbye_if_done();
}

// -- peers ------------------------------------------------------------------------------------------------------------

void replica_host::on_stranger(link_id from, frame_kind kind, std::span<const char> body) {
  if (kind == frame_kind::goodbye && feeders_.erase(from) > 0) return links_.close(from);
  const auto who = kind == frame_kind::hello ? decode<hello>(body) : std::nullopt;
  const bool known = who && who->magic == wire_magic && who->from_peer && token_ != 0 && who->token == token_;
  if (!known) return links_.lose(from, "is no replica of this pipeline");
  links_.trust(from);
  feeders_.insert(from);
}

stage_replica_actor replica_host::stand_in_for(const next_place& place) {
  const auto key = place.is_head ? 0 : place.identity;
  const auto at = peers_.find(key);
  if (at != peers_.end()) return at->second.stand_in;
  auto& made = peers_[key];
  made.name = place.is_head ? "the head" : place.address + ":" + std::to_string(place.port);
  made.stand_in = self_->system().spawn(remote_replica_behavior, as<caf::actor>(self_), key);
  if (!place.is_head) dial(key, place.address, place.port);
  return made.stand_in;
}

void replica_host::on_piece(remote_piece& what) {
  const auto at = peers_.find(what.number);
  if (at == peers_.end()) return;
  if (what.number == 0) return links_.send_bulk(head_.value_or(0), std::move(what.message));
  if (at->second.link) return links_.send_bulk(*at->second.link, std::move(what.message));
  at->second.waiting.push_back(std::move(what.message));
}

void replica_host::lose_peer(std::uint64_t identity, const std::string& why) {
  const auto at = peers_.find(identity);
  if (at == peers_.end()) return;
  const failure lost{errc::replica_lost, "The replica of the next stage at " + at->second.name + " " + why + ".", {}};
  self_->send_exit(at->second.stand_in, caf::exit_reason::kill);
  peers_.erase(at);
  std::vector<request_id> hit;
  for (const auto& [id, one] : requests_)
    if (one.next == identity) hit.push_back(id);
  for (const auto id : hit) {
    const auto one = requests_.at(id);
    on_abort(id);
    tell_done(one, id, lost);
  }
  end_if_heard();
}

void replica_host::on_message(link_id from, bulk_kind kind, std::span<const char> body) {
  if (auto medium = kind == bulk_kind::medium && head_ == from ? read_medium(body) : std::nullopt)
    return on_medium(*medium);
  auto piece = kind == bulk_kind::piece ? read_piece(body) : std::nullopt;
  if (!piece) return links_.lose(from, "sent a message that cannot be read");
  const auto at = requests_.find(piece->request);
  if (at == requests_.end() || at->second.attempt < piece->attempt) {
    if (head_ != from) early_.hold(std::move(*piece), now_us(self_)); // from the head, the request would be first
  } else if (at->second.attempt == piece->attempt) {
    give(at->second, std::move(*piece));
  }
}

// -- its replicas -----------------------------------------------------------------------------------------------------

void replica_host::give(const opened& to, chunk piece) {
  piece.sent = now_us(self_); // time on the wire is not counted: two machines' clocks are never compared
  if (const auto at = replicas_.find(to.replica); at != replicas_.end()) self_->send(at->second, std::move(piece));
}

void replica_host::on_ready(const replica_ready& what) {
  if (!head_ || !replicas_.contains(what.replica)) return;
  tries_ = 0;
  last_problem_.clear();
  options_->tell(replica_name(what.stage, what.replica) + " serves the head at " + options_->head.address + ":" +
                 std::to_string(options_->head.port) + ".");
  links_.send(*head_, frame_of(frame_kind::serving, serving{what.replica}));
}

void replica_host::on_failed(const replica_failed& what) {
  if (!head_ || !replicas_.contains(what.replica)) return;
  options_->tell(replica_name(what.stage, what.replica) + " ends: " + what.problem.message);
  links_.send(*head_, frame_of(frame_kind::failed, failed{what.replica, what.problem}));
  forget_replica(what.replica);
  if (replicas_.empty() && joining_.empty()) end(host_end::failed, what.problem.message);
}

void replica_host::on_down(const caf::down_msg& what) {
  const auto at = std::ranges::find_if(replicas_, [&](const auto& one) { return one.second == what.source; });
  if (at == replicas_.end()) return;
  on_failed({options_->config.id, at->first, {errc::replica_lost, reason_text(self_, what.reason), {}}});
}

void replica_host::forget_replica(replica_id replica) {
  replicas_.erase(replica);
  std::erase_if(requests_, [&](const auto& one) { return one.second.replica == replica; });
}

void replica_host::on_answer(const answer_piece& what) {
  const auto at = requests_.find(what.what.request);
  if (head_ && at != requests_.end() && at->second.attempt == what.attempt) links_.send_bulk(*head_, bulk_of(what));
}

void replica_host::on_done(const stage_done& what) {
  const auto at = requests_.find(what.result.request);
  if (!head_ || at == requests_.end() || at->second.attempt != what.result.attempt) return;
  auto& one = at->second;
  one.told_last = done{what.replica, what.result};
  const auto to = one.next ? peers_.find(*one.next) : peers_.end();
  if (to != peers_.end()) return self_->send(to->second.stand_in, abort_request{what.result.request});
  links_.send_bulk(*head_, bulk_of(*one.told_last));
  requests_.erase(at);
}

void replica_host::on_echo(const remote_abort& what) {
  const auto at = requests_.find(what.id);
  if (!head_ || at == requests_.end() || !at->second.told_last) return;
  links_.send_bulk(*head_, bulk_of(*at->second.told_last));
  requests_.erase(at);
}

void replica_host::tell_done(const opened& request, request_id id, failure problem) {
  stage_result result;
  result.request = id;
  result.attempt = request.attempt;
  result.finish = finish_reason::error;
  result.problem = std::move(problem);
  links_.send_bulk(head_.value_or(0), bulk_of(done{request.replica, std::move(result)}));
}

void replica_host::on_report(const engine_report& what) {
  if (head_ && replicas_.contains(what.replica)) links_.send_bulk(*head_, bulk_of(what)); // the replica keeps the pace
}

// -- the end ----------------------------------------------------------------------------------------------------------

void replica_host::on_leave() {
  leaving_ = true;
  if (!head_ || (replicas_.empty() && joining_.empty())) return end(host_end::left, "No replica was serving.");
  links_.send(*head_, frame_of(frame_kind::leave));
  std::erase_if(joining_, [](std::int32_t) { return true; });
  finishing_ = replicas_.empty();
  say_goodbye_if_done();
}

/// The last words are goodbyes; each peer closes its connection when it has read all, the head too.
void replica_host::say_goodbye_if_done() {
  if (!finishing_ || !head_ || !links_.idle(*head_)) return;
  for (const auto& [id, one] : peers_)
    if (id != 0 && (!one.link || !links_.idle(*one.link))) return;
  for (const auto& [id, one] : peers_)
    if (one.link) links_.send(*one.link, frame_of(frame_kind::goodbye));
  links_.send(*head_, frame_of(frame_kind::goodbye));
  finishing_ = false;
  said_goodbye_ = true;
}

void replica_host::end_if_heard() {
  const bool open = head_ || std::ranges::any_of(peers_, [](const auto& one) { return one.second.link.has_value(); });
  if (said_goodbye_ && !open) end(host_end::left, "All replicas have left.");
}

void replica_host::end(host_end how, const std::string& why) {
  if (auto told = std::exchange(options_->ended, {})) told(how, why);
  self_->quit();
}

caf::behavior replica_host_behavior(caf::io::broker* self, const std::shared_ptr<replica_host_options>& options) {
  const auto state = std::make_shared<replica_host>(self, options);
  return {
      [state](const caf::io::new_connection_msg& what) { state->on_connection(what); },
      [state](const caf::io::new_data_msg& what) { state->links().on_data(what); },
      [state](const caf::io::connection_closed_msg& what) { state->links().on_closed(what); },
      [state](const caf::io::acceptor_closed_msg&) {},
      [state](const replica_ready& what) { state->on_ready(what); },
      [state](const replica_failed& what) { state->on_failed(what); },
      [state](const stage_done& what) { state->on_done(what); },
      [state](const answer_piece& what) { state->on_answer(what); },
      [state](const engine_report& what) { state->on_report(what); },
      [state](remote_piece& what) { state->on_piece(what); },
      [](const remote_open&) {}, // only a head opens requests
      [state](const remote_abort& what) { state->on_echo(what); },
      [state](const dialled& what) { state->on_dialled(what); },
      [state](dial_again) { state->dial_head(); },
      [state](leave_now) { state->on_leave(); },
      [state](step_atom) { state->on_tick(); },
  };
}

} // namespace omni::net
