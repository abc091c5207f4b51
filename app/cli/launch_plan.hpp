#pragma once

#include "app/cli/deploy_yaml.hpp"
#include "app/cli/serve_options.hpp"

#include <string>
#include <vector>

namespace omni::cli {

/// What omni-serve is to start: the engine's configuration and the names that the model is served under.
struct launch_plan {
  engine_config config;
  std::vector<std::string> served_names; // never empty
};

/// Pipeline (built-in, YAML or what the checkpoint of --model has), then flags, then --stage-overrides. `folders.base` is the folder
/// of relative paths on the command line; those of a YAML are relative to the YAML.
expected<launch_plan> make_launch_plan(const serve_options& options, const model_folders& folders);

/// The YAML text of a pipeline that is built in, or nothing. Its name is that of its file in app/pipelines without
/// ".yaml".
const char* builtin_pipeline(const std::string& name);
/// The names, "a, b".
std::string builtin_pipeline_names();

} // namespace omni::cli
