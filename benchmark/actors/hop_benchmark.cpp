#include "benchmark/actors/small_system.hpp"

#include <benchmark/benchmark.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

// What it costs to hand a message to another thread and get an answer, in actors and, for reference, in a queue with a
// condition variable.

namespace omni {
namespace {

using echo_actor = actor_interface<caf::result<start_over_answer>(start_over)>;

echo_actor::behavior_type echo(echo_actor::pointer) {
  return {[](const start_over&) { return start_over_answer::allowed; }};
}

void ask_and_wait(benchmark::State& state, caf::actor_system& system, const echo_actor& whom) {
  caf::scoped_actor self(system);
  for (auto _ : state)
    self->request(whom, caf::infinite, start_over{1})
        .receive([](start_over_answer answer) { benchmark::DoNotOptimize(answer); }, [](caf::error&) {});
  self->send_exit(whom, caf::exit_reason::user_shutdown);
}

void round_trip_to_scheduled_actor(benchmark::State& state) {
  small_system in;
  ask_and_wait(state, in.system, in.system.spawn(echo));
}
BENCHMARK(round_trip_to_scheduled_actor)->UseRealTime();

void round_trip_to_detached_actor(benchmark::State& state) {
  small_system in;
  ask_and_wait(state, in.system, in.system.spawn<caf::detached>(echo));
}
BENCHMARK(round_trip_to_detached_actor)->UseRealTime();

/// One direction of a hand-over between two threads.
class hand_over {
public:
  void put(int value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(value);
    }
    filled_.notify_one();
  }
  int take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !values_.empty(); });
    const int value = values_.front();
    values_.pop_front();
    return value;
  }

private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<int> values_;
};

void round_trip_through_condition_variables(benchmark::State& state) {
  hand_over there;
  hand_over back;
  std::jthread other([&] {
    while (const int value = there.take()) back.put(value);
  });
  for (auto _ : state) {
    there.put(1);
    benchmark::DoNotOptimize(back.take());
  }
  there.put(0);
}
BENCHMARK(round_trip_through_condition_variables)->UseRealTime();

/// The sender's cost alone: the receiver is busy with earlier messages.
void send_to_scheduled_actor(benchmark::State& state) {
  small_system in;
  const auto whom = in.system.spawn(echo);
  for (auto _ : state) caf::anon_send(whom, start_over{1});
  caf::anon_send_exit(whom, caf::exit_reason::user_shutdown);
}
BENCHMARK(send_to_scheduled_actor);

} // namespace
} // namespace omni
