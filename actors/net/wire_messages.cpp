#include "actors/net/wire_messages.hpp"

#include <cstring>

namespace omni::net {
namespace {

template <class T>
bytes message_of(bulk_kind kind, T& head) {
  bytes out;
  wire_writer writer(out);
  auto code = std::uint8_t(kind);
  writer(code, head);
  return out;
}

payload_head head_of(const payload& data) {
  return {data.what, data.type, data.rows, data.width, data.sample_rate, data.ends_segment};
}

void append_content(bytes& to, const payload& data) {
  wire_writer writer(to);
  if (data.what == payload::kind::text) {
    writer.raw(data.text.data(), data.text.size());
  } else {
    writer.raw(data.bytes.data(), data.bytes.size());
  }
}

/// Bytes of the rows that a head speaks of; nothing if such rows cannot be.
std::optional<std::uint64_t> content_bytes(const payload_head& head) {
  if (head.rows < 0 || head.width < 0) return std::nullopt;
  constexpr std::int64_t most = std::int64_t(most_message);
  if (head.rows > most || head.width > most || head.width % info(head.type).block_values != 0) return std::nullopt;
  const auto row = std::uint64_t(row_bytes(head.type, head.width));
  if (head.rows > 0 && row > most_message / std::uint64_t(head.rows)) return std::nullopt;
  return row * std::uint64_t(head.rows);
}

std::shared_ptr<const payload> read_content(const payload_head& head, std::span<const char> content) {
  auto data = std::make_shared<payload>();
  data->what = head.what;
  data->type = head.type;
  data->rows = head.rows;
  data->width = head.width;
  data->sample_rate = head.sample_rate;
  data->ends_segment = head.ends_segment;
  if (head.what == payload::kind::text) {
    data->text.assign(content.data(), content.size());
    return data;
  }
  if (content_bytes(head) != content.size()) return nullptr;
  const auto* first = reinterpret_cast<const std::byte*>(content.data());
  data->bytes.assign(first, first + content.size());
  return data;
}

/// The payload after a message, if `head` says that there is one; false if what follows does not fit.
bool read_payload(const std::optional<payload_head>& head, std::span<const char> content,
                  std::shared_ptr<const payload>& into) {
  if (!head) return content.empty();
  into = read_content(*head, content);
  return into != nullptr;
}

} // namespace

bytes begin_frame(frame_kind kind, std::size_t body_bytes) {
  bytes out;
  out.reserve(length_bytes + 1 + body_bytes);
  std::uint32_t unknown = 0;
  auto code = std::uint8_t(kind);
  wire_writer writer(out);
  writer(unknown, code);
  return out;
}

void end_frame(bytes& frame) {
  const auto length = std::uint32_t(frame.size() - length_bytes);
  std::memcpy(frame.data(), &length, length_bytes);
}

bytes frame_of(frame_kind kind) {
  auto out = begin_frame(kind, 0);
  end_frame(out);
  return out;
}

bytes bulk_of(const chunk& what) {
  piece head{what.request, what.attempt, what.from_stage, what.from_replica, what.number, what.end, {}};
  if (what.data) head.data = head_of(*what.data);
  auto out = message_of(bulk_kind::piece, head);
  if (what.data) append_content(out, *what.data);
  return out;
}

bytes bulk_of(const answer_piece& what) {
  const auto& one = what.what;
  answer head{one.request, what.attempt, one.choice, one.kind,        one.text,
              one.tokens,  one.usage,    one.finish, one.stop_reason, {}};
  if (one.audio) head.audio = head_of(*one.audio);
  auto out = message_of(bulk_kind::answer, head);
  if (one.audio) append_content(out, *one.audio);
  return out;
}

bytes bulk_of(const done& what) {
  auto copy = what;
  return message_of(bulk_kind::done, copy);
}

bytes bulk_of(const engine_report& what) {
  auto copy = what;
  return message_of(bulk_kind::report, copy);
}

bytes bulk_of(const request_medium& what) {
  const auto& one = *what.medium.what;
  medium_head head{what.request, what.attempt, what.medium.begin,     std::uint8_t(one.what), one.frames,
                   one.height,   one.width,    one.frames_per_second, one.samples.size()};
  auto out = message_of(bulk_kind::medium, head);
  wire_writer writer(out);
  writer.raw(one.samples.data(), std::span(one.samples).size_bytes());
  writer.raw(one.rgb.data(), one.rgb.size());
  return out;
}

std::optional<request_medium> read_medium(std::span<const char> body) {
  wire_reader reader(body);
  medium_head head;
  reader(head);
  if (!reader.good() || head.what > std::uint8_t(media_input::kind::video)) return std::nullopt;
  const auto content = reader.left();
  if (head.samples > content.size() / sizeof(float)) return std::nullopt;
  auto made = std::make_shared<media_input>();
  made->what = media_input::kind(head.what);
  made->frames = head.frames;
  made->height = head.height;
  made->width = head.width;
  made->frames_per_second = head.frames_per_second;
  made->samples.resize(std::size_t(head.samples));
  const auto sound = content.first(std::span(made->samples).size_bytes());
  if (!sound.empty()) std::memcpy(made->samples.data(), sound.data(), sound.size());
  const auto pixels = content.subspan(sound.size());
  made->rgb.assign(pixels.begin(), pixels.end());
  return request_medium{head.request, head.attempt, {std::move(made), head.begin}};
}

std::optional<chunk> read_piece(std::span<const char> body) {
  wire_reader reader(body);
  piece head;
  reader(head);
  chunk out{head.request, head.attempt, head.from_stage, head.from_replica, head.number, nullptr, head.end, 0};
  if (!reader.good() || !read_payload(head.data, reader.left(), out.data)) return std::nullopt;
  return out;
}

std::optional<answer_piece> read_answer(std::span<const char> body) {
  wire_reader reader(body);
  answer head;
  reader(head);
  answer_piece out;
  out.attempt = head.attempt;
  out.what.request = head.request;
  out.what.choice = head.choice;
  out.what.kind = head.kind;
  out.what.text = std::move(head.text);
  out.what.tokens = std::move(head.tokens);
  out.what.usage = head.usage;
  out.what.finish = head.finish;
  out.what.stop_reason = std::move(head.stop_reason);
  if (!reader.good() || !read_payload(head.audio, reader.left(), out.what.audio)) return std::nullopt;
  return out;
}

} // namespace omni::net
