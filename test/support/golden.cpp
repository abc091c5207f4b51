#include "test/support/golden.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace omni::test {
namespace fs = std::filesystem;

fs::path golden_dir() {
  const char* set = std::getenv("OMNI_GOLDEN_DIR");
  fs::path dir = set != nullptr && *set != 0 ? fs::path(set) : fs::path(OMNI_SOURCE_DIR) / ".." / "shared" / "golden";
  if (!fs::is_directory(dir))
    throw std::runtime_error("No golden data at " + dir.string() + ": set OMNI_GOLDEN_DIR to the folder of reference outputs.");
  return dir;
}

std::vector<fs::path> golden_files(const std::string& folder, const std::string& suffix) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(golden_dir() / folder))
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(suffix)) found.push_back(entry.path());
  if (found.empty()) throw std::runtime_error("No *" + suffix + " in " + (golden_dir() / folder).string() + ".");
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> golden_folders(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(golden_dir() / folder))
    if (entry.is_directory()) found.push_back(entry.path());
  if (found.empty()) throw std::runtime_error("No folder in " + (golden_dir() / folder).string() + ".");
  std::sort(found.begin(), found.end());
  return found;
}

double relative_max(const float* a, const float* b, std::int64_t count) {
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += double(b[i]) * b[i];
  return absolute_max(a, b, count) / (1e-6 + std::sqrt(squares / std::max<double>(1, double(count))));
}

double absolute_max(const float* a, const float* b, std::int64_t count) {
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (a[i] == b[i]) continue; // equal infinities too
    const double difference = std::abs(double(a[i]) - double(b[i]));
    if (!(difference <= worst)) worst = difference; // a NaN sticks
  }
  return worst;
}

double relative_l2(const float* a, const float* b, std::int64_t count) {
  double error = 0;
  double size = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    error += (double(a[i]) - b[i]) * (double(a[i]) - b[i]);
    size += double(b[i]) * b[i];
  }
  return std::sqrt(error / (size + 1e-30));
}

double signal_to_noise(const float* a, const float* b, std::int64_t count) {
  const double ratio = relative_l2(a, b, count);
  return ratio == 0 ? 300 : -20 * std::log10(ratio);
}

} // namespace omni::test
