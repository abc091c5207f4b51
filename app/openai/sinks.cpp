#include "app/openai/sinks.hpp"

#include "app/openai/errors.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace omni::openai {
namespace {

class stream_sink final : public sink {
public:
  stream_sink(std::unique_ptr<stream_body> body, std::shared_ptr<http::responder> to)
      : body_(std::move(body)), to_(std::move(to)) {}

  void on_output(const output& piece) override {
    std::string bytes;
    body_->on_output(piece, now_us(), bytes);
    send(bytes);
  }

  void on_end(const std::optional<failure>& problem) override {
    if (problem && !out_) return to_->send(error_response(*problem));
    std::string bytes;
    if (problem && !body_->on_failure(*problem, bytes)) return out_->abandon();
    if (!problem) {
      body_->on_end(bytes);
      open();
    }
    send(bytes);
    out_->finish();
  }

private:
  void open() {
    if (!out_) out_ = to_->stream(body_->head());
  }
  void send(const std::string& bytes) {
    if (bytes.empty()) return;
    open();
    out_->write(bytes); // a closed stream aborts the request through on_close
  }

  std::unique_ptr<stream_body> body_;
  std::shared_ptr<http::responder> to_;
  std::shared_ptr<http::stream_writer> out_;
};

/// Keeps the outputs until the end: if a replica is lost, its client has none of them, and they are made anew.
class whole_sink final : public sink {
public:
  whole_sink(std::unique_ptr<whole_body> body, std::shared_ptr<http::responder> to)
      : body_(std::move(body)), to_(std::move(to)) {}
  void on_output(const output& piece) override { outputs_.emplace_back(piece, now_us()); }
  bool take_back() override {
    outputs_.clear();
    return true;
  }
  void on_end(const std::optional<failure>& problem) override {
    if (problem) return to_->send(error_response(*problem));
    for (const auto& [piece, came] : outputs_) body_->on_output(piece, came);
    to_->send(body_->whole());
  }

private:
  std::unique_ptr<whole_body> body_;
  std::vector<std::pair<output, std::int64_t>> outputs_; // and when they came
  std::shared_ptr<http::responder> to_;
};

void submit(engine& running, request work, std::shared_ptr<sink> outputs, const std::shared_ptr<http::responder>& to) {
  const auto id = running.submit(std::move(work), std::move(outputs));
  if (!id) return to->send(error_response(id.error()));
  to->on_close([&running, id = *id] { running.abort(id, true); });
}

} // namespace

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void answer_streamed(engine& running, request work, std::unique_ptr<stream_body> body,
                     std::shared_ptr<http::responder> to) {
  submit(running, std::move(work), std::make_shared<stream_sink>(std::move(body), to), to);
}

void answer_whole(engine& running, request work, std::unique_ptr<whole_body> body,
                  std::shared_ptr<http::responder> to) {
  submit(running, std::move(work), std::make_shared<whole_sink>(std::move(body), to), to);
}

} // namespace omni::openai
