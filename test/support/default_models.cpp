#include "test/support/default_models.hpp"

#include <cstdlib>
#include <stdexcept>

namespace omni::test {
namespace fs = std::filesystem;
namespace {

fs::path models_dir() {
  const auto set = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const auto dir = set("OMNI_MODELS_DIR"); !dir.empty()) return dir;
  if (const auto cache = set("XDG_CACHE_HOME"); !cache.empty()) return cache / "omni-serve";
  return set("HOME") / ".cache" / "omni-serve";
}

} // namespace

fs::path default_model(const std::string& file_name) {
  const auto path = models_dir() / file_name;
  if (!fs::exists(path))
    throw std::runtime_error("No " + path.string() + ": app/fetch_models.sh fetches the default models.");
  return path;
}

} // namespace omni::test
