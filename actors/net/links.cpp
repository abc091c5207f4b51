#include "messages/caf.hpp"

#include "actors/net/links.hpp"

#include <algorithm>
#include <sys/socket.h>

namespace omni::net {
namespace {

constexpr std::size_t most_strangers = 256;
// A peer that takes in nothing while so much waits for it is as good as dead.
constexpr std::size_t most_waiting = std::size_t(512) << 20U;

bytes part_frame(const bulk_sender::part& one) {
  auto out = begin_frame(one.first ? frame_kind::bulk_first : frame_kind::bulk_more, 8 + one.content.size());
  wire_writer writer(out);
  auto whole = one.whole;
  if (one.first) writer(whole);
  writer.raw(one.content.data(), one.content.size());
  end_frame(out);
  return out;
}

} // namespace

link_id link_set::add(caf::io::connection_handle handle, bool trusted, std::shared_ptr<const std::string> last_words) {
  const auto id = ++last_;
  auto& made = links_[id];
  made.handle = handle;
  made.trusted = trusted;
  made.last_words = std::move(last_words);
  made.since = made.heard = made.sent = now();
  by_handle_[handle] = id;
  owner_->configure_read(handle, caf::io::receive_policy::exactly(length_bytes));
  const auto strangers = std::ranges::count_if(links_, [](const auto& one) { return !one.second.trusted; });
  // One stranger too many goes at the next tick: CAF keeps the socket of a connection that is closed while it is new.
  if (!trusted && std::size_t(strangers) > most_strangers) made.since -= stranger_us;
  return id;
}

void link_set::trust(link_id which) {
  if (const auto at = links_.find(which); at != links_.end()) at->second.trusted = true;
}

std::string link_set::address(link_id which) const {
  const auto at = links_.find(which);
  return at == links_.end() ? std::string() : peer_address(socket_of(at->second.handle));
}

// -- out --------------------------------------------------------------------------------------------------------------

void link_set::write(link& to, const bytes& frame) {
  owner_->write(to.handle, frame.size(), frame.data());
  owner_->flush(to.handle);
  to.sent = now();
}

void link_set::send(link_id to, const bytes& frame) {
  if (const auto at = links_.find(to); at != links_.end()) write(at->second, frame);
}

void link_set::send_bulk(link_id to, bytes message) {
  const auto at = links_.find(to);
  if (at == links_.end()) return;
  at->second.out.push(std::move(message));
  pump(at->second);
  if (at->second.out.waiting() > most_waiting) lose(to, "does not take in what it is sent");
}

void link_set::pump(link& to) {
  while (auto part = to.out.next()) write(to, part_frame(*part));
}

bool link_set::idle(link_id which) const {
  const auto at = links_.find(which);
  return at == links_.end() || at->second.out.waiting() == 0;
}

// -- the end ----------------------------------------------------------------------------------------------------------

void link_set::close(link_id which) {
  const auto at = links_.find(which);
  if (at == links_.end()) return;
  const auto handle = at->second.handle;
  by_handle_.erase(handle);
  links_.erase(at);
  owner_->close(handle);
}

void link_set::lose(link_id which, const std::string& why) {
  const auto at = links_.find(which);
  if (at == links_.end()) return;
  ::shutdown(socket_of(at->second.handle), SHUT_RDWR); // what is not written yet never will be
  close(which);
  hears_.on_lost(which, why);
}

void link_set::on_closed(const caf::io::connection_closed_msg& what) {
  const auto at = by_handle_.find(what.handle);
  if (at == by_handle_.end()) return;
  const auto id = at->second;
  by_handle_.erase(at);
  const auto words = std::move(links_.at(id).last_words);
  links_.erase(id);
  hears_.on_lost(id,
                 words && !words->empty() ? "closed the connection (TLS: " + *words + ")" : "closed the connection");
}

void link_set::on_tick() {
  std::vector<std::pair<link_id, const char*>> lost;
  const auto at = now();
  for (auto& [id, one] : links_) {
    if (!one.trusted && at - one.since > stranger_us) {
      lost.emplace_back(id, "did not say who it is");
    } else if (one.trusted && at - one.heard > silence_us) {
      lost.emplace_back(id, "was silent for 2 seconds");
    } else if (one.trusted && at - one.sent >= heartbeat_us - heartbeat_us / 4) {
      write(one, frame_of(frame_kind::heartbeat));
    }
  }
  for (const auto& [id, why] : lost) lose(id, why);
}

// -- in ---------------------------------------------------------------------------------------------------------------

void link_set::on_data(const caf::io::new_data_msg& what) {
  const auto at = by_handle_.find(what.handle);
  if (at == by_handle_.end()) return;
  const auto id = at->second;
  auto& from = links_.at(id);
  from.heard = now();
  if (!from.in_body) return on_length(id, from, what.buf);
  from.in_body = false;
  owner_->configure_read(from.handle, caf::io::receive_policy::exactly(length_bytes));
  on_frame(id, what.buf);
}

void link_set::on_length(link_id which, link& from, const std::vector<char>& data) {
  std::uint32_t length = 0;
  std::memcpy(&length, data.data(), std::min(data.size(), length_bytes));
  if (length == 0 || length > (from.trusted ? most_frame : most_stranger_frame))
    return lose(which, "does not speak the protocol of replicas");
  from.in_body = true;
  owner_->configure_read(from.handle, caf::io::receive_policy::exactly(length));
}

void link_set::on_frame(link_id which, std::span<const char> frame) {
  const auto code = std::uint8_t(frame.front());
  const auto body = frame.subspan(1);
  if (code > std::uint8_t(last_frame_kind)) return lose(which, "sent a message of an unknown kind");
  const auto kind = frame_kind(code);
  auto& from = links_.at(which);
  if (!from.trusted && kind != frame_kind::hello) return lose(which, "did not say who it is");
  switch (kind) {
  case frame_kind::heartbeat:
    return;
  case frame_kind::credit: {
    const auto taken = decode<credit>(body);
    if (!taken || !from.out.credit(taken->taken)) return lose(which, "gave back more than it was sent");
    return pump(from);
  }
  case frame_kind::bulk_first:
  case frame_kind::bulk_more:
    return on_part(which, kind == frame_kind::bulk_first, body);
  default:
    return hears_.on_frame(which, kind, body);
  }
}

void link_set::on_part(link_id which, bool first, std::span<const char> body) {
  auto& from = links_.at(which);
  std::uint64_t whole = 0;
  if (first) {
    wire_reader reader(body);
    reader(whole);
    body = reader.left();
  }
  const auto outcome = first ? from.in.first(whole, body) : from.in.more(body);
  if (outcome == bulk_receiver::outcome::malformed) return lose(which, "sent a message in parts that do not fit");
  if (const auto due = from.in.credit_due(credit_window / 4)) write(from, frame_of(frame_kind::credit, credit{*due}));
  if (outcome == bulk_receiver::outcome::incomplete) return;
  const auto message = from.in.take();
  const auto code = std::uint8_t(message.front());
  if (code > std::uint8_t(last_bulk_kind)) return lose(which, "sent a message of an unknown kind");
  hears_.on_message(which, bulk_kind(code), std::span(message).subspan(1));
}

} // namespace omni::net
