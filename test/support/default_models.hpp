#pragma once

#include <filesystem>
#include <string>

namespace omni::test {

/// A file of the default models: in $OMNI_MODELS_DIR, else in ${XDG_CACHE_HOME:-~/.cache}/omni-serve.
/// Throws a sentence that says how to fetch it when it is missing.
std::filesystem::path default_model(const std::string& file_name);

} // namespace omni::test
