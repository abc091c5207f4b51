#pragma once

#include "app/openai/answer_body.hpp"
#include "app/openai/chat_parts.hpp"
#include "app/openai/sound.hpp"
#include "app/openai/stage_watch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::openai {

/// Collects the outputs of one chat request that is answered whole.
class chat_answer final : public whole_body {
public:
  chat_answer(std::shared_ptr<const chat_request> asked, std::int64_t start_us);
  void on_output(const output& piece, std::int64_t now_us) override;
  /// The `chat.completion` object.
  [[nodiscard]] http::response whole() const override;

private:
  struct choice_state {
    std::string text;
    std::vector<token_choice> tokens; // kept only if somebody will read them
    std::optional<finish_reason> text_reason;
    std::optional<finish_reason> audio_reason;
    std::string stop_reason;
  };
  [[nodiscard]] json choice(std::size_t index) const;
  [[nodiscard]] json audio_object() const;

  std::shared_ptr<const chat_request> asked_;
  usage_count usage_;
  stage_watch watch_;
  std::vector<choice_state> choices_;
  std::string pcm_; // of the only choice when sound is asked for
  audio::sound_format shape_;
};

} // namespace omni::openai
