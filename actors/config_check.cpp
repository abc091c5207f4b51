#include "actors/config_check.hpp"

#include <cmath>
#include <string>

namespace omni {
namespace {

struct bound {
  const char* key;
  std::int64_t value;
  std::int64_t least;
  std::int64_t most;
};

expected<void> check_bound(const bound& one, const std::string& where) {
  if (one.value >= one.least && one.value <= one.most) return {};
  return fail(errc::invalid_request,
              where + one.key + " must be from " + std::to_string(one.least) + " to " + std::to_string(one.most) +
                  ", but it is " + std::to_string(one.value) + ".",
              one.key);
}

expected<void> check_stage(const stage_config& stage, std::int32_t position) {
  const std::string where = "Stage " + std::to_string(position) + ": ";
  if (stage.id.value != position)
    return fail(errc::invalid_request,
                where + "stage_id must be its position in the list, but it is " + std::to_string(stage.id.value) + ".",
                "stage_id");
  constexpr std::int64_t many = 1 << 20;
  const bound bounds[] = {
      {"num_replicas", stage.num_replicas, 0, 1024},
      {"max_num_seqs", stage.max_num_seqs, 1, 4096},
      {"max_num_batched_tokens", stage.max_num_batched_tokens, stage.max_num_seqs, many},
      {"max_model_len", stage.max_model_len, 0, std::int64_t(1) << 30},
      {"block_size", stage.block_size, 1, 1024},
      {"kv_cache_memory_bytes", stage.kv_cache_memory_bytes, 0, std::int64_t(1) << 46},
      {"max_threads", stage.max_threads, 0, 4096},
  };
  for (const auto& one : bounds)
    if (auto good = check_bound(one, where); !good) return good;
  return {};
}

} // namespace

expected<void> check_config(const engine_config& config) {
  if (config.stages.empty())
    return fail(errc::invalid_request, "The pipeline has no stages: give at least one.", "stages");
  const bound bounds[] = {
      {"threads", config.threads, 0, 4096},
      {"max_num_requests", config.max_num_requests, 1, 1 << 20},
  };
  for (const auto& one : bounds)
    if (auto good = check_bound(one, ""); !good) return good;
  if (!std::isfinite(config.dispatch_timeout_s) || config.dispatch_timeout_s < 0)
    return fail(errc::invalid_request, "dispatch_timeout_s must be a number of seconds from 0 on.",
                "dispatch_timeout_s");
  if (!std::isfinite(config.log_stats_interval_s))
    return fail(errc::invalid_request, "log_stats_interval_s must be a number of seconds.", "log_stats_interval_s");
  for (std::size_t at = 0; at < config.stages.size(); ++at)
    if (auto good = check_stage(config.stages[at], std::int32_t(at)); !good) return good;
  return {};
}

} // namespace omni
