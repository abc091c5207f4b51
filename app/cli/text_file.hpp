#pragma once

#include "messages/errc.hpp"

#include <filesystem>
#include <string>

namespace omni::cli {

/// The whole of a small text file (at most 4 MiB); a sentence when it cannot be read.
expected<std::string> read_text_file(const std::filesystem::path& path);

} // namespace omni::cli
