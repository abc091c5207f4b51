#pragma once

#include "messages/observations.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Every family that a page can show: the only place with metric names. Meanings, units and labels for readers:
/// docs/metrics.md.
namespace omni {

enum class family_kind : std::uint8_t {
  counter,
  gauge,
  histogram,
  summary, // count and sum
};

/// The labels that all series of a family share, before its own.
enum class family_scope : std::uint8_t {
  none,
  model,       // model_name
  engine,      // model_name and the engine (see label_scheme)
  engine_only, // the engine without model_name
};

/// Families that appear on the page together.
enum class family_group : std::uint8_t {
  process,
  pipeline,     // vllm_omni: families, from the start
  speculation,  // with the first engine that drafts tokens
  engine,       // with the first engine
  cache_config, // with the first engine that has a KV cache
  health,       // with the first word about an engine's health
  own,          // not known to vLLM
  http,
};

/// In the order of the page.
enum class family_id : std::uint8_t {
  process_virtual_memory_bytes,
  process_resident_memory_bytes,
  process_start_time_seconds,
  process_cpu_seconds_total,
  process_open_fds,
  process_max_fds,

  omni_requests_running,
  omni_requests_waiting,
  omni_requests_success,
  omni_e2e_latency,
  omni_prompt_tokens,
  omni_generation_tokens,
  omni_stage_gen_time,
  omni_queue_wait,
  omni_stage_waiting,
  omni_inference_steps,
  omni_image_count,
  omni_image_pixels,
  omni_peak_memory,
  omni_stage_in_queue,
  omni_requests_failed,
  omni_kv_wait,
  omni_audio_ttfp,
  omni_audio_duration,
  omni_audio_rtf,
  omni_audio_frames,
  omni_audio_underrun,
  omni_audio_continuity_ok,
  omni_audio_skipped,
  omni_speech_aborted,
  omni_speech_completed,
  omni_diffusion_exec,
  omni_diffusion_exec_per_step,
  omni_diffusion_preprocess,
  omni_diffusion_postprocess,
  omni_vae_decode,
  omni_diffusion_forward,
  omni_diffusion_kv_load,
  omni_image_ttfp,
  omni_denoise_step,
  omni_transfer_size,
  omni_transfer_tx,
  omni_transfer_rx,
  omni_transfer_in_flight,

  spec_drafts,
  spec_draft_tokens,
  spec_accepted_tokens,
  spec_accepted_per_position,

  estimated_flops,
  estimated_read_bytes,
  estimated_write_bytes,
  requests_running,
  requests_waiting,
  requests_waiting_by_reason,
  engine_sleep_state,
  kv_cache_usage,
  prefix_cache_queries,
  prefix_cache_hits,
  external_cache_queries,
  external_cache_hits,
  mm_cache_queries,
  mm_cache_hits,
  preemptions,
  prompt_tokens,
  prompt_tokens_by_source,
  prompt_tokens_cached,
  prompt_tokens_cached_by_source,
  generation_tokens,
  request_success,
  admission_rejections,
  request_prompt_tokens,
  request_generation_tokens,
  iteration_tokens,
  request_max_generation_tokens,
  request_params_n,
  request_params_max_tokens,
  time_to_first_token,
  inter_token_latency,
  request_time_per_output_token,
  e2e_request_latency,
  request_queue_time,
  request_inference_time,
  request_prefill_time,
  request_decode_time,
  request_num_preemptions,
  request_prefill_computed_tokens,
  cache_config_info,
  engine_healthy,

  bad_values,

  http_requests,
  http_request_size,
  http_response_size,
  http_duration_highr,
  http_duration,
};

/// One row of the table.
struct family {
  family_id id;
  std::string_view name; // as its HELP and TYPE lines have it
  family_kind kind;
  family_scope scope;
  family_group group;
  bucket_list buckets; // histograms
  std::string_view help;

  /// Whether a block of `_created` lines follows its samples.
  [[nodiscard]] constexpr bool has_created() const {
    return kind != family_kind::gauge && group != family_group::process;
  }
};

/// All families, in the order of the page; the index of a row is its `id`.
[[nodiscard]] std::span<const family> all_families();
[[nodiscard]] const family& family_of(family_id id);

/// What other programs read as a label: the values of `source`, `reason`, ... in the order of the page.
inline constexpr std::string_view finish_reason_labels[] = {"stop", "length", "abort", "error", "repetition"};
inline constexpr std::string_view waiting_reason_labels[] = {"capacity", "deferred"};
inline constexpr std::string_view sleep_state_labels[] = {"awake", "weights_offloaded", "discard_all"};
inline constexpr std::string_view prompt_source_labels[] = {"local_compute", "local_cache_hit", "external_kv_transfer"};
inline constexpr std::string_view cached_source_labels[] = {"device", "host", "p2p", "disk", "external_unspecified"};
inline constexpr std::string_view rejection_labels[] = {"max_num_queued_reqs", "max_num_queued_tokens"};
inline constexpr std::string_view failure_labels[] = {"client_abort", "client_disconnect", "stage_error", "unknown"};
inline constexpr std::string_view speech_abort_labels[] = {"cancelled", "closed", "engine_dead", "error"};
inline constexpr std::string_view bad_value_labels[] = {"negative", "not_finite", "clock_back", "unknown_engine",
                                                        "malformed"};

} // namespace omni
