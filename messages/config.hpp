#pragma once

#include "kernels/runtime/sampling_params.hpp"
#include "messages/ids.hpp"
#include "messages/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// One stage of a pipeline. Field names are the deploy YAML's keys (docs/deploy-yaml.md).
struct stage_config {
  stage_id id;
  std::string model_stage;                   // what it runs: "thinker", "talker", "code2wav"
  std::string model;                         // checkpoint: .gguf file, Hugging Face directory, Piper .onnx
  std::optional<modality> final_output_type; // set: its output goes to the client too
  std::int32_t num_replicas = 1;             // local replicas at start; more memory for state, none for weights
  std::string dtype = "auto";                // "auto" or "float32"
  std::string load_format = "auto";          // "auto"; "dummy": random weights, for sizing and load tests
  std::int32_t max_num_seqs = 16;            // sequences in one step
  std::int32_t max_num_batched_tokens = 512; // token budget of one step
  std::int32_t max_model_len = 0;            // 0: the checkpoint's own
  std::int32_t block_size = 16;              // tokens per KV block
  std::int64_t kv_cache_memory_bytes = 0;    // per replica; 0: see runner_options
  bool enable_prefix_caching = true;
  std::int32_t max_threads = 0;                           // core budget of one replica; 0: all
  std::optional<sampling_params> default_sampling_params; // of requests that bring none; none: the model's own
};

/// Which replica of a stage gets a request.
enum class routing_policy : std::uint8_t {
  round_robin,
  least_queue_length, // fewest sequences; of those almost as idle, who holds most of the prompt; in turn
  random,
};

/// Where the processes of one pipeline meet. Files are PEM; mutual TLS takes all three.
struct network_config {
  std::string address = "127.0.0.1"; // the head's: it listens there, replicas of other processes go there
  std::uint16_t port = 0;            // 0: the head takes a free one
  std::string tls_cert;              // this process's certificate, signed by `tls_ca`
  std::string tls_key;
  std::string tls_ca;    // whoever shows a certificate of this authority is let in
  bool insecure = false; // an address beyond the loopback is allowed without TLS
};

/// A whole engine. Defaults serve one laptop.
struct engine_config {
  std::vector<stage_config> stages;    // in order; each feeds the next
  std::int32_t threads = 0;            // compute threads; 0: as many as the process may use
  std::int32_t max_num_requests = 256; // admitted at once, running or waiting; one more is refused with `overloaded`
  double dispatch_timeout_s = 10.0;    // how long a request waits for a stage that has no replica; then `no_replica`
  routing_policy routing = routing_policy::least_queue_length;
  std::uint64_t seed = 0;                // of requests that bring none, and of random routing
  std::string served_model_name;         // label of all statistics; empty: the first stage's `model`
  bool metrics_engine_labels = false;    // label series by `engine`, as plain vLLM, not by `stage` and `replica`
  bool log_stats = true;                 // false: no statistics are kept at all
  double log_stats_interval_s = 10.0;    // console lines
  bool log_request_timing = false;       // one more line for each request that ends
  bool created_series = true;            // `_created` lines on the page of statistics
  std::optional<network_config> network; // none: no other process may join
  std::string version;                   // of the program, for replicas of other processes
};

} // namespace omni
