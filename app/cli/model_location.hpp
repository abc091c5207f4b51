#pragma once

#include "messages/errc.hpp"

#include <filesystem>
#include <string>

namespace omni::cli {

/// Where the file or folder is that a pipeline or --model names: "cache://NAME" is NAME in `models_dir` (where
/// app/fetch_models.sh puts the default models), "~/..." is below `home`, a relative path is below `base`. Fails with a
/// sentence when nothing is there.
expected<std::filesystem::path> locate_model(const std::string& named, const std::filesystem::path& base,
                                             const std::filesystem::path& models_dir,
                                             const std::filesystem::path& home);

} // namespace omni::cli
