#include "metrics/snapshot.hpp"

#include "metrics/text_format.hpp"

namespace omni {
namespace {

// Most lines are shorter; a page that is longer grows by itself.
constexpr std::size_t bytes_per_line = 96;

} // namespace

std::string render(const snapshot& picture) {
  std::string page;
  page.reserve(picture.values->size() * bytes_per_line);
  const double* value = picture.values->data();
  for (const family_text& family : *picture.families) {
    page += family.head;
    for (const auto& series : family.series)
      for (const std::string& line : series->lines) {
        page += line;
        append_value(page, *value++);
        page += '\n';
      }
    if (family.created_head.empty() || family.series.empty()) continue;
    page += family.created_head;
    for (const auto& series : family.series) page += series->created;
  }
  return page;
}

} // namespace omni
