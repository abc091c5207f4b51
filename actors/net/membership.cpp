#include "messages/caf.hpp"

#include "actors/net/membership.hpp"

#include "actors/mix.hpp"
#include "actors/replica_name.hpp"
#include "actors/weak_timer.hpp"

#include <algorithm>

namespace omni::net {
namespace {

/// What goes to the operator's console: nothing that could be taken for another line.
bool printable(const std::string& text) {
  constexpr std::size_t most = 255;
  return text.size() <= most && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

} // namespace

membership::membership(caf::io::broker* self, std::shared_ptr<membership_options> options)
    : self_(self), options_(std::move(options)),
      timer_(make_weak_timer(self->system(), caf::actor_cast<caf::strong_actor_ptr>(self))),
      links_(self, {[this](link_id from, frame_kind kind, std::span<const char> body) { on_frame(from, kind, body); },
                    [this](link_id from, bulk_kind kind, std::span<const char> body) { on_message(from, kind, body); },
                    [this](link_id which, const std::string& why) { on_lost(which, why); }}) {
  add_listener(self_, std::move(options_->listening.socket), options_->tls);
  self_->monitor(options_->owner);
  self_->set_down_handler([this](caf::down_msg& what) { on_down(what); });
  on_tick();
}

void membership::on_tick() {
  links_.on_tick();
  send_later(timer_, tick_us, step_atom::value);
}

// -- joining ----------------------------------------------------------------------------------------------------------

void membership::on_frame(link_id from, frame_kind kind, std::span<const char> body) {
  const auto pass = [&]<class T>(std::optional<T> what, auto&& handle) {
    if (!what) return links_.lose(from, "sent a message that cannot be read");
    handle(*what);
  };
  if (kind != frame_kind::hello && !processes_.contains(from)) return links_.lose(from, "did not say who it is");
  switch (kind) {
  case frame_kind::hello:
    return pass(decode<hello>(body), [&](const hello& what) { on_hello(from, what); });
  case frame_kind::join:
    return pass(decode<join>(body), [&](const join& what) { on_join(from, what); });
  case frame_kind::serving:
    return pass(decode<serving>(body), [&](const serving& what) { on_serving(from, what); });
  case frame_kind::failed:
    return pass(decode<failed>(body), [&](const failed& what) { on_failed(from, what); });
  case frame_kind::leave:
    return on_leave(from);
  case frame_kind::goodbye:
    on_leave(from); // what it did not drain goes without a trace too
    links_.close(from);
    return on_lost(from, "left");
  default:
    return links_.lose(from, "sent a message that only a head sends");
  }
}

void membership::on_hello(link_id from, const hello& who) {
  if (who.magic != wire_magic || who.from_peer || processes_.contains(from) || !printable(who.version) ||
      !printable(who.address))
    return links_.lose(from, "does not speak the protocol of replicas");
  if (who.protocol != wire_protocol) {
    links_.send(from,
                frame_of(frame_kind::refused,
                         refused{-1, false,
                                 "The head speaks version " + std::to_string(wire_protocol) +
                                     " of the protocol (omni-serve " + options_->version + "), this replica version " +
                                     std::to_string(who.protocol) + ": install the same release on both."}));
    return links_.close(from);
  }
  for (const auto& [link, one] : processes_)
    if (one.identity == who.identity) {
      links_.lose(link, "came back on another connection");
      break;
    }
  links_.trust(from);
  const auto seen = links_.address(from);
  processes_[from] = {who.identity, who.address.empty() ? seen : who.address, who.port, who.version};
  links_.send(from, frame_of(frame_kind::welcome, welcome{options_->token}));
}

std::optional<std::string> membership::mismatch(const join& what) const {
  if (what.stage.value < 0 || std::size_t(what.stage.value) >= options_->infos.size()) return std::nullopt;
  const auto& here = options_->infos[std::size_t(what.stage.value)];
  if (options_->fingerprints[std::size_t(what.stage.value)] != what.fingerprint)
    return std::nullopt; // told by the owner
  const auto differ = [](const char* flag, std::int64_t ours, std::int64_t theirs) {
    return std::string("The replica's ") + flag + " is " + std::to_string(theirs) + ", the head's " +
           std::to_string(ours) + ": start both with the same.";
  };
  if (here.max_model_len != what.info.max_model_len)
    return differ("--max-model-len", here.max_model_len, what.info.max_model_len);
  if (here.vocab_size != what.info.vocab_size) return differ("vocabulary", here.vocab_size, what.info.vocab_size);
  if (here.sample_rate != what.info.sample_rate) return differ("sample rate", here.sample_rate, what.info.sample_rate);
  return std::nullopt;
}

void membership::on_join(link_id from, const join& what) {
  if (const auto problem = mismatch(what)) return refuse(from, what.slot, false, *problem);
  const auto number = ++last_;
  auto& one = remotes_[number];
  one.link = from;
  one.slot = what.slot;
  one.stage = what.stage;
  one.info = what.info;
  one.stand_in = self_->system().spawn(remote_replica_behavior, as<caf::actor>(self_), number);
  self_->monitor(one.stand_in);
  const auto& where = processes_.at(from);
  const auto identity = mix64(where.identity ^ mix64(std::uint64_t(what.slot)));
  self_
      ->request(options_->owner, caf::infinite,
                join_replica{what.stage, what.wanted, identity, what.fingerprint, where.address, one.stand_in})
      .then([this, number](const join_answer& answer) { on_join_answer(number, answer); },
            [this, number](const caf::error&) { drop(number); });
}

void membership::on_join_answer(remote_number number, const join_answer& answer) {
  const auto at = remotes_.find(number);
  if (at == remotes_.end()) return; // its process is gone; the orchestrator hears of that from the stand-in
  auto& one = at->second;
  if (!answer.problem) {
    one.replica = answer.replica;
    return links_.send(one.link, frame_of(frame_kind::joined, joined{one.slot, answer.replica}));
  }
  refuse(one.link, one.slot, answer.problem->code == errc::shutting_down, answer.problem->message);
  drop(number);
}

void membership::refuse(link_id whom, std::int32_t slot, bool retry, const std::string& why) {
  links_.send(whom, frame_of(frame_kind::refused, refused{slot, retry, why}));
  if (!retry) options_->tell("A replica from " + processes_.at(whom).address + " was refused: " + why);
}

void membership::on_serving(link_id from, const serving& what) {
  const auto number = find(from, what.replica);
  if (!number || remotes_.at(*number).serving) return;
  auto& one = remotes_.at(*number);
  one.serving = true;
  const auto& where = processes_.at(from);
  options_->tell(replica_name(one.stage, what.replica) + " joined from " + where.address + " (omni-serve " +
                 where.version + ").");
  self_->send(options_->owner, replica_ready{one.stage, what.replica, one.info});
}

// -- leaving ----------------------------------------------------------------------------------------------------------

void membership::on_leave(link_id from) {
  std::vector<remote_number> not_in;
  for (const auto& [number, one] : remotes_) {
    if (one.link != from) continue;
    if (one.replica) {
      caf::anon_send(options_->owner, remove_replica{one.stage, *one.replica});
    } else {
      not_in.push_back(number);
    }
  }
  for (const auto number : not_in) drop(number);
}

void membership::on_failed(link_id from, const failed& what) {
  const auto number = find(from, what.replica);
  if (!number) return;
  self_->send(options_->owner, replica_failed{remotes_.at(*number).stage, what.replica, what.problem});
  drop(*number);
}

void membership::on_lost(link_id which, const std::string& why) {
  const auto at = processes_.find(which);
  if (at == processes_.end()) return; // a stranger
  const auto where = at->second.address;
  processes_.erase(at);
  std::vector<remote_number> gone;
  for (const auto& [number, one] : remotes_) {
    if (one.link != which) continue;
    gone.push_back(number);
    if (one.replica)
      self_->send(options_->owner,
                  replica_failed{one.stage, *one.replica,
                                 failure{errc::replica_lost, "Its process at " + where + " " + why + ".", {}}});
  }
  for (const auto number : gone) drop(number);
}

void membership::drop(remote_number number) {
  const auto at = remotes_.find(number);
  if (at == remotes_.end()) return;
  const auto stand_in = at->second.stand_in;
  remotes_.erase(at);
  self_->send_exit(stand_in, caf::exit_reason::kill);
}

void membership::on_down(const caf::down_msg& what) {
  if (what.source == options_->owner) return self_->quit();
  const auto at = std::ranges::find_if(remotes_, [&](const auto& one) { return one.second.stand_in == what.source; });
  if (at == remotes_.end()) return;
  const auto& one = at->second;
  // The orchestrator lets it go; with any other reason the whole engine ends, and the replica looks for the next head.
  if (one.replica && what.reason == caf::exit_reason::user_shutdown)
    links_.send(one.link, frame_of(frame_kind::retired, retired{*one.replica}));
  remotes_.erase(at);
}

// -- what goes out ----------------------------------------------------------------------------------------------------

void membership::on_open(const remote_open& what) {
  const auto at = remotes_.find(what.number);
  if (at == remotes_.end() || !at->second.replica) return;
  auto& one = at->second;
  const auto& task = what.what.task;
  one.requests[task.id] = {task.attempt, task.what.n, what.what.sink, what.what.next.handle};
  open frame;
  frame.replica = *one.replica;
  frame.task = task;
  frame.age = now_us(self_) - task.arrival;
  frame.media = std::uint32_t(task.what.media.size());
  if (what.what.next.handle) {
    frame.next_stage = what.what.next.stage;
    frame.next_replica = what.what.next.replica;
    frame.next = place_of(what.what.next);
  }
  links_.send(one.link, frame_of(frame_kind::open, std::move(frame)));
}

next_place membership::place_of(const stage_binding& next) const {
  const auto at = std::ranges::find_if(
      remotes_, [&](const auto& one) { return one.second.stage == next.stage && one.second.replica == next.replica; });
  if (at == remotes_.end()) return {.is_head = true};
  const auto& where = processes_.at(at->second.link);
  return {false, where.identity, where.address, where.port};
}

void membership::on_abort(const remote_abort& what) {
  const auto at = remotes_.find(what.number);
  if (at == remotes_.end()) return;
  at->second.requests.erase(what.id);
  links_.send(at->second.link, frame_of(frame_kind::abort, abort{what.id}));
}

void membership::on_piece(remote_piece& what) {
  const auto at = remotes_.find(what.number);
  if (at != remotes_.end()) links_.send_bulk(at->second.link, std::move(what.message));
}

// -- what comes in ----------------------------------------------------------------------------------------------------

void membership::on_message(link_id from, bulk_kind kind, std::span<const char> body) {
  const bool good = kind == bulk_kind::piece    ? pass_piece(from, body)
                    : kind == bulk_kind::answer ? pass_answer(from, body)
                    : kind == bulk_kind::done   ? pass_done(from, body)
                    : kind == bulk_kind::report ? pass_report(from, body)
                                                : false;
  if (!good) links_.lose(from, "sent a message that cannot be read");
}

std::optional<membership::remote_number> membership::find(link_id link, replica_id replica) const {
  const auto at = std::ranges::find_if(
      remotes_, [&](const auto& one) { return one.second.link == link && one.second.replica == replica; });
  return at == remotes_.end() ? std::nullopt : std::optional(at->first);
}

bool membership::pass_piece(link_id from, std::span<const char> body) {
  auto piece = read_piece(body);
  if (!piece) return false;
  const auto number = find(from, piece->from_replica);
  if (!number || remotes_.at(*number).stage != piece->from_stage) return true; // it was let go meanwhile
  const auto& requests = remotes_.at(*number).requests;
  const auto request = requests.find(piece->request);
  if (request == requests.end() || request->second.attempt != piece->attempt || !request->second.next) return true;
  piece->sent = now_us(self_);
  self_->send(request->second.next, std::move(*piece));
  return true;
}

bool membership::plausible(const answer_piece& piece, const opened& request, const remote& from) const {
  const auto known = [&](std::int32_t token) { return token >= 0 && token < from.info.vocab_size; };
  const auto& one = piece.what;
  if (one.choice < 0 || one.choice >= request.choices) return false;
  return std::ranges::all_of(one.tokens, [&](const token_choice& token) {
    return known(token.id) && std::ranges::all_of(token.top, [&](const auto& other) { return known(other.first); });
  });
}

bool membership::pass_answer(link_id from, std::span<const char> body) {
  auto piece = read_answer(body);
  if (!piece) return false;
  for (const auto& [number, one] : remotes_) {
    if (one.link != from) continue;
    const auto request = one.requests.find(piece->what.request);
    if (request == one.requests.end() || request->second.attempt != piece->attempt) continue;
    if (!plausible(*piece, request->second, one)) return false;
    self_->send(request->second.sink, std::move(*piece));
    return true;
  }
  return true; // aborted meanwhile
}

bool membership::pass_done(link_id from, std::span<const char> body) {
  const auto what = decode<done>(body);
  if (!what) return false;
  const auto number = find(from, what->replica);
  if (!number) return true;
  auto& one = remotes_.at(*number);
  const auto request = one.requests.find(what->result.request);
  if (request == one.requests.end() || request->second.attempt != what->result.attempt) return true;
  one.requests.erase(request);
  self_->send(options_->owner, stage_done{one.stage, what->replica, what->result});
  return true;
}

bool membership::pass_report(link_id from, std::span<const char> body) {
  auto report = decode<engine_report>(body);
  if (!report) return false;
  const auto number = find(from, report->replica);
  if (number && remotes_.at(*number).stage == report->stage && options_->logger)
    self_->send(options_->logger, std::move(*report));
  return true;
}

caf::behavior membership_behavior(caf::io::broker* self, const std::shared_ptr<membership_options>& options) {
  const auto state = std::make_shared<membership>(self, options);
  return {
      [state](const caf::io::new_connection_msg& what) { state->on_connection(what); },
      [state](const caf::io::new_data_msg& what) { state->links().on_data(what); },
      [state](const caf::io::connection_closed_msg& what) { state->links().on_closed(what); },
      [state](const caf::io::acceptor_closed_msg&) {},
      [state](const remote_open& what) { state->on_open(what); },
      [state](const remote_abort& what) { state->on_abort(what); },
      [state](remote_piece& what) { state->on_piece(what); },
      [state](step_atom) { state->on_tick(); },
  };
}

void load_network(caf::actor_system_config& config) {
  config.load<caf::io::middleman>();
  config.set("middleman.workers", std::size_t(0)); // of CAF's own protocol, which is not used
}

expected<head_network> start_membership(caf::actor_system& system, const network_config& where,
                                        membership_options options) {
  if (auto good = check_exposure(where, where.address, "--omni-master-address"); !good)
    return tl::unexpected(good.error());
  auto tls = tls_context::make(where);
  if (!tls) return tl::unexpected(tls.error());
  auto listening = listen_on(where.address, where.port);
  if (!listening) return tl::unexpected(listening.error());
  const auto port = listening->port;
  options.tls = std::move(*tls);
  options.listening = std::move(*listening);
  auto shared = std::make_shared<membership_options>(std::move(options));
  return head_network{system.middleman().spawn_broker(membership_behavior, shared), port};
}

} // namespace omni::net
