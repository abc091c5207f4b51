#pragma once

#include "app/openai/answer_body.hpp"
#include "app/openai/chat_parts.hpp"
#include "app/openai/sound.hpp"

#include <memory>
#include <optional>
#include <string>

namespace omni::openai {

/// OpenAI's shape for chat with sound: `delta.audio` with `id` (once, first), `transcript`, `data` and `expires_at`
/// (once, last). The base64 pieces of `data` joined as text are one base64 text, which decodes to one WAV file or to
/// plain PCM.
class openai_events final : public stream_body {
public:
  explicit openai_events(std::shared_ptr<const chat_request> asked);
  [[nodiscard]] http::response head() const override;
  void on_output(const output& piece, std::int64_t now_us, std::string& out) override;
  void on_end(std::string& out) override;
  bool on_failure(const failure& problem, std::string& out) override;

private:
  /// A chunk with `delta`, after the role if it is the first; an empty delta is the last chunk and carries the finish
  /// reason.
  void append_delta(json delta, json logprobs, std::string& out);
  void append_chunk(json delta, json logprobs, json reason, json usage, std::string& out) const;
  /// The first `bytes` of what is held back.
  void append_sound(std::size_t bytes, std::string& out);
  /// `delta.audio` to fill; the id is in the first one only, as clients join strings of the same name.
  json audio_delta();

  std::shared_ptr<const chat_request> asked_;
  sound_track track_;
  usage_count usage_;
  bool begun_ = false;
  bool id_sent_ = false;
  std::string held_back_; // bytes that do not fill three yet
  std::optional<finish_reason> text_reason_;
  std::optional<finish_reason> audio_reason_;
};

} // namespace omni::openai
