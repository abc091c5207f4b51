#include "app/cli/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace omni::cli {
namespace {

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::optional<std::string> nearest(std::string_view given, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64; // nobody mistypes a key of more; bounds the work
  if (given.size() > longest) return {};
  std::optional<std::string> best;
  std::size_t fewest = given.size() / 3 + 1;
  for (const std::string& each : known) {
    const std::size_t needed = edits(given, each);
    if (needed < fewest) {
      fewest = needed;
      best = each;
    }
  }
  return best;
}

} // namespace omni::cli
