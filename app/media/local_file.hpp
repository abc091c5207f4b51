#pragma once

#include "app/media/outcome.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace omni::media {

/// Reads the file of a `file://` URL that lies below `root` (canonical), links followed: what they lead to must lie
/// there too. Any thread.
outcome<std::string> read_local_file(std::string_view url, const std::filesystem::path& root, std::size_t most_bytes);

} // namespace omni::media
