#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace omni::test {

/// One block of a page: the lines from one TYPE line to the next, without the wording of its HELP line.
struct page_block {
  std::string name;
  std::vector<std::string> lines;
};

/// The blocks of a page in order.
std::vector<page_block> page_blocks(std::string_view page);
/// Those of vLLM's and vLLM-Omni's families. Descriptions of a cache are cut down to the labels that users read.
std::vector<page_block> reference_blocks(std::string_view page);
/// All lines of blocks, for a comparison that shows the first difference.
std::vector<std::string> lines_of(const std::vector<page_block>& blocks);

/// Labels of a series, their values as escaped on the page.
std::map<std::string, std::string> labels_of(std::string_view series);

/// Value text by the rest of the line, for tests that ask for one series.
std::map<std::string, std::string> samples(std::string_view page);

} // namespace omni::test
