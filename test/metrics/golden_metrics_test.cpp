#include "metrics/text_format.hpp"
#include "test/metrics/page_text.hpp"
#include "test/metrics/scenario_player.hpp"
#include "test/support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace omni::test {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;
using feed = scenario_player::feed;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct scenario_file {
  fs::path folder;
  json scenario;
};

/// Scenarios are the JSON files with a list of ops, in the folder of statistics and those below it.
std::vector<scenario_file> scenarios() {
  std::vector<scenario_file> found;
  for (const auto& entry : fs::recursive_directory_iterator(golden_dir() / "metrics")) {
    if (entry.path().extension() != ".json") continue;
    json content = json::parse(read(entry.path()));
    if (content.contains("ops")) found.push_back({entry.path().parent_path(), std::move(content)});
  }
  return found;
}

bool joins_late(const json& scenario) {
  const auto& ops = scenario.at("ops");
  return std::any_of(ops.begin(), ops.end(), [](const json& op) { return op.at("op") == "register"; });
}

/// The reference forgets these series of a late replica until something is counted in them; ours exist from the start.
/// What it does show must be there, but for the time at which it was made.
void compare_incomplete(const page_block& ours, const page_block& reference) {
  if (reference.name.ends_with("_created")) return;
  for (const std::string& line : reference.lines)
    EXPECT_NE(std::find(ours.lines.begin(), ours.lines.end(), line), ours.lines.end()) << line;
}

void compare_pages(const std::string& ours, const std::string& reference, bool late, const std::string& where) {
  SCOPED_TRACE(where);
  auto mine = reference_blocks(ours);
  auto theirs = reference_blocks(reference);
  const auto is_incomplete = [&](const page_block& x) {
    return late && x.name.starts_with("vllm:prompt_tokens_cached_by_source");
  };
  for (const page_block& block : theirs) {
    if (!is_incomplete(block)) continue;
    const auto own = std::find_if(mine.begin(), mine.end(), [&](const auto& x) { return x.name == block.name; });
    ASSERT_NE(own, mine.end()) << block.name;
    compare_incomplete(*own, block);
  }
  std::erase_if(mine, is_incomplete);
  std::erase_if(theirs, is_incomplete);
  const auto a = lines_of(mine);
  const auto b = lines_of(theirs);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ASSERT_EQ(a[i], b[i]) << "in line " << i;
  EXPECT_EQ(a.size(), b.size());
}

/// Plays a scenario and hands out its pages by the name of their file.
std::map<std::string, std::string> pages_of(const json& scenario, label_scheme labels, feed how) {
  std::map<std::string, std::string> pages;
  const std::string prefix = labels == label_scheme::engine ? "vllm." : "omni.";
  scenario_player player(scenario, labels, how);
  player.play([&](const std::string& page, const std::string& text) { pages[prefix + page + ".prom"] = text; });
  return pages;
}

void compare_all_pages(feed how) {
  std::size_t compared = 0;
  for (const auto& [folder, scenario] : scenarios())
    for (const label_scheme labels : {label_scheme::engine, label_scheme::stage_replica})
      for (const auto& [name, text] : pages_of(scenario, labels, how)) {
        if (!fs::exists(folder / name)) continue;
        compare_pages(text, read(folder / name), joins_late(scenario), (folder / name).string());
        ++compared;
      }
  EXPECT_GT(compared, 0U);
}

TEST(golden_metrics, pages_equal_the_reference_when_fed_what_it_computed) { compare_all_pages(feed::iteration); }

TEST(golden_metrics, pages_equal_the_reference_when_rebuilt_from_outputs) { compare_all_pages(feed::outputs); }

TEST(golden_metrics, every_reference_page_belongs_to_a_scrape) {
  std::set<fs::path> scraped;
  for (const auto& [folder, scenario] : scenarios())
    for (const json& op : scenario.at("ops"))
      if (op.at("op") == "scrape")
        for (const char* prefix : {"vllm.", "omni."})
          scraped.insert(folder / (prefix + op.at("page").get<std::string>() + ".prom"));
  for (const auto& [folder, scenario] : scenarios())
    for (const auto& entry : fs::directory_iterator(folder))
      EXPECT_TRUE(entry.path().extension() != ".prom" || scraped.contains(entry.path())) << entry.path();
}

// Folders with pages but no scenario hold pages of older releases: the same end, fewer families.
TEST(golden_metrics, pages_of_older_releases_are_part_of_ours) {
  const auto all = scenarios();
  for (const auto& entry : fs::recursive_directory_iterator(golden_dir() / "metrics")) {
    const fs::path& file = entry.path();
    const auto in_folder = [&](const scenario_file& x) { return x.folder == file.parent_path(); };
    if (file.extension() != ".prom" || std::any_of(all.begin(), all.end(), in_folder)) continue;
    SCOPED_TRACE(file.string());
    const auto owner = std::find_if(
        all.begin(), all.end(), [&](const scenario_file& x) { return x.folder == file.parent_path().parent_path(); });
    ASSERT_NE(owner, all.end());
    const bool plain = file.filename().string().starts_with("vllm.");
    const auto pages =
        pages_of(owner->scenario, plain ? label_scheme::engine : label_scheme::stage_replica, feed::iteration);
    ASSERT_TRUE(pages.contains(file.filename().string()));
    const auto mine = reference_blocks(pages.at(file.filename().string()));
    for (const page_block& block : reference_blocks(read(file))) {
      const auto own = std::find_if(mine.begin(), mine.end(), [&](const auto& x) { return x.name == block.name; });
      ASSERT_NE(own, mine.end()) << block.name;
      EXPECT_EQ(own->lines, block.lines);
    }
  }
}

void expect_equal(const observations& a, const observations& b) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.sum, b.sum);
}

void expect_equal(const finished_request& a, const finished_request& b) {
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.num_prompt_tokens, b.num_prompt_tokens);
  EXPECT_EQ(a.num_cached_tokens, b.num_cached_tokens);
  EXPECT_EQ(a.num_generation_tokens, b.num_generation_tokens);
  EXPECT_EQ(a.num_preemptions, b.num_preemptions);
  EXPECT_EQ(a.max_tokens, b.max_tokens);
  EXPECT_EQ(a.e2e_latency, b.e2e_latency);
  EXPECT_EQ(a.queued_time, b.queued_time);
  EXPECT_EQ(a.prefill_time, b.prefill_time);
  EXPECT_EQ(a.decode_time, b.decode_time);
  EXPECT_EQ(a.inference_time, b.inference_time);
  EXPECT_EQ(a.mean_time_per_output_token, b.mean_time_per_output_token);
}

TEST(golden_metrics, outputs_and_stamps_give_what_the_reference_computed) {
  std::size_t batches = 0;
  for (const auto& [folder, scenario] : scenarios()) {
    SCOPED_TRACE(folder.string());
    scenario_player player(scenario, label_scheme::engine, feed::outputs);
    player.on_batch([&](const json& op, const auto& given, const auto& rebuilt) {
      SCOPED_TRACE(op.dump());
      ++batches;
      EXPECT_EQ(given.report.generation_tokens, rebuilt.report.generation_tokens);
      EXPECT_EQ(given.report.preemptions, rebuilt.report.preemptions);
      EXPECT_EQ(given.report.prompt.computed, rebuilt.report.prompt.computed);
      EXPECT_EQ(given.report.prompt.local_cached, rebuilt.report.prompt.local_cached);
      EXPECT_EQ(given.report.prompt.external_cached, rebuilt.report.prompt.external_cached);
      expect_equal(given.report.iteration_tokens, rebuilt.report.iteration_tokens);
      expect_equal(given.report.time_to_first_token, rebuilt.report.time_to_first_token);
      expect_equal(given.report.inter_token_latency, rebuilt.report.inter_token_latency);
      expect_equal(given.report.groups.n, rebuilt.report.groups.n);
      expect_equal(given.report.groups.longest_generation, rebuilt.report.groups.longest_generation);
      ASSERT_EQ(given.finished.size(), rebuilt.finished.size());
      for (std::size_t i = 0; i < given.finished.size(); ++i) expect_equal(given.finished[i], rebuilt.finished[i]);
    });
    player.play([](const std::string&, const std::string&) {});
  }
  EXPECT_GT(batches, 0U);
}

TEST(golden_metrics, console_lines_equal_the_reference) {
  std::size_t compared = 0;
  for (const auto& [folder, scenario] : scenarios()) {
    const fs::path file = folder / "console.fixed.txt";
    if (!fs::exists(file)) continue;
    SCOPED_TRACE(file.string());
    scenario_player player(scenario, label_scheme::engine, feed::outputs);
    player.play([](const std::string&, const std::string&) {});
    EXPECT_EQ(player.console(), split_lines(read(file)));
    ++compared;
  }
  EXPECT_GT(compared, 0U);
}

cache_counts triple(const json& x) { return x.is_null() ? cache_counts{} : cache_counts{x.at(0), x.at(1), x.at(2)}; }

engine_report console_report(const json& x) {
  engine_report report;
  report.prompt.computed = x.at("computed");
  report.generation_tokens = x.at("generated");
  report.preemptions = x.at("preempted");
  scheduler_snapshot load;
  load.running = x.at("running");
  load.waiting = x.at("waiting");
  load.deferred = x.at("skipped");
  load.kv_cache_usage = x.at("kv");
  if (!x.at("kv_fetch").is_null()) load.kv_fetch = x.at("kv_fetch").get<std::array<std::int32_t, 3>>();
  report.scheduler = load;
  report.prefix_cache = triple(x.at("prefix"));
  report.external_prefix_cache = triple(x.at("external"));
  report.mm_cache = triple(x.at("mm"));
  if (const json& spec = x.at("spec"); !spec.is_null())
    report.speculation = {spec.at("drafts"), spec.at("draft_tokens"), spec.at("accepted"),
                          spec.at("per_pos").get<std::vector<std::int64_t>>()};
  if (const json& work = x.at("mfu"); !work.is_null()) report.work = {work.at(0), work.at(1), work.at(2)};
  return report;
}

TEST(golden_metrics, console_parts_equal_the_reference_case_by_case) {
  for (const fs::path& file : golden_files("metrics", ".json")) {
    const json content = json::parse(read(file));
    if (!content.contains("cases")) continue;
    SCOPED_TRACE(file.string());
    double now_s = 1000;
    engine_log log(content.at("engine"), content.at("kv_cache_device"), stage_unit::tokens, now_s);
    for (const json& x : content.at("cases")) {
      log.record(console_report(x));
      now_s += x.at("seconds").get<double>();
      std::vector<std::string> lines;
      for (const log_line& line : log.log(now_s)) lines.push_back((line.idle ? "DEBUG " : "INFO ") + line.text);
      EXPECT_EQ(lines, x.at("lines").get<std::vector<std::string>>());
    }
  }
}

TEST(golden_metrics, values_are_written_as_the_reference_writes_them) {
  for (const fs::path& file : golden_files("metrics", ".tsv"))
    for (const std::string& line : split_lines(read(file))) {
      if (line.empty() || line.starts_with('#')) continue;
      const std::size_t tab = line.find('\t');
      ASSERT_NE(tab, std::string::npos) << line;
      EXPECT_EQ(format_value(std::strtod(line.c_str(), nullptr)), line.substr(tab + 1)) << line;
    }
}

} // namespace
} // namespace omni::test
