#pragma once

#include "actors/engine.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace omni::test {

/// Keeps what a request's sink is told. Thread safe, so a test's thread can wait for the end.
class recording_sink : public sink {
public:
  void on_output(const output& piece) override {
    const std::lock_guard lock(mutex_);
    late_ += ends_ > 0;
    ++pieces_;
    if (piece.kind == modality::text) text_[piece.choice] += piece.text;
    cached_tokens_ = std::max(cached_tokens_, piece.usage.cached_tokens);
    for (const auto& token : piece.tokens) tokens_[piece.choice].push_back(token.id);
    if (piece.audio) sound_.insert(sound_.end(), piece.audio->f32(), piece.audio->f32() + piece.audio->rows);
    if (piece.finish) finishes_.emplace_back(piece.kind, *piece.finish);
    changed_.notify_all();
  }
  bool take_back() override {
    const std::lock_guard lock(mutex_);
    if (!takes_back) return false;
    text_.clear(), tokens_.clear(), sound_.clear(), finishes_.clear();
    return true;
  }
  void on_end(const std::optional<failure>& problem) override {
    const std::lock_guard lock(mutex_);
    ++ends_;
    problem_ = problem;
    changed_.notify_all();
  }

  /// Blocks the test's thread until the request has ended, or has said something.
  void wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ends_ > 0; });
  }
  void wait_for_output() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return pieces_ > 0 || ends_ > 0; });
  }

  bool takes_back = false; // set it before the request is handed in

  [[nodiscard]] int ends() const { return locked(ends_); }
  [[nodiscard]] int pieces() const { return locked(pieces_); }
  /// Outputs that came after the end; must be 0.
  [[nodiscard]] int late() const { return locked(late_); }
  [[nodiscard]] std::optional<failure> problem() const { return locked(problem_); }
  [[nodiscard]] std::optional<errc> code() const {
    const auto found = problem();
    return found ? std::optional(found->code) : std::nullopt;
  }
  [[nodiscard]] std::string text(std::int32_t choice = 0) const { return locked(text_)[choice]; }
  [[nodiscard]] std::vector<std::int32_t> tokens(std::int32_t choice = 0) const { return locked(tokens_)[choice]; }
  /// Of the prompt, that were found in the cache.
  [[nodiscard]] std::int32_t cached_tokens() const { return locked(cached_tokens_); }
  [[nodiscard]] std::vector<float> sound() const { return locked(sound_); }
  [[nodiscard]] std::vector<std::pair<modality, finish_reason>> finishes() const { return locked(finishes_); }

private:
  template <class T>
  T locked(const T& member) const {
    const std::lock_guard lock(mutex_);
    return member;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int ends_ = 0;
  int pieces_ = 0;
  int late_ = 0;
  std::int32_t cached_tokens_ = 0;
  std::optional<failure> problem_;
  std::map<std::int32_t, std::string> text_;
  std::map<std::int32_t, std::vector<std::int32_t>> tokens_;
  std::vector<float> sound_;
  std::vector<std::pair<modality, finish_reason>> finishes_;
};

} // namespace omni::test
