#include "test/metrics/page_text.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace omni::test {
namespace {

constexpr std::string_view cache_family = "vllm:cache_config_info";

// The reference describes a cache with every field of its own configuration class; these are the ones that dashboards
// and routers read and whose values both have.
constexpr const char* cache_labels[] = {"engine",         "stage",
                                        "replica",        "block_size",
                                        "cache_dtype",    "enable_prefix_caching",
                                        "num_gpu_blocks", "gpu_memory_utilization"};

std::string cut_cache_labels(const std::string& line) {
  const auto labels = labels_of(line);
  std::string out(cache_family);
  for (const char* name : cache_labels)
    if (const auto found = labels.find(name); found != labels.end())
      out.append(" ").append(name).append("=").append(found->second);
  return out + line.substr(line.rfind(' '));
}

} // namespace

std::vector<page_block> page_blocks(std::string_view page) {
  std::vector<page_block> blocks;
  std::istringstream in{std::string(page)};
  constexpr std::string_view help = "# HELP ";
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(help)) {
      const std::string name = line.substr(help.size(), line.find(' ', help.size()) - help.size());
      blocks.push_back({name, {"# HELP " + name}});
    } else if (!blocks.empty()) {
      blocks.back().lines.push_back(line);
    } else {
      blocks.push_back({"", {line}});
    }
  }
  return blocks;
}

std::vector<page_block> reference_blocks(std::string_view page) {
  auto blocks = page_blocks(page);
  std::erase_if(blocks,
                [](const page_block& x) { return !x.name.starts_with("vllm:") && !x.name.starts_with("vllm_omni:"); });
  for (page_block& block : blocks)
    if (block.name == cache_family)
      for (std::string& line : block.lines)
        if (!line.starts_with('#')) line = cut_cache_labels(line);
  return blocks;
}

std::vector<std::string> lines_of(const std::vector<page_block>& blocks) {
  std::vector<std::string> lines;
  for (const page_block& block : blocks) std::copy(block.lines.begin(), block.lines.end(), std::back_inserter(lines));
  return lines;
}

std::map<std::string, std::string> labels_of(std::string_view series) {
  std::map<std::string, std::string> labels;
  std::size_t at = series.find('{');
  while (at != std::string_view::npos && at < series.size() && series[at] != '}') {
    const std::size_t equals = series.find("=\"", ++at);
    if (equals == std::string_view::npos) break;
    std::size_t end = equals + 2;
    while (end < series.size() && series[end] != '"') end += series[end] == '\\' ? 2 : 1;
    labels.emplace(series.substr(at, equals - at), series.substr(equals + 2, end - equals - 2));
    at = end + 1; // a comma or the closing brace
  }
  return labels;
}

std::map<std::string, std::string> samples(std::string_view page) {
  std::map<std::string, std::string> found;
  std::istringstream in{std::string(page)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.rfind(' ');
    found[line.substr(0, space)] = line.substr(space + 1);
  }
  return found;
}

} // namespace omni::test
