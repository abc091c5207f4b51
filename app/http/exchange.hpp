#pragma once

#include "app/http/responder.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace omni::http {

/// The shared half of one request's answer: engine threads fill it, the connection empties it on the I/O thread. Its
/// mutex is held for a copy of bytes at most.
class exchange final : public responder, public stream_writer, public std::enable_shared_from_this<exchange> {
public:
  /// How the exchange asks the I/O thread for attention. Called from any thread; each call returns at once.
  class channel {
  public:
    virtual ~channel() = default;
    virtual void send(response whole) = 0;        // the whole answer
    virtual void begin_stream(response head) = 0; // status, headers and first bytes of a stream
    virtual void flush() = 0;                     // bytes or the end wait in the exchange
    virtual void cut() = 0;                       // close the connection now
  };
  exchange(std::unique_ptr<channel> to_connection, std::size_t stream_bytes, response when_dropped);
  /// What the handler gets. Once the last copy (and the last writer) is gone nobody can answer any more, so a missing
  /// answer becomes `when_dropped` and an open stream is cut. Call it once.
  std::shared_ptr<responder> open_handle();

  void send(response what) override;
  std::shared_ptr<stream_writer> stream(response head) override;
  void on_close(std::function<void()> gone) override;
  bool write(std::string_view bytes) override;
  void finish() override;
  void abandon() override;

  // For the connection, on the I/O thread:

  enum class progress { more, idle, ended };
  /// Moves what waits into `out` (emptied first). `idle`: nothing now, `flush` is called when there is. `ended`:
  /// nothing ever.
  progress take(std::string& out);
  /// The answer was sent whole: `on_close` will not be called any more.
  void complete();
  /// The client is gone: calls `on_close`.
  void client_gone();

private:
  enum class phase { unanswered, answered, streaming, closed };
  void dropped();

  const std::unique_ptr<channel> to_connection_;
  std::weak_ptr<responder> handle_;
  const std::size_t stream_bytes_;
  response when_dropped_;
  std::mutex mutex_; // guards all below
  phase phase_ = phase::unanswered;
  bool finished_ = false;    // no more bytes will come
  bool flush_asked_ = false; // the I/O thread knows that there is something, or is busy sending
  bool client_gone_ = false;
  std::string waiting_;
  std::function<void()> gone_;
};

} // namespace omni::http
