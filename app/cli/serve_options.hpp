#pragma once

#include "messages/errc.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace omni::cli {

/// Processes of one pipeline: a head, which clients speak to, and others with replicas for it.
struct network_options {
  bool headless = false;                // replicas for a head in another process; no HTTP
  std::optional<std::int32_t> stage_id; // headless: of the replicas; head: the only stage that it runs itself
  std::optional<std::int32_t> replica_id;
  std::int32_t replicas = 1; // headless
  std::optional<std::string> master_address;
  std::optional<std::uint16_t> master_port;
  std::string replica_address;
  std::uint16_t replica_port = 0;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  bool insecure = false;
  std::optional<double> dispatch_timeout_s;
  /// Whether this process takes part in a network at all.
  [[nodiscard]] bool any() const { return master_address || master_port; }
};

/// The flags of omni-serve. What was not given is empty, so that it does not override the pipeline's own values.
struct serve_options {
  std::string model;                           // checkpoint; empty: the pipeline's own
  std::string deploy_config;                   // YAML file or the name of a built-in pipeline; empty: the default one
  std::string stage_overrides;                 // JSON: {"1": {"num_replicas": 2}}
  std::vector<std::string> served_model_names; // empty: derived from model or pipeline
  std::string chat_template;                   // Jinja file; empty: the checkpoint's own

  bool plan = false;                        // print what the stages cost, and end
  std::string plan_device;                  // see find_machine
  std::optional<std::int32_t> plan_context; // tokens of a stream

  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
  std::vector<std::string> api_keys;
  std::vector<std::string> allowed_origins = {"*"};
  std::uint64_t max_body_bytes = 16 * 1024 * 1024;
  double drain_timeout_s = 30;
  std::string allowed_local_media_path; // folder of file:// URLs; empty: none are read
  bool allow_remote_media = false;      // http:// and https:// URLs

  std::optional<std::string> dtype;
  std::optional<std::string> load_format; // auto, dummy
  std::optional<std::int32_t> max_model_len;
  std::optional<std::int32_t> max_num_seqs;
  std::optional<std::int32_t> max_num_batched_tokens;
  std::optional<std::int32_t> block_size;
  std::optional<std::int64_t> kv_cache_memory_bytes;
  std::optional<bool> enable_prefix_caching;
  std::optional<std::int32_t> max_num_queued_reqs;
  std::optional<std::int32_t> threads;
  std::optional<bool> log_stats;
  std::optional<double> log_stats_interval_s;
  std::optional<bool> log_request_timing;
  std::optional<std::string> omni_lb_policy; // random, round-robin, least-queue-length
  std::optional<std::string> metrics_labels; // stage, engine
  std::optional<std::uint64_t> seed;
  network_options network;
};

/// What to print, and with which status to end: --help and --version.
struct early_exit {
  std::string text;
};

/// Reads the command line (without the program's name). A wrong flag is one sentence.
expected<std::variant<serve_options, early_exit>> parse_flags(const std::vector<std::string>& arguments,
                                                              const std::string& version);

} // namespace omni::cli
