#include "metrics/request_timing.hpp"
#include "metrics/statistics.hpp"

#include <benchmark/benchmark.h>

#include <vector>

// What statistics cost: the replica's share is making and merging a report, the rest happens on the stat logger's
// thread.

namespace omni {
namespace {

constexpr instant start{1.79e9, 100};

/// A decode step of `state.range(0)` sequences, each with one token, as a replica books it.
struct decoding {
  std::vector<request_timing> sequences;
  double now_s = 1;

  explicit decoding(std::int64_t count) : sequences(std::size_t(count), request_timing(0, 100, 128)) {
    engine_report first;
    step_into(first);
  }
  void step_into(engine_report& report) {
    now_s += 0.015625;
    step_record step(report, now_s);
    for (request_timing& one : sequences) step.output(one, 1, now_s);
    step.close();
    report.scheduler = scheduler_snapshot{std::int32_t(sequences.size()), 0, 0, 0.5, {}};
  }
};

void make_report(benchmark::State& state) {
  decoding work(state.range(0));
  for (auto _ : state) {
    engine_report report;
    work.step_into(report);
    benchmark::DoNotOptimize(report);
  }
}
BENCHMARK(make_report)->Arg(1)->Arg(16)->Arg(64)->Arg(256);

/// The stat logger is stuck, so each step's report joins the one that waits.
void make_and_merge_report(benchmark::State& state) {
  decoding work(state.range(0));
  engine_report waiting;
  for (auto _ : state) {
    engine_report report;
    work.step_into(report);
    waiting.merge(std::move(report));
    benchmark::DoNotOptimize(waiting);
  }
}
BENCHMARK(make_and_merge_report)->Arg(1)->Arg(16)->Arg(64)->Arg(256);

void finish_request(benchmark::State& state) {
  engine_report report;
  request_timing timing(0, 100, 128);
  timing.queued(1);
  timing.scheduled(2);
  step_record step(report, 3);
  step.output(timing, 1, 3);
  for (auto _ : state) {
    sample_group group(1);
    benchmark::DoNotOptimize(step.finish(timing, group, finished_as::stop, 4));
  }
}
BENCHMARK(finish_request);

std::vector<register_engine> engines(std::int64_t count) {
  std::vector<register_engine> all{std::size_t(count)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].replica.value = std::int32_t(i);
    all[i].max_model_len = 32768;
  }
  return all;
}

void count_report(benchmark::State& state) {
  statistics all({"model"}, start);
  const auto one = engines(1);
  if (!all.add_engines(one, start)) state.SkipWithError("the engine was refused");
  decoding work(state.range(0));
  engine_report report;
  work.step_into(report);
  for (auto _ : state) benchmark::DoNotOptimize(all.record(report, start));
}
BENCHMARK(count_report)->Arg(16)->Arg(256);

std::int64_t lines_of(const snapshot& picture) { return std::int64_t(picture.values->size()); }

/// The part of a scrape that reports have to wait for.
void take_snapshot(benchmark::State& state) {
  statistics all({"model"}, start);
  if (!all.add_engines(engines(state.range(0)), start)) state.SkipWithError("the engines were refused");
  for (auto _ : state) benchmark::DoNotOptimize(all.take({}, start));
  state.counters["series"] = double(lines_of(all.take({}, start)));
}
BENCHMARK(take_snapshot)->Arg(3)->Arg(30)->Unit(benchmark::kMicrosecond);

/// The part that happens elsewhere.
void render_page(benchmark::State& state) {
  statistics all({"model"}, start);
  if (!all.add_engines(engines(state.range(0)), start)) state.SkipWithError("the engines were refused");
  const snapshot picture = all.take({}, start);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string page = render(picture);
    bytes = page.size();
    benchmark::DoNotOptimize(page);
  }
  state.counters["series"] = double(lines_of(picture));
  state.counters["page_bytes"] = double(bytes);
}
BENCHMARK(render_page)->Arg(3)->Arg(30)->Unit(benchmark::kMicrosecond);

/// A replica joins a page of ten thousand series.
void join_late(benchmark::State& state) {
  const auto all_engines = engines(32);
  for (auto _ : state) {
    state.PauseTiming();
    statistics all({"model"}, start);
    const std::vector<register_engine> first(all_engines.begin(), all_engines.end() - 1);
    if (!all.add_engines(first, start)) state.SkipWithError("the engines were refused");
    benchmark::DoNotOptimize(all.take({}, start));
    state.ResumeTiming();
    benchmark::DoNotOptimize(all.add_engines({&all_engines.back(), 1}, start));
    benchmark::DoNotOptimize(all.take({}, start));
  }
}
BENCHMARK(join_late)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace omni
