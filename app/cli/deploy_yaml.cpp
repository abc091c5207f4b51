#include "app/cli/deploy_yaml.hpp"

#include "app/cli/generation_config.hpp"
#include "app/cli/model_location.hpp"
#include "app/cli/yaml_fields.hpp"
#include "app/cli/yaml_sampling.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <yaml-cpp/yaml.h>

namespace omni::cli {
namespace {

constexpr std::size_t max_yaml_bytes = 1024 * 1024;
constexpr std::size_t max_stages = 64;
constexpr std::int32_t max_int = std::numeric_limits<std::int32_t>::max();

/// The document, or a sentence with the line at which it is not YAML.
expected<YAML::Node> parse(std::string_view text, const std::string& where) {
  if (text.size() > max_yaml_bytes)
    return fail(errc::invalid_request,
                where + " is larger than " + std::to_string(max_yaml_bytes) + " bytes: is it a deploy YAML?");
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return fail(errc::invalid_request,
                where + (error.mark.is_null() ? "" : " line " + std::to_string(error.mark.line + 1)) +
                    ": not valid YAML (" + error.msg + ").");
  }
}

void set_model(const std::string& named, const model_folders& folders, std::optional<failure>& problem,
               stage_config& into) {
  const auto path = locate_model(named, folders.base, folders.models, folders.home);
  if (!path) {
    if (!problem) problem = failure{path.error().code, path.error().message, "model"};
    return;
  }
  into.model = path->string();
}

/// The keys of a stage over what `into` holds.
void read_stage(yaml_fields& from, const std::string& where, const model_folders& folders,
                std::optional<failure>& problem, stage_config& into) {
  std::string model;
  from.read("model", model);
  if (model.empty() && into.model.empty()) model = folders.model;
  if (!model.empty()) set_model(model, folders, problem, into);
  from.read("model_stage", into.model_stage);
  if (!model.empty() && !from.failed())
    if (const auto read = read_generation_config(into); !read) problem = read.error();
  std::string output_type;
  from.read("final_output_type", output_type);
  if (output_type == "text")
    into.final_output_type = modality::text;
  else if (output_type == "audio")
    into.final_output_type = modality::audio;
  else if (!output_type.empty())
    from.refuse("final_output_type", "must be text or audio");
  from.read("num_replicas", into.num_replicas, 0, 1024);
  from.read("dtype", into.dtype);
  if (into.dtype != "auto" && into.dtype != "float32") from.refuse("dtype", "must be auto or float32");
  from.read("load_format", into.load_format);
  if (into.load_format != "auto" && into.load_format != "dummy") from.refuse("load_format", "must be auto or dummy");
  from.read("max_num_seqs", into.max_num_seqs, 1, 65536);
  from.read("max_num_batched_tokens", into.max_num_batched_tokens, 1, max_int);
  from.read("max_model_len", into.max_model_len, 0, max_int);
  from.read("block_size", into.block_size, 1, 4096);
  from.read("kv_cache_memory_bytes", into.kv_cache_memory_bytes, 0, std::int64_t{1} << 50U);
  from.read("enable_prefix_caching", into.enable_prefix_caching);
  from.read("max_threads", into.max_threads, 0, 4096);
  if (const YAML::Node sampling = from.find("default_sampling_params"); sampling.IsDefined())
    read_yaml_sampling(sampling, where, problem, own_sampling(into));
}

/// A stage's switch for statistics, as vLLM-Omni has it: that of stage 0 is the whole engine's, others say nothing.
void read_statistics_switch(yaml_fields& from, std::size_t stage, engine_config& into) {
  bool off = !into.log_stats;
  from.read("disable_log_stats", off);
  if (stage == 0) into.log_stats = !off;
}

void check_complete(yaml_fields& from, const stage_config& stage) {
  if (stage.model_stage.empty())
    from.refuse("model_stage", "is missing: say what the stage runs (thinker, talker, code2wav)");
  if (stage.model.empty()) from.refuse("model", "is missing: name its checkpoint, or give that of all such stages with --model");
}

void read_stages(yaml_fields& from, const std::string& where, const model_folders& folders,
                 const stage_config& defaults, std::optional<failure>& problem, engine_config& into) {
  const YAML::Node list = from.find("stages");
  if (!list.IsDefined() || !list.IsSequence() || list.size() == 0 || list.size() > max_stages)
    return from.refuse("stages", "must be a list of 1 to " + std::to_string(max_stages) + " stages");
  for (std::size_t i = 0; i < list.size() && !problem; ++i) {
    yaml_fields stage(list[i], where, "stage " + std::to_string(i), problem);
    stage_config each = defaults;
    each.id.value = std::int32_t(i);
    stage.read("stage_id", each.id.value, 0, max_int);
    if (each.id.value != std::int32_t(i))
      stage.refuse("stage_id", "must be " + std::to_string(i) + ": stages are listed in order, from 0");
    read_stage(stage, where, folders, problem, each);
    read_statistics_switch(stage, i, into);
    check_complete(stage, each);
    stage.refuse_unknown();
    into.stages.push_back(std::move(each));
  }
  const bool has_output = std::any_of(into.stages.begin(), into.stages.end(),
                                      [](const stage_config& each) { return each.final_output_type.has_value(); });
  if (!has_output)
    from.refuse("stages", "must hold a stage with final_output_type text or audio: nothing would come out");
}

} // namespace

expected<deployment> read_deploy_yaml(std::string_view text, const std::string& where, const model_folders& folders) {
  const auto document = parse(text, where);
  if (!document) return tl::unexpected(document.error());
  std::optional<failure> problem;
  deployment into;
  yaml_fields top(*document, where, "the pipeline", problem);
  stage_config defaults;
  top.read("pipeline", into.name);
  bool streams = true;
  top.read("async_chunk", streams);
  if (!streams) top.refuse("async_chunk", "must be true: stages always stream into each other");
  top.read("dtype", defaults.dtype);
  top.read("enable_prefix_caching", defaults.enable_prefix_caching);
  top.read("threads", into.config.threads, 0, 4096);
  top.read("max_num_requests", into.config.max_num_requests, 1, 1'000'000);
  top.read("dispatch_timeout_s", into.config.dispatch_timeout_s, 0, 1e6);
  top.read("log_stats", into.config.log_stats);
  top.read("log_stats_interval_s", into.config.log_stats_interval_s, 0.1, 1e6);
  top.read("log_request_timing", into.config.log_request_timing);
  read_stages(top, where, folders, defaults, problem, into.config);
  top.refuse_unknown();
  if (problem) return tl::unexpected(std::move(*problem));
  return into;
}

expected<void> apply_stage_overrides(const std::string& overrides, const model_folders& folders,
                                     engine_config& config) {
  const std::string where = "--stage-overrides";
  const auto document = parse(overrides, where);
  if (!document) return tl::unexpected(document.error());
  if (!document->IsMap())
    return fail(errc::invalid_request, where + R"( must be a JSON object such as {"1": {"num_replicas": 2}}.)");
  std::optional<failure> problem;
  for (const auto& entry : *document) {
    std::size_t index = 0;
    if (!entry.first.IsScalar() || !YAML::convert<std::size_t>::decode(entry.first, index) ||
        index >= config.stages.size())
      return fail(errc::invalid_request, where +
                                             " names a stage that the pipeline does not have: its stages are 0 to " +
                                             std::to_string(config.stages.size() - 1) + ".");
    yaml_fields stage(entry.second, where, "stage " + std::to_string(index), problem);
    read_stage(stage, where, folders, problem, config.stages[index]);
    read_statistics_switch(stage, index, config);
    stage.refuse_unknown();
    if (problem) return tl::unexpected(std::move(*problem));
  }
  return {};
}

expected<stage_config> make_stage(std::int32_t id, std::string model_stage, const std::string& model,
                                  const model_folders& folders) {
  const auto path = locate_model(model, folders.base, folders.models, folders.home);
  if (!path) return tl::unexpected(path.error());
  stage_config stage;
  stage.id.value = id;
  stage.model_stage = std::move(model_stage);
  stage.model = path->string();
  if (const auto read = read_generation_config(stage); !read) return tl::unexpected(read.error());
  return stage;
}

} // namespace omni::cli
