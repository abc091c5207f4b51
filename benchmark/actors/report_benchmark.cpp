#include "actors/report_pace.hpp"
#include "actors/stat_logger.hpp"
#include "benchmark/actors/small_system.hpp"
#include "metrics/request_timing.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <future>
#include <thread>
#include <vector>

// What a report costs the thread of a replica: booking a step, telling it, and hearing that it arrived.

namespace omni {
namespace {

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

struct replica_work {
  std::size_t sequences = 0;
  std::int64_t steps = 0;
  std::chrono::microseconds step_time{}; // in which the thread does nothing
  stat_logger_actor logger;              // none: steps are not reported
  std::promise<double>* cpu_s = nullptr; // that all steps took
};

using reporter_actor = actor_interface<caf::result<void>(step_atom)>;

/// A replica that computes nothing, with the statistics of one that decodes.
class reporter {
public:
  reporter(reporter_actor::pointer self, replica_work work)
      : self_(self), work_(std::move(work)), sequences_(work_.sequences, request_timing(0, 100, 128)) {
    self_->send(self_, step_atom{});
  }
  void on_step() {
    if (done_ == 0) began_s_ = thread_cpu_s();
    if (done_++ == work_.steps) {
      work_.cpu_s->set_value(thread_cpu_s() - began_s_);
      return self_->quit();
    }
    if (work_.step_time.count() > 0) std::this_thread::sleep_for(work_.step_time);
    if (work_.logger) book();
    self_->send(self_, step_atom{});
  }

private:
  void book() {
    now_s_ += 0.015625;
    step_record step(facts_, now_s_);
    for (auto& one : sequences_) step.output(one, 1, now_s_);
    step.close();
    facts_.scheduler = scheduler_snapshot{std::int32_t(sequences_.size()), 0, 0, 0.5, {}};
    flush();
  }
  void flush() {
    const auto now = now_us(self_);
    if (pace_.wait(now, false) != 0) return;
    pace_.sent(now);
    self_->request(work_.logger, caf::infinite, std::exchange(facts_, {}))
        .then([this] { pace_.acknowledged(); }, [](caf::error&) {});
  }

  reporter_actor::pointer self_;
  replica_work work_;
  std::vector<request_timing> sequences_;
  engine_report facts_;
  report_pace pace_;
  std::int64_t done_ = 0;
  double now_s_ = 1;
  double began_s_ = 0;
};

reporter_actor::behavior_type behave(reporter_actor::pointer self, replica_work work) {
  const auto state = std::make_shared<reporter>(self, std::move(work));
  return {[state](step_atom) { state->on_step(); }};
}

void report(benchmark::State& state) {
  small_system in;
  stat_logger_options options;
  options.wall_s = [] { return 1.79e9; };
  options.process = [] { return process_facts{}; };
  options.print = [](const log_line&) {};
  const auto logger = in.system.spawn(stat_logger_behavior, std::move(options));
  caf::anon_send(logger, register_engines{{register_engine{}}});
  const std::chrono::microseconds step_time(state.range(1));
  const std::int64_t steps = step_time.count() == 0 ? 100'000 : 500;
  const auto cpu_s = [&](const stat_logger_actor& told) {
    std::promise<double> taken;
    in.system.spawn<caf::detached>(behave, replica_work{std::size_t(state.range(0)), steps, step_time, told, &taken});
    return taken.get_future().get() / double(steps);
  };
  for (auto _ : state) {
    const double without = cpu_s(stat_logger_actor());
    state.SetIterationTime(std::max(1e-9, cpu_s(logger) - without));
  }
  caf::anon_send_exit(logger, caf::exit_reason::user_shutdown);
}
BENCHMARK(report)
    ->ArgNames({"sequences", "step_us"})
    ->ArgsProduct({{1, 16, 64, 256}, {0, 1000}})
    ->UseManualTime()
    ->Iterations(5)
    ->Repetitions(3)
    ->ReportAggregatesOnly();

} // namespace
} // namespace omni
