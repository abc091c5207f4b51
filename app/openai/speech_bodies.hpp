#pragma once

#include "app/openai/answer_body.hpp"
#include "app/openai/sound.hpp"
#include "app/openai/speech_request.hpp"

#include <memory>
#include <string>

namespace omni::openai {

/// How much a speech answer counts: input tokens of the text, output tokens are the voice's frames.
class speech_usage {
public:
  explicit speech_usage(const speech_request& asked) : asked_(asked) {}
  void on_output(const output& piece);
  [[nodiscard]] std::int64_t output_tokens() const;
  [[nodiscard]] json object() const;

private:
  const speech_request& asked_;
  std::int64_t samples_ = 0;
};

/// The sound as one body, with vLLM-Omni's usage headers.
class whole_speech final : public whole_body {
public:
  explicit whole_speech(std::shared_ptr<const speech_request> asked);
  void on_output(const output& piece, std::int64_t now_us) override;
  [[nodiscard]] http::response whole() const override;

private:
  std::shared_ptr<const speech_request> asked_;
  speech_usage usage_;
  std::string pcm_;
  audio::sound_format shape_;
};

/// The sound's bytes as they come; a WAV header once, before the first.
class speech_bytes final : public stream_body {
public:
  explicit speech_bytes(std::shared_ptr<const speech_request> asked);
  [[nodiscard]] http::response head() const override;
  void on_output(const output& piece, std::int64_t now_us, std::string& out) override;
  void on_end(std::string& out) override;
  bool on_failure(const failure& problem, std::string& out) override;

private:
  std::shared_ptr<const speech_request> asked_;
  sound_track track_;
};

/// Server-sent events speech.audio.delta ... speech.audio.done.
class speech_events final : public stream_body {
public:
  explicit speech_events(std::shared_ptr<const speech_request> asked);
  [[nodiscard]] http::response head() const override;
  void on_output(const output& piece, std::int64_t now_us, std::string& out) override;
  void on_end(std::string& out) override;
  bool on_failure(const failure& problem, std::string& out) override;

private:
  std::shared_ptr<const speech_request> asked_;
  speech_usage usage_;
  sound_track track_;
};

} // namespace omni::openai
