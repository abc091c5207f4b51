#pragma once

#include "actors/net/bulk.hpp"
#include "actors/net/wire_format.hpp"
#include "messages/chunk.hpp"
#include "messages/control.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What processes of one pipeline say to each other (docs/architecture.md, "Between processes"). A connection carries
// frames: u32 length of what follows, u8 kind, body. The messages below are twins of those between actors: they hold
// no handles and no shared memory.

namespace omni::net {

inline constexpr std::uint64_t wire_magic = 0x31494e4d4f5652ULL; // tells our peers from whoever else connects
inline constexpr std::uint32_t wire_protocol = 1;
inline constexpr std::uint32_t most_stranger_frame = 4096; // bytes of a frame before the hello
inline constexpr std::uint32_t most_frame = 32U << 20U;    // ... and after

enum class frame_kind : std::uint8_t {
  hello,      // first of a connection; only its layout may never change
  refused,    // to a hello or a join
  welcome,    // to a hello
  join,       // a replica wants in
  joined,     // ... and is
  serving,    // a joined replica may be given requests
  open,       // head: take a request in
  abort,      // head: forget a request
  leave,      // a process wants its replicas drained
  retired,    // head: a replica has no work left and is let go
  failed,     // a replica ends with a reason
  goodbye,    // nothing follows: close the connection
  heartbeat,  // the process is alive
  credit,     // u64: bytes of parts that were taken in
  bulk_first, // u64 bytes of the whole message, then its first part
  bulk_more,  // the next part
};
inline constexpr auto last_frame_kind = frame_kind::bulk_more;

/// Bulk messages: data and what must stay in order with it. Their first byte is the kind.
enum class bulk_kind : std::uint8_t { piece, answer, done, report, medium };
inline constexpr auto last_bulk_kind = bulk_kind::medium;

/// Who connects, and what for.
struct hello {
  std::uint64_t magic = wire_magic;
  std::uint32_t protocol = wire_protocol;
  std::string version;        // of the program, for people
  bool from_peer = false;     // another replica process, to hand pieces over; else a process that wants to join
  std::uint64_t token = 0;    // from_peer: what the head gave to its processes
  std::uint64_t identity = 0; // of the process, random
  std::string address;        // where peers reach it; empty: where the connection comes from
  std::uint16_t port = 0;
};
struct refused {
  std::int32_t slot = -1; // of the join; -1: the whole process
  bool retry = false;     // it may be different in a moment
  std::string sentence;
};
struct welcome {
  std::uint64_t token = 0;
};
struct join {
  std::int32_t slot = 0; // the process's own number for this replica
  stage_id stage;
  std::optional<replica_id> wanted;
  std::uint64_t fingerprint = 0;
  runner_info info;
};
struct joined {
  std::int32_t slot = 0;
  replica_id replica;
};
struct serving {
  replica_id replica;
};
struct retired {
  replica_id replica;
};
struct failed {
  replica_id replica;
  failure problem;
};
/// The process that the next stage's replica lives in.
struct next_place {
  bool is_head = false;
  std::uint64_t identity = 0; // else
  std::string address = {};
  std::uint16_t port = 0;
};
struct open {
  replica_id replica;
  stage_task task;
  time_us age = 0; // since the request arrived: clocks of two machines are never compared
  stage_id next_stage;
  replica_id next_replica;
  std::optional<next_place> next; // none: this is the request's last stage
  std::uint32_t media = 0;        // that follow as bulk messages; the request is taken in when all are here
};
struct abort {
  request_id id;
};
struct credit {
  std::uint64_t taken = 0;
};

/// The head of a piece or of sound in an answer; the content's bytes follow the message.
struct payload_head {
  payload::kind what = payload::kind::text;
  dtype type = dtype::f32;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int32_t sample_rate = 0;
  bool ends_segment = false;
};
struct piece {
  request_id request;
  std::int32_t attempt = 0;
  stage_id from_stage;
  replica_id from_replica;
  std::uint32_t number = 0;
  bool end = false;
  std::optional<payload_head> data;
};
struct answer {
  request_id request;
  std::int32_t attempt = 0;
  std::int32_t choice = 0;
  modality kind = modality::text;
  std::string text;
  std::vector<token_choice> tokens;
  token_usage usage;
  std::optional<finish_reason> finish;
  std::string stop_reason;
  std::optional<payload_head> audio;
};
/// The head of one of the media of a prompt; its samples, then its pixels, follow the message.
struct medium_head {
  request_id request;
  std::int32_t attempt = 0;
  std::int64_t begin = 0;
  std::uint8_t what = 0; // media_input::kind
  std::int64_t frames = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  double frames_per_second = 0;
  std::uint64_t samples = 0;
};
struct done {
  replica_id replica;
  stage_result result;
};

template <class Inspector>
auto inspect(Inspector& f, hello& x) {
  return fields(f, x.magic, x.protocol, x.version, x.from_peer, x.token, x.identity, x.address, x.port);
}
template <class Inspector>
auto inspect(Inspector& f, refused& x) {
  return fields(f, x.slot, x.retry, x.sentence);
}
template <class Inspector>
auto inspect(Inspector& f, welcome& x) {
  return fields(f, x.token);
}
template <class Inspector>
auto inspect(Inspector& f, join& x) {
  return fields(f, x.slot, x.stage, optional_field(x.wanted), x.fingerprint, x.info);
}
template <class Inspector>
auto inspect(Inspector& f, joined& x) {
  return fields(f, x.slot, x.replica);
}
template <class Inspector>
auto inspect(Inspector& f, serving& x) {
  return fields(f, x.replica);
}
template <class Inspector>
auto inspect(Inspector& f, retired& x) {
  return fields(f, x.replica);
}
template <class Inspector>
auto inspect(Inspector& f, failed& x) {
  return fields(f, x.replica, x.problem);
}
template <class Inspector>
auto inspect(Inspector& f, next_place& x) {
  return fields(f, x.is_head, x.identity, x.address, x.port);
}
template <class Inspector>
auto inspect(Inspector& f, open& x) {
  return fields(f, x.replica, x.task, x.age, x.next_stage, x.next_replica, optional_field(x.next), x.media);
}
template <class Inspector>
auto inspect(Inspector& f, abort& x) {
  return fields(f, x.id);
}
template <class Inspector>
auto inspect(Inspector& f, credit& x) {
  return fields(f, x.taken);
}
template <class Inspector>
auto inspect(Inspector& f, payload_head& x) {
  return fields(f, x.what, x.type, x.rows, x.width, x.sample_rate, x.ends_segment);
}
template <class Inspector>
auto inspect(Inspector& f, piece& x) {
  return fields(f, x.request, x.attempt, x.from_stage, x.from_replica, x.number, x.end, optional_field(x.data));
}
template <class Inspector>
auto inspect(Inspector& f, answer& x) {
  return fields(f, x.request, x.attempt, x.choice, x.kind, x.text, x.tokens, x.usage, optional_field(x.finish),
                x.stop_reason, optional_field(x.audio));
}
template <class Inspector>
auto inspect(Inspector& f, medium_head& x) {
  return fields(f, x.request, x.attempt, x.begin, x.what, x.frames, x.height, x.width, x.frames_per_second, x.samples);
}
template <class Inspector>
auto inspect(Inspector& f, done& x) {
  return fields(f, x.replica, x.result);
}

inline constexpr std::size_t length_bytes = sizeof(std::uint32_t);

/// The beginning of a frame, with room for a body, and its end: the length is known then.
bytes begin_frame(frame_kind kind, std::size_t body_bytes);
void end_frame(bytes& frame);

/// A whole frame.
template <class T>
bytes frame_of(frame_kind kind, T what) {
  auto out = begin_frame(kind, sizeof(T));
  wire_writer writer(out);
  writer(what);
  end_frame(out);
  return out;
}
/// A frame without a body.
bytes frame_of(frame_kind kind);

/// One of the media of a request's prompt.
struct request_medium {
  request_id request;
  std::int32_t attempt = 0;
  placed_media medium;
};

// Bulk messages, whole. Pieces, answers and media end with their content.
bytes bulk_of(const chunk& what);
bytes bulk_of(const answer_piece& what);
bytes bulk_of(const done& what);
bytes bulk_of(const engine_report& what);
bytes bulk_of(const request_medium& what);

/// The pieces of a bulk message without its kind; nothing if it is malformed. `chunk::sent` is left to the caller.
std::optional<chunk> read_piece(std::span<const char> body);
std::optional<answer_piece> read_answer(std::span<const char> body);
std::optional<request_medium> read_medium(std::span<const char> body);

} // namespace omni::net

namespace omni {

template <class Inspector>
auto inspect(Inspector& f, token_choice& x) {
  return fields(f, x.id, x.logprob, x.top);
}
template <class Inspector>
auto inspect(Inspector& f, token_usage& x) {
  return fields(f, x.prompt_tokens, x.cached_tokens, x.completion_tokens);
}

} // namespace omni
