#include "app/cli/machine.hpp"

#include "kernels/core/check.hpp"
#include "kernels/cpu/roofs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>
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

machine_timer::machine_timer(unsigned threads)
    : pool_(threads), lane_(pool_),
      memory_(std::size_t{32} << 20U, 1.0F), best_{"this machine", 0, 0,
                                                   double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE))} {}

void machine_timer::pass() {
  constexpr std::int64_t rounds = 500'000, windows = 4;
  const thread_pool::lane::step step(lane_, 0);
  const auto threads = std::int64_t{lane_.threads()};
  const std::size_t each = memory_.size() / std::size_t(windows * threads);
  std::vector<float> sums(std::size_t(threads), 0.0F);
  std::vector<std::int64_t> done(std::size_t(threads), 0);
  for (std::int64_t window = 0; window < windows; ++window) {
    const double reading = seconds_of([&] {
      lane_.parallel(threads, [&](std::int64_t i) {
        sums[std::size_t(i)] =
            cpu::read_all(std::span(memory_).subspan(std::size_t(window * threads + i) * each, each));
      });
    });
    const double computing = seconds_of([&] {
      lane_.parallel(threads, [&](std::int64_t i) { done[std::size_t(i)] = cpu::multiply_add_rounds(rounds); });
    });
    OMNI_CHECK(std::ranges::all_of(sums, [](float sum) { return sum > 0; }), "sums of ones are positive");
    best_.bytes_per_s = std::max(best_.bytes_per_s, double(std::size_t(threads) * each * sizeof(float)) / reading);
    best_.flops_per_s = std::max(best_.flops_per_s, 2.0 * double(std::reduce(done.begin(), done.end())) / computing);
  }
}

expected<machine> find_machine(const std::string& named, unsigned threads) {
  if (named.empty() || named == "cpu") {
    machine_timer here(threads);
    for (int pass = 0; pass < 5; ++pass) here.pass();
    return here.best();
  }
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
