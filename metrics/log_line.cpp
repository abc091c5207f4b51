#include "metrics/log_line.hpp"

#include "metrics/fixed.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace omni {
namespace {

constexpr std::int64_t window_requests = 1000;

// A report from another process may hold anything; sums of what is below this cannot overflow.
constexpr std::int64_t most = std::int64_t{1} << 40;

bool is_sensible(std::int64_t count) { return count >= 0 && count <= most; }

bool is_sensible(const speculation_counts& x) {
  return is_sensible(x.drafts) && is_sensible(x.draft_tokens) && is_sensible(x.accepted_tokens) &&
         std::all_of(x.accepted_at.begin(), x.accepted_at.end(), [](std::int64_t n) { return is_sensible(n); });
}

std::string percent(double fraction) { return fixed(fraction * 100, 1) + "%"; }

std::string engine_prefix(std::int32_t engine) {
  const std::string digits = std::to_string(engine);
  return "Engine " + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits + ": ";
}

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

double amount(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double ratio(double part, double whole) { return whole > 0 ? part / whole : std::nan(""); }

std::string speculation_line(const speculation_counts& x, double seconds) {
  std::string positions;
  for (const std::int64_t accepted : x.accepted_at) {
    if (!positions.empty()) positions += ", ";
    positions += fixed(ratio(double(accepted), double(x.drafts)), 3);
  }
  return "SpecDecoding metrics: Mean acceptance length: " +
         fixed(1 + ratio(double(x.accepted_tokens), double(x.drafts)), 2) +
         ", Accepted throughput: " + fixed(per_second(double(x.accepted_tokens), seconds), 2) +
         " tokens/s, Drafted throughput: " + fixed(per_second(double(x.draft_tokens), seconds), 2) +
         " tokens/s, Accepted: " + std::to_string(x.accepted_tokens) +
         " tokens, Drafted: " + std::to_string(x.draft_tokens) + " tokens, Per-position acceptance rate: " + positions +
         ", Avg Draft acceptance rate: " + percent(ratio(double(x.accepted_tokens), double(x.draft_tokens)));
}

std::string work_line(const work_estimate& x, double seconds) {
  return "MFU: " + fixed(per_second(x.flops, seconds) / 1e12, 1) + " TF/s/device " +
         fixed(per_second(x.read_bytes + x.write_bytes, seconds) / 1e9, 1) + " GB/s/device";
}

} // namespace

void hit_window::add(const cache_counts& more) {
  if (more.requests == 0 || !is_sensible(more.requests) || !is_sensible(more.queries) || !is_sensible(more.hits))
    return;
  recent_.push_back(more);
  total_.merge(more);
  while (recent_.size() > 1 && total_.requests > window_requests) {
    const cache_counts& oldest = recent_.front();
    total_.merge({-oldest.requests, -oldest.queries, -oldest.hits});
    recent_.pop_front();
  }
}

double hit_window::rate() const { return total_.queries > 0 ? double(total_.hits) / double(total_.queries) : 0; }

engine_log::engine_log(std::int32_t engine, std::string device, stage_unit unit, double now_s)
    : prefix_(engine_prefix(engine)), device_(std::move(device)), unit_(unit), since_s_(now_s) {}

void engine_log::record(const engine_report& report) {
  if (report.scheduler && !gone_) load_ = *report.scheduler;
  prefix_cache_.add(report.prefix_cache);
  external_cache_.add(report.external_prefix_cache);
  mm_cache_.add(report.mm_cache);
  current_.prompt_tokens += amount(double(report.prompt.computed));
  current_.generation_tokens += amount(double(report.generation_tokens));
  current_.units += amount(report.units);
  current_.preemptions += std::clamp<std::int64_t>(report.preemptions, 0, most);
  if (report.speculation && is_sensible(*report.speculation)) current_.speculation.merge(*report.speculation);
  if (report.work) current_.work.merge(*report.work);
}

std::string engine_log::main_line(const rates& now) const {
  std::string line = prefix_ + "Avg prompt throughput: " + fixed(now.prompt, 1) + " tokens/s" +
                     ", Avg generation throughput: " + fixed(now.generation, 1) + " tokens/s" +
                     ", Running: " + std::to_string(load_.running) + " reqs" +
                     ", Waiting: " + std::to_string(std::int64_t{load_.waiting} + load_.deferred) + " reqs";
  if (load_.deferred > 0) line += ", Deferred: " + std::to_string(load_.deferred) + " reqs";
  const auto& fetch = load_.kv_fetch;
  if (std::any_of(fetch.begin(), fetch.end(), [](std::int32_t count) { return count > 0; }))
    line += ", KV fetch: " + std::to_string(fetch[0]) + " waiting to start, " + std::to_string(fetch[1]) +
            " in progress, " + std::to_string(fetch[2]) + " completed waiting";
  if (current_.preemptions > 0) line += ", Preemptions: " + std::to_string(current_.preemptions);
  line += ", " + device_ + " KV cache usage: " + percent(load_.kv_cache_usage);
  if (!prefix_cache_.empty()) line += ", Prefix cache hit rate: " + percent(prefix_cache_.rate());
  if (!external_cache_.empty()) line += ", External prefix cache hit rate: " + percent(external_cache_.rate());
  if (!mm_cache_.empty()) line += ", MM cache hit rate: " + percent(mm_cache_.rate());
  // Ours come after all that vLLM prints, so its parsers find their parts where they expect them.
  if (unit_ == stage_unit::frames) line += ", Avg frame throughput: " + fixed(now.units, 1) + " frames/s";
  if (unit_ == stage_unit::audio_seconds) line += ", Avg audio throughput: " + fixed(now.units, 1) + " audio seconds/s";
  return line;
}

std::vector<log_line> engine_log::log(double now_s) {
  const double seconds = now_s - since_s_;
  const rates now{per_second(current_.prompt_tokens, seconds), per_second(current_.generation_tokens, seconds),
                  per_second(current_.units, seconds)};
  const bool idle = now.nothing() && last_.nothing();
  std::vector<log_line> lines{{idle, main_line(now)}};
  if (current_.speculation.drafts > 0) lines.push_back({idle, speculation_line(current_.speculation, seconds)});
  const work_estimate& work = current_.work;
  if (work.flops > 0 || work.read_bytes > 0 || work.write_bytes > 0)
    lines.push_back({idle, prefix_ + work_line(work, seconds)});
  // Only now: what the lines say must still be there when they are built, and an empty interval is over as well.
  current_ = {};
  last_ = now;
  since_s_ = now_s;
  return lines;
}

std::vector<log_line> engine_log::cache_known(std::int64_t blocks) const {
  if (blocks <= 0) return {};
  constexpr std::string_view text = "vllm cache_config_info with initialization after num_gpu_blocks is: ";
  return {{true, prefix_ + std::string(text) + std::to_string(blocks)}};
}

} // namespace omni
