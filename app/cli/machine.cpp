#include "app/cli/machine.hpp"

#include "kernels/core/buffer.hpp"
#include "kernels/core/thread_pool.hpp"
#include "kernels/cpu/roofs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace omni::cli {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

struct known_device {
  const char* name;
  double gb_per_s, tflop_per_s, gib; // vendors' figures; arithmetic: dense bf16
};
constexpr known_device known_devices[] = {
    {"h200", 4800, 990, 139}, {"h100", 3350, 990, 79}, {"a100", 2039, 312, 79}, {"l40s", 864, 362, 44}};

std::string names() {
  std::string list;
  for (const auto& each : known_devices) list += std::string(each.name) + ", ";
  return list + "cpu";
}

template <class Work>
double seconds_of(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

machine time_this_machine(unsigned threads) {
  constexpr std::size_t values = std::size_t{32} << 20U; // 128 MiB, more than caches hold
  constexpr int passes = 5;
  const buffer memory(values * sizeof(float));
  auto* const data = reinterpret_cast<float*>(memory.data());
  thread_pool pool(threads);
  thread_pool::lane lane(pool);
  const thread_pool::lane::step step(lane, 0);
  const auto pieces = static_cast<std::int64_t>(threads);
  const std::size_t each = values / threads;
  lane.parallel(pieces, [&](std::int64_t i) { std::fill_n(data + static_cast<std::size_t>(i) * each, each, 1.0F); });
  machine made{"this machine", 0, 0,
               static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE))};
  std::atomic<bool> all_read{true};
  std::atomic<std::int64_t> done{0};
  for (int pass = 0; pass < passes; ++pass) {
    const double reading = seconds_of([&] {
      lane.parallel(pieces, [&](std::int64_t i) {
        if (!(cpu::read_all({data + static_cast<std::size_t>(i) * each, each}) > 0)) all_read = false;
      });
    });
    done = 0;
    const double computing =
        seconds_of([&] { lane.parallel(pieces, [&](std::int64_t) { done += cpu::multiply_add_rounds(2'000'000); }); });
    made.bytes_per_s =
        std::max(made.bytes_per_s, static_cast<double>(pieces) * static_cast<double>(each * sizeof(float)) / reading);
    made.flops_per_s = std::max(made.flops_per_s, 2.0 * static_cast<double>(done) / computing);
  }
  OMNI_CHECK(all_read, "sums of ones are positive");
  return made;
}

expected<machine> find_machine(const std::string& named, unsigned threads) {
  if (named.empty() || named == "cpu") return time_this_machine(threads);
  for (const auto& each : known_devices)
    if (named == each.name) return machine{named, each.gb_per_s * 1e9, each.tflop_per_s * 1e12, each.gib * gib};
  double bandwidth = 0, flops = 0, memory = 0;
  char rest = 0;
  const bool numbers = std::sscanf(named.c_str(), "%lf,%lf,%lf%c", &bandwidth, &flops, &memory, &rest) == 3;
  const auto good = [](double x) { return std::isfinite(x) && x > 0; };
  if (numbers && good(bandwidth) && good(flops) && good(memory))
    return machine{"the given device", bandwidth * 1e9, flops * 1e12, memory * gib};
  return fail(errc::invalid_request, "--plan-device is '" + named + "', expected one of " + names() +
                                         ", or three positive numbers GB/S,TFLOP/S,GIB such as 4800,990,139.");
}

} // namespace omni::cli
