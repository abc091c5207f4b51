#pragma once

#include "app/http/message.hpp"
#include "messages/errc.hpp"
#include "messages/output.hpp"

#include <cstdint>
#include <string>

namespace omni::openai {

// How the outputs of one request become bytes of its answer. Called as a sink is: one call at a time, on the engine's
// threads. `now_us` is on the clock of the start time that the maker was given.

/// An answer that goes out piece by piece.
class stream_body {
public:
  virtual ~stream_body() = default;
  /// Status and headers, sent before the first bytes.
  [[nodiscard]] virtual http::response head() const = 0;
  /// Appends what one output makes of it; nothing is fine.
  virtual void on_output(const output& piece, std::int64_t now_us, std::string& out) = 0;
  /// Appends what is left to say when all outputs came.
  virtual void on_end(std::string& out) = 0;
  /// Appends how the format tells a failure after its first bytes; false if it cannot, and then the body is cut off.
  virtual bool on_failure(const failure& problem, std::string& out) = 0;
};

/// An answer that goes out at once, when all outputs came.
class whole_body {
public:
  virtual ~whole_body() = default;
  virtual void on_output(const output& piece, std::int64_t now_us) = 0;
  [[nodiscard]] virtual http::response whole() const = 0;
};

} // namespace omni::openai
