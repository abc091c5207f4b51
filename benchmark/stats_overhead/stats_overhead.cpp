#include "actors/engine.hpp"
#include "app/cli/launch_plan.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

// What statistics cost the default pipeline: the same work with statistics on and off, in turns in one process, so that
// whatever else the machine does meets both. Also with a stat logger that sleeps for a second over each message.
//
//   stats_overhead [PAIRS [TOKENS [NAME]]]     default 11 pairs of runs of 16 streams of 24 tokens; NAME: one line only

namespace omni {
namespace {

constexpr int streams = 16;

class latch_sink final : public sink {
public:
  explicit latch_sink(std::latch& ended) : ended_(ended) {}
  void on_output(const output&) override {}
  void on_end(const std::optional<failure>& problem) override {
    if (problem) {
      std::fprintf(stderr, "stats_overhead: a request failed: %s\n", problem->message.c_str());
      std::_Exit(1);
    }
    ended_.count_down();
  }

private:
  std::latch& ended_;
};

struct cost {
  double wall_s = 0;
  double cpu_s = 0; // of all threads
};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& x) { return double(x.tv_sec) + double(x.tv_usec) * 1e-6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct load {
  bool audio = false;
  std::int32_t tokens = 0;
};

cost run(engine& on, const load& what) {
  std::latch ended(streams);
  const auto began = std::chrono::steady_clock::now();
  const double cpu_s = cpu_seconds();
  for (int i = 0; i < streams; ++i) {
    request one;
    one.prompt = on.model({0}).tokenizer()->encode("Stream " + std::to_string(i) + " tells of a long day at the sea.");
    one.want_audio = what.audio;
    one.sampling.temperature = 0;
    one.sampling.ignore_eos = true;
    one.sampling.max_tokens = what.tokens;
    if (!on.submit(one, std::make_shared<latch_sink>(ended))) std::_Exit(1);
  }
  ended.wait();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), cpu_seconds() - cpu_s};
}

struct quartiles {
  double low, median, high;
};

quartiles of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double part) { return values[std::size_t(std::lround(part * double(values.size() - 1)))]; };
  return {at(0.25), at(0.5), at(0.75)};
}

/// One pair: without and with statistics, in changing order. Ratios above 1: faster, or cheaper, with statistics.
void compare(const char* name, engine& with, engine& without, const load& what, int pairs) {
  run(without, what);
  run(with, what); // both warm
  std::vector<double> throughput;
  std::vector<double> work;
  double wall_s = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool with_first = pair % 2 == 0;
    const cost first = run(with_first ? with : without, what);
    const cost second = run(with_first ? without : with, what);
    const cost& on = with_first ? first : second;
    const cost& off = with_first ? second : first;
    throughput.push_back(off.wall_s / on.wall_s);
    work.push_back(off.cpu_s / on.cpu_s);
    wall_s += off.wall_s / pairs;
  }
  const auto speed = of(throughput);
  const auto cpu = of(work);
  std::printf("%-34s throughput on/off %.4f (quartiles %.4f %.4f)  work per CPU second on/off %.4f (%.4f %.4f)  "
              "%d pairs, %.0f tokens/s\n",
              name, speed.median, speed.low, speed.high, cpu.median, cpu.low, cpu.high, pairs,
              double(streams * what.tokens) / wall_s);
  std::fflush(stdout);
}

std::unique_ptr<engine> start(engine_config config, bool statistics, std::function<double()> wall_s) {
  config.log_stats = statistics;
  config.log_stats_interval_s = 1e6; // nothing between the figures
  auto made = engine::start(std::move(config), load_stage_model, std::move(wall_s));
  if (made) return std::move(*made);
  std::fprintf(stderr, "stats_overhead: %s\n", made.error().message.c_str());
  std::exit(1);
}

cli::model_folders folders() {
  const auto environment = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  cli::model_folders all;
  all.home = environment("HOME");
  const auto own = environment("OMNI_MODELS_DIR");
  all.models = own.empty() ? all.home / ".cache/omni-serve" : std::filesystem::path(own);
  return all;
}

/// The stat logger asks for the time of day once per message.
double slow_wall_seconds() {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return wall_seconds();
}

int measure(int pairs, std::int32_t tokens, const std::string& only) {
  const auto plan = cli::make_launch_plan({}, folders());
  if (!plan) {
    std::fprintf(stderr, "stats_overhead: %s\n", plan.error().message.c_str());
    return 1;
  }
  const load text{false, tokens};
  const load both{true, tokens};
  const auto without = start(plan->config, false, wall_seconds);
  const auto run_line = [&](const char* name, std::function<double()> wall_s, const load& what) {
    if (only.empty() || only == name)
      compare(name, *start(plan->config, true, std::move(wall_s)), *without, what, pairs);
  };
  run_line("text", wall_seconds, text);
  run_line("text and audio", wall_seconds, both);
  run_line("text, sleeping logger", slow_wall_seconds, text);
  run_line("text and audio, sleeping logger", slow_wall_seconds, both);
  return 0;
}

} // namespace
} // namespace omni

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 11;
  const int tokens = argc > 2 ? std::atoi(argv[2]) : 24;
  if (pairs < 1 || tokens < 1) {
    std::fprintf(stderr, "stats_overhead: expected [PAIRS [TOKENS [NAME]]], the numbers at least 1.\n");
    return 2;
  }
  return omni::measure(pairs, tokens, argc > 3 ? argv[3] : "");
}
