#include "app/cli/text_file.hpp"

#include <fstream>

namespace omni::cli {

expected<std::string> read_text_file(const std::filesystem::path& path) {
  constexpr std::size_t most = 4 * 1024 * 1024;
  std::ifstream in(path, std::ios::binary);
  std::string text(most + 1, '\0');
  std::error_code error;
  if (!in || std::filesystem::is_directory(path, error))
    return fail(errc::load_failed,
                "Cannot read " + path.string() + ": check that it is a file and that it may be read.");
  in.read(text.data(), std::streamsize(text.size()));
  if (in.bad()) return fail(errc::load_failed, "Reading " + path.string() + " failed.");
  text.resize(std::size_t(in.gcount()));
  if (text.size() > most)
    return fail(errc::load_failed,
                path.string() + " is larger than " + std::to_string(most) + " bytes: is it the right file?");
  return text;
}

} // namespace omni::cli
