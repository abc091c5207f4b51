#pragma once

#include "messages/config.hpp"
#include "messages/errc.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace omni::cli {

/// Where models are looked for; see model_location.hpp.
struct model_folders {
  std::filesystem::path base;   // of relative paths
  std::filesystem::path models; // of cache://
  std::filesystem::path home;   // of ~/
  std::string model = {};       // of stages that name none; empty: each must
};

struct deployment {
  std::string name; // the key `pipeline`; may be empty
  engine_config config;
};

/// Reads a deploy YAML (docs/deploy-yaml.md). `where` names it in errors: each is one sentence with the line. The
/// models it names must exist; a model directory's generation_config.json gives the sampler's defaults below those of
/// the YAML.
expected<deployment> read_deploy_yaml(std::string_view text, const std::string& where, const model_folders& folders);

/// Applies --stage-overrides: a JSON object of stage ids to keys of a stage.
expected<void> apply_stage_overrides(const std::string& overrides, const model_folders& folders, engine_config& config);

/// What a stage begins with: its number, its part, its checkpoint. Reads generation_config.json as above.
expected<stage_config> make_stage(std::int32_t id, std::string model_stage, const std::string& model,
                                  const model_folders& folders);

} // namespace omni::cli
