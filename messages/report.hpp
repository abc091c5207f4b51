#pragma once

#include "messages/ids.hpp"
#include "messages/observations.hpp"
#include "messages/output.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What is told to the stat logger. Plain data: a sender fills it, the exporter (metrics/exporter.hpp) counts it.
///
/// Clocks. Every duration is in seconds (double) and was measured by the sender on its own monotonic clock; two
/// machines' clocks are never subtracted. Reports carry no stamps: the stat logger notes the wall time of its own
/// clock when one arrives, for the `_created` lines only.
///
/// Growth. A report takes the same room however many are merged into it, but for `engine_report::transfers`, which has
/// at most one entry per pair of replicas.
namespace omni {

/// How a sequence ended, as vLLM's page names it; the first four are `finish_reason`, the last one is its own.
enum class finished_as : std::uint8_t { stop, length, abort, error, repetition };
inline constexpr std::size_t finish_kinds = 5;
inline finished_as to_finished_as(finish_reason reason) { return finished_as(reason); }
static_assert(std::uint8_t(finish_reason::error) == std::uint8_t(finished_as::error));

/// What a stage's output is measured in.
enum class stage_unit : std::uint8_t {
  tokens,
  frames,        // vocoder frames (a talker)
  audio_seconds, // sound (a vocoder)
};

/// Facts of one KV cache, for `vllm:cache_config_info`.
struct cache_facts {
  std::int32_t block_size = 0;       // tokens
  std::int64_t num_gpu_blocks = 0;   // blocks of the cache, on whatever device
  double gpu_memory_utilization = 0; // fraction of the device's memory that the engine may use
  std::string cache_dtype = "auto";
  bool enable_prefix_caching = false;
};

/// A replica is about to serve. Comes before its first report and before any route may choose it. Repeating it changes
/// nothing; see exporter::add_engine for what is refused.
struct register_engine {
  stage_id stage;
  replica_id replica;
  std::optional<std::int32_t> engine; // flat index; none: the next free one
  std::int32_t max_model_len = 0;     // tokens; 0: the stage has no context limit
  std::string device = "CPU";         // as the console line names it: "GPU" for CUDA, else upper case
  stage_unit unit = stage_unit::tokens;
  std::int32_t speculative_tokens = 0; // drafted per step, 0: no speculative decoding
  std::optional<cache_facts> cache;    // stages with a KV cache
};

/// A replica has left or was lost: its series and index stay, its load gauges go to 0.
struct engine_departed {
  stage_id stage;
  replica_id replica;
  std::int64_t unfinished = 0; // sequences that it worked on: they end as errors
};

/// The first one makes `vllm:engine_healthy` appear.
struct engine_health {
  stage_id stage;
  replica_id replica;
  bool healthy = true;
};

/// All engines sleep (level 1: weights offloaded, 2: all discarded), or are awake again (no level).
struct sleep_state {
  std::optional<std::int32_t> level;
};

/// Lookups in one cache. The unit of queries and hits is the cache's own: tokens (prefix) or items (multimodal).
struct cache_counts {
  std::int64_t requests = 0;
  std::int64_t queries = 0;
  std::int64_t hits = 0;
  void merge(const cache_counts& later);
};

/// The scheduler after a step.
struct scheduler_snapshot {
  std::int32_t running = 0;
  std::int32_t waiting = 0;               // for capacity
  std::int32_t deferred = 0;              // for anything else: blocked or skipped
  double kv_cache_usage = 0;              // fraction: 1 - free / usable blocks; cached but unreferenced blocks are free
  std::array<std::int32_t, 3> kv_fetch{}; // of the waiting, by remote KV load: waiting to start, in progress, completed
};

/// Where the tokens of prompts came from, booked whole at a request's first output.
struct prompt_split {
  std::int64_t computed = 0;
  std::int64_t local_cached = 0;
  std::int64_t external_cached = 0;
  [[nodiscard]] std::int64_t cached() const { return local_cached + external_cached; }
  [[nodiscard]] std::int64_t total() const { return computed + cached(); }
  void merge(const prompt_split& later);
};

/// One finished sequence of one stage, as metrics/request_timing.hpp makes it. Seconds. An interval whose start or end
/// never happened is absent.
struct finished_request {
  finished_as reason = finished_as::stop;
  std::int64_t num_prompt_tokens = 0;
  std::int64_t num_cached_tokens = 0;
  std::int64_t num_generation_tokens = 0;
  std::int32_t num_preemptions = 0;
  std::optional<std::int64_t> max_tokens;
  double e2e_latency = 0;
  std::optional<double> queued_time;
  std::optional<double> prefill_time;
  std::optional<double> decode_time;
  std::optional<double> inference_time;
  std::optional<double> mean_time_per_output_token;
  std::optional<double> time_to_first_token; // counted at the first output; here for whoever shows one request
};

/// Finished sequences, counted.
struct finished_totals {
  std::array<std::int64_t, finish_kinds> by_reason{}; // index: finished_as
  observations prompt_tokens{bucket_list::request_tokens};
  observations generation_tokens{bucket_list::request_tokens};
  observations max_tokens{bucket_list::request_tokens};
  observations prefill_computed_tokens{bucket_list::request_tokens};
  observations preemptions{bucket_list::request_num_preemptions};
  observations e2e_latency{bucket_list::request_latency};
  observations queued_time{bucket_list::request_latency};
  observations prefill_time{bucket_list::request_latency};
  observations decode_time{bucket_list::request_latency};
  observations inference_time{bucket_list::request_latency};
  observations time_per_output_token{bucket_list::inter_token_latency};
  void add(const finished_request& one, bad_value_counts& bad);
  void merge(const finished_totals& later);
};

/// Client requests whose last sample has ended.
struct group_totals {
  observations n{bucket_list::request_params_n};
  observations longest_generation{bucket_list::request_tokens};
  void merge(const group_totals& later);
};

/// Speculative decoding of some steps.
struct speculation_counts {
  std::int64_t drafts = 0;
  std::int64_t draft_tokens = 0;
  std::int64_t accepted_tokens = 0;
  std::vector<std::int64_t> accepted_at; // [speculative_tokens]
  void merge(const speculation_counts& later);
};

/// Estimated work of some steps on one device.
struct work_estimate {
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  void merge(const work_estimate& later);
};

/// Sound that a final voice stage made. One observation per request but for frames and skipped.
struct audio_totals {
  observations ttfp{bucket_list::pipeline_seconds}; // arrival -> first non-empty packet
  observations duration{bucket_list::pipeline_seconds};
  observations rtf{bucket_list::real_time_factor};  // time in the stage / duration
  observations underrun{bucket_list::fast_seconds}; // worst deficit of a listener; metrics/playback.hpp
  std::int64_t frames = 0;                          // samples per channel
  std::int64_t continuity_ok = 0;                   // requests whose worst deficit was small enough
  std::int64_t skipped = 0;                         // sound was asked for and none was made
  void merge(const audio_totals& later);
};

/// One edge between two replicas. The sender reports size and tx, the receiver rx and in-flight time.
struct transfer_totals {
  stage_id from_stage;
  replica_id from_replica;
  stage_id to_stage;
  replica_id to_replica;
  observations size{bucket_list::bytes};
  observations tx{bucket_list::fast_seconds};        // serialise and hand over
  observations rx{bucket_list::fast_seconds};        // receive and read
  observations in_flight{bucket_list::fast_seconds}; // handed over -> reception starts
  void merge(const transfer_totals& later);
};

/// What one replica did in one step, or in several that were merged.
struct engine_report {
  stage_id stage;
  replica_id replica;

  std::optional<scheduler_snapshot> scheduler; // the latest; gauges keep their value without one
  cache_counts prefix_cache;                   // counted once per request, at admission to the running list
  cache_counts preempted_prefix_cache;         // lookups of requests that resume after preemption; not exported
  cache_counts external_prefix_cache;
  std::array<std::int64_t, 4> external_hits_by_tier{}; // host, p2p, disk, unspecified
  cache_counts mm_cache;

  std::int64_t generation_tokens = 0; // of every output
  prompt_split prompt;
  std::int64_t preemptions = 0;
  observations iteration_tokens{
      bucket_list::iteration_tokens}; // one per step with outputs: computed prompt + generated
  observations time_to_first_token{bucket_list::time_to_first_token};
  observations inter_token_latency{bucket_list::inter_token_latency}; // one per output after a sequence's first
  finished_totals finished;
  group_totals groups;
  double units = 0; // what the stage made, in its own unit (see register_engine), for the console line

  std::optional<speculation_counts> speculation;
  std::optional<work_estimate> work;
  audio_totals audio;
  observations stage_gen_time{bucket_list::pipeline_seconds}; // one per request: its time inside the stage
  std::vector<transfer_totals> transfers;
  bad_value_counts bad{};

  /// The totals of one edge, made on first use.
  transfer_totals& transfer(stage_id from_stage, replica_id from_replica, stage_id to_stage, replica_id to_replica);
  /// Takes in a later report of the same replica. Associative; no count is lost.
  void merge(engine_report&& later);
};

/// Why a request failed, as the page names it.
enum class failed_as : std::uint8_t { client_abort, client_disconnect, stage_error, unknown };
inline constexpr std::size_t failure_kinds = 4;
/// How a speech stream ended early.
enum class speech_aborted_as : std::uint8_t { cancelled, closed, engine_dead, error };
inline constexpr std::size_t speech_abort_kinds = 4;
/// Which queue limit refused a request.
enum class rejected_as : std::uint8_t { max_num_queued_reqs, max_num_queued_tokens };
inline constexpr std::size_t rejection_kinds = 2;

/// What the orchestrator saw of whole requests, since its last report.
struct pipeline_report {
  std::optional<std::int64_t> running;                     // dispatched and worked on
  std::optional<std::int64_t> waiting;                     // not dispatched yet, or waiting inside an engine
  std::array<std::int64_t, finish_kinds> success{};        // index: finished_as
  std::array<std::int64_t, failure_kinds> failed{};        // index: failed_as
  std::array<std::int64_t, rejection_kinds> rejected{};    // index: rejected_as
  observations e2e_latency{bucket_list::pipeline_seconds}; // arrival -> last stage done; successes only
  observations queue_wait{bucket_list::pipeline_seconds};  // submit -> first stage opened
  std::int64_t prompt_tokens = 0;                          // over all stages of the ended requests
  std::int64_t generation_tokens = 0;
  std::int64_t speech_completed = 0;                             // speech streams that ended by themselves
  std::array<std::int64_t, speech_abort_kinds> speech_aborted{}; // index: speech_aborted_as
  bad_value_counts bad{};

  void add_success(finished_as reason, double e2e_seconds);
  /// Counts a failed request; it is also an `abort` among the finished ones.
  void add_failure(failed_as reason);
  void merge(pipeline_report&& later);
};

/// Where the time of a request that has ended went, for whoever reads the console. Seconds.
struct request_timeline {
  struct stage_share {
    stage_id stage;
    double seconds = 0;
  };
  struct transfer_share {
    stage_id from;
    stage_id to;
    double seconds = 0; // all hand-overs of this request on the edge
  };
  std::string name;        // the client's name for it
  double total_s = 0;      // arrival -> last output
  double preprocess_s = 0; // arrival -> handed to the engine
  double engine_s = 0;     // handed to the engine -> last output
  std::vector<stage_share> stages;
  std::vector<transfer_share> transfers;
};

/// One answered HTTP request. `handler` is the route's own pattern, never the path a client sent.
struct http_report {
  std::string handler;
  std::string method;
  std::int32_t status = 0;
  std::int64_t request_bytes = 0;
  std::int64_t response_bytes = 0;
  double seconds = 0; // until the last byte was written
};

} // namespace omni
