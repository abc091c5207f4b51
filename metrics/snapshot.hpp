#pragma once

#include <memory>
#include <string>
#include <vector>

namespace omni {

/// All of a series' text that never changes.
struct series_text {
  std::vector<std::string> lines; // each up to its value
  std::string created;            // whole line, or empty
};

/// A family's text, without values.
struct family_text {
  std::string head;
  std::string created_head;
  std::vector<std::shared_ptr<const series_text>> series; // in the order in which they were made
};

/// All values of a page at one moment, beside the texts that they belong to. Immutable, so any thread may render it;
/// a copy costs two pointers.
struct snapshot {
  std::shared_ptr<const std::vector<family_text>> families; // in the order of the page
  std::shared_ptr<const std::vector<double>> values;        // one per line, in the same order
};

/// The page.
[[nodiscard]] std::string render(const snapshot& picture);

} // namespace omni
