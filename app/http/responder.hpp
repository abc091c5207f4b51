#pragma once

#include "app/http/message.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace omni::http {

/// The open body of one answer. Any thread may call; calls are short and never wait for the client. What is written
/// while an earlier piece is on its way is joined into one piece.
class stream_writer {
public:
  virtual ~stream_writer() = default;
  /// Appends bytes; false once the stream is closed (the client is gone or too slow), and then nothing happens.
  virtual bool write(std::string_view bytes) = 0;
  /// Ends the body properly.
  virtual void finish() = 0;
  /// Ends it so that the client sees an incomplete body: for failures of formats that cannot carry an error.
  virtual void abandon() = 0;
};

/// The right to answer one request, once. Any thread may call. Dropped without an answer it sends 500.
class responder {
public:
  virtual ~responder() = default;
  virtual void send(response what) = 0;
  /// Sends status and headers and opens the body; the writer stays valid as long as it is held.
  virtual std::shared_ptr<stream_writer> stream(response head) = 0;
  /// `gone` is called once if the client goes away (or is cut off) before its answer is complete: at once if that has
  /// happened already, else on the server's thread. It must not block.
  virtual void on_close(std::function<void()> gone) = 0;
};

} // namespace omni::http
