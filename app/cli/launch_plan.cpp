#include "app/cli/launch_plan.hpp"

#include "app/cli/model_location.hpp"
#include "app/cli/text_file.hpp"
#include "kernels/core/error.hpp"
#include "kernels/models/stage_model.hpp"

#include <algorithm>
#include <utility>

namespace omni::cli {
namespace {

constexpr const char* default_pipeline = "smollm2-piper";
constexpr const char* whole_model_pipeline = "qwen3-omni"; // of checkpoints with all three stages

expected<deployment> read_pipeline(const std::string& named, model_folders folders) {
  if (const char* text = builtin_pipeline(named); text != nullptr)
    return read_deploy_yaml(text, named + ".yaml", folders);
  const std::filesystem::path path = folders.base / named;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(errc::invalid_request, "There is no pipeline '" + named +
                                           "': --deploy-config takes a YAML file or one of " +
                                           builtin_pipeline_names() + ".");
  const auto text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  folders.base = path.parent_path();
  auto read = read_deploy_yaml(*text, named, folders);
  if (read && read->name.empty()) read->name = path.stem().string();
  return read;
}

/// A pipeline of one stage, or of a voice's two.
expected<deployment> plain_pipeline(const std::vector<std::string>& parts, const model_folders& folders) {
  deployment out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto stage = make_stage(std::int32_t(i), parts[i], folders.model, folders);
    if (!stage) return tl::unexpected(stage.error());
    out.config.stages.push_back(std::move(*stage));
  }
  out.config.stages.back().final_output_type = parts.back() == "thinker" ? modality::text : modality::audio;
  return out;
}

/// One checkpoint: which stages it has says what is served.
expected<deployment> pipeline_of_model(const model_folders& folders) {
  try {
    const auto parts = stages_of(folders.model);
    return parts.size() == 3 ? read_pipeline(whole_model_pipeline, folders) : plain_pipeline(parts, folders);
  } catch (const load_error& problem) {
    return fail(errc::load_failed, problem.what());
  }
}

expected<deployment> pipeline_of(const serve_options& options, model_folders folders) {
  const auto& named = options.deploy_config;
  if (options.model.empty()) return read_pipeline(named.empty() ? default_pipeline : named, folders);
  const auto path = locate_model(options.model, folders.base, folders.models, folders.home);
  if (!path) return tl::unexpected(path.error());
  folders.model = path->string();
  auto made = named.empty() ? pipeline_of_model(folders) : read_pipeline(named, folders);
  if (!made) return made;
  made->name = options.model;
  if (std::ranges::none_of(made->config.stages, [&](const auto& stage) { return stage.model == folders.model; }))
    return fail(errc::invalid_request,
                "--model: all stages of the pipeline '" + named + "' name their own models: leave it out.");
  return made;
}

template <class T>
void set(const std::optional<T>& given, T& into) {
  if (given) into = *given;
}

void apply_flags(const serve_options& options, engine_config& into) {
  set(options.max_num_queued_reqs, into.max_num_requests);
  set(options.threads, into.threads);
  set(options.log_stats, into.log_stats);
  set(options.log_stats_interval_s, into.log_stats_interval_s);
  set(options.log_request_timing, into.log_request_timing);
  set(options.seed, into.seed);
  if (options.metrics_labels) into.metrics_engine_labels = *options.metrics_labels == "engine";
  if (options.omni_lb_policy)
    into.routing = *options.omni_lb_policy == "random"        ? routing_policy::random
                   : *options.omni_lb_policy == "round-robin" ? routing_policy::round_robin
                                                              : routing_policy::least_queue_length;
  for (stage_config& stage : into.stages) {
    set(options.dtype, stage.dtype);
    set(options.load_format, stage.load_format);
    set(options.max_num_seqs, stage.max_num_seqs);
    set(options.max_model_len, stage.max_model_len);
    set(options.max_num_batched_tokens, stage.max_num_batched_tokens);
    set(options.block_size, stage.block_size);
    set(options.kv_cache_memory_bytes, stage.kv_cache_memory_bytes);
    set(options.enable_prefix_caching, stage.enable_prefix_caching);
  }
}

/// Who takes part, and which stages this process runs itself.
expected<void> apply_network(const network_options& given, engine_config& into) {
  set(given.dispatch_timeout_s, into.dispatch_timeout_s);
  if (!given.any()) return {};
  into.network = network_config{.address = given.master_address.value_or("127.0.0.1"),
                                .port = given.master_port.value_or(0),
                                .tls_cert = given.tls_cert,
                                .tls_key = given.tls_key,
                                .tls_ca = given.tls_ca,
                                .insecure = given.insecure};
  if (!given.stage_id) return {};
  if (std::size_t(*given.stage_id) >= into.stages.size())
    return fail(errc::invalid_request, "--stage-id " + std::to_string(*given.stage_id) +
                                           ": the pipeline has stages 0 to " + std::to_string(into.stages.size() - 1) +
                                           ".");
  for (stage_config& stage : into.stages)
    if (stage.id.value != *given.stage_id) stage.num_replicas = 0;
  return {};
}

} // namespace

expected<launch_plan> make_launch_plan(const serve_options& options, const model_folders& folders) {
  auto pipeline = pipeline_of(options, folders);
  if (!pipeline) return tl::unexpected(std::move(pipeline.error()));
  launch_plan plan;
  plan.config = std::move(pipeline->config);
  apply_flags(options, plan.config);
  if (auto good = apply_network(options.network, plan.config); !good) return tl::unexpected(good.error());
  if (!options.stage_overrides.empty())
    if (auto applied = apply_stage_overrides(options.stage_overrides, folders, plan.config); !applied)
      return tl::unexpected(std::move(applied.error()));
  plan.served_names = options.served_model_names;
  if (plan.served_names.empty()) plan.served_names.push_back(pipeline->name);
  plan.config.served_model_name = plan.served_names.front();
  return plan;
}

} // namespace omni::cli
