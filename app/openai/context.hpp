#pragma once

#include "app/http/worker_pool.hpp"
#include "app/media/reader.hpp"
#include "app/openai/fields.hpp"
#include "app/openai/pipeline_facts.hpp"

#include "actors/engine.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace omni::openai {

/// Random names, e.g. "chatcmpl-" and 32 hexadecimal digits. Used by one thread.
class id_source {
public:
  std::string hex(int digits);

private:
  std::mt19937_64 random_{std::random_device{}()};
};

/// Requests whose media are fetched and decoded at once, and how many more may wait for it: one more is answered 429.
inline constexpr std::size_t media_threads = 4;
inline constexpr std::size_t max_waiting_media = 32;

/// What the endpoints share.
struct context {
  engine& running;
  std::shared_ptr<const pipeline_facts> pipeline;
  std::vector<std::string> served_names; // the first is what "default" means
  std::string version;
  std::int64_t started_s = 0;        // Unix seconds
  std::atomic<bool> draining{false}; // not ready for new requests any more
  id_source ids{};
  media::reader media{{}};
  std::function<void(std::string_view line)> log = [](std::string_view /*line*/) {}; // problems of the server itself
  http::worker_pool media_workers{media_threads, max_waiting_media, "media"};        // last: its jobs use the others
};

/// Seconds since 1970.
std::int64_t unix_seconds();

/// The name to answer with for the request's `model`: absent and "default" mean the first; another than the served ones
/// is recorded as `model_not_found`.
std::string read_model(fields& from, const std::vector<std::string>& served_names);

} // namespace omni::openai
