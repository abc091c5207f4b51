#pragma once

#include "app/openai/answer_body.hpp"
#include "app/openai/chat_parts.hpp"
#include "app/openai/stage_watch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::openai {

/// vLLM-Omni's shape: OpenAI's chunks with `modality` and `metrics` beside them, sound as a whole WAV file in
/// `delta.content`, `finish_reason` only where the last modality ends. Field order and presence as there.
class omni_events final : public stream_body {
public:
  omni_events(std::shared_ptr<const chat_request> asked, std::int64_t start_us);
  [[nodiscard]] http::response head() const override;
  void on_output(const output& piece, std::int64_t now_us, std::string& out) override;
  void on_end(std::string& out) override;
  bool on_failure(const failure& problem, std::string& out) override;

private:
  struct choice_state {
    bool text_open;
    bool audio_open;
    bool finished = false; // its finish_reason was sent
    std::optional<finish_reason> text_reason{};
    std::optional<finish_reason> audio_reason{};
  };
  void append_roles(std::string& out);
  void append_text(const output& piece, std::string& out);
  void append_audio(const output& piece, std::string& out);
  /// The reason to send with the piece that ends a modality: null while another is still open.
  json finish_of(choice_state& choice);

  std::shared_ptr<const chat_request> asked_;
  usage_count usage_;
  stage_watch watch_;
  std::vector<choice_state> choices_;
  bool roles_sent_ = false;
};

} // namespace omni::openai
