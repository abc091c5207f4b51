#pragma once

#include <chrono>
#include <cstddef>

namespace omni::http {

/// What one client, and all of them together, may take. Whoever goes beyond is answered with the status named here, or
/// is cut off where no answer is possible.
struct limits {
  std::size_t header_bytes = 32 * 1024;             // request line and headers: 431
  std::size_t body_bytes = 16 * 1024 * 1024;        // one body: 413
  std::size_t bodies_bytes = 256 * 1024 * 1024;     // bodies of all requests being read: 503
  std::size_t stream_bytes = 8 * 1024 * 1024;       // written to a stream but not yet taken by the client: cut off
  std::size_t max_connections = 1024;               // one more: 503
  std::chrono::milliseconds idle_timeout{75'000};   // between requests: closed
  std::chrono::milliseconds header_timeout{30'000}; // from the first byte of a request to the end of its headers: 408
  std::chrono::milliseconds body_timeout{120'000};  // from there to the end of the body: 408
  std::chrono::milliseconds write_timeout{60'000};  // without any byte taken by the client: cut off
  std::chrono::milliseconds linger_timeout{2'000};  // after the last answer, until the client has read it and closed
};

} // namespace omni::http
