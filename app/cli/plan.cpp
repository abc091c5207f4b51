#include "app/cli/plan.hpp"

#include "kernels/core/error.hpp"
#include "kernels/models/stage_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace omni::cli {
namespace {

struct planned_stage {
  const stage_config* stage;
  stage_cost cost;
  std::int64_t positions = 0; // of a stream
};

struct scale {
  double from;
  const char* unit;
};

/// Four digits and a unit.
template <std::size_t Count>
std::string scaled(double value, const std::array<scale, Count>& units) {
  const scale* unit = &units.back();
  for (const auto& each : units)
    if (value >= each.from) {
      unit = &each;
      break;
    }
  const double shown = value / unit->from;
  const int digits = shown == 0 ? 0 : std::clamp(3 - int(std::floor(std::log10(shown))), 0, 3);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", digits, shown, unit->unit);
  return text;
}

constexpr double kib = 1024.0, mib = kib * 1024.0, gib = mib * 1024.0;

std::string held(double bytes) {
  return scaled(bytes, std::array<scale, 4>{{{gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}, {1, "B"}}});
}
std::string moved(double bytes) {
  return scaled(bytes, std::array<scale, 4>{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}});
}
std::string computed(double flops) {
  return scaled(flops, std::array<scale, 4>{{{1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}, {1, "FLOP"}}});
}
std::string lasting(double seconds) {
  return scaled(seconds, std::array<scale, 3>{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}}});
}
std::string counted(double values) {
  return scaled(values, std::array<scale, 4>{{{1e9, "G"}, {1e6, "M"}, {1e3, "K"}, {1, ""}}});
}

/// One line, its columns as wide as those of all lines.
void put_row(std::string& out, const std::array<std::string, 6>& cells) {
  char line[256];
  std::snprintf(line, sizeof line, "  %-42s %10s %12s %10s  %-8s %s", cells[0].c_str(), cells[1].c_str(),
                cells[2].c_str(), cells[3].c_str(), cells[4].c_str(), cells[5].c_str());
  out += line;
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

void put_steps(std::string& out, const stage_cost& cost, const machine& on) {
  if (cost.steps.empty()) return;
  put_row(out, {"step", "reads", "computes", "at least", "bound by", "at most"});
  for (const auto& step : cost.steps) {
    const double bytes = step.weight_bytes + step.kv_bytes;
    const double reading = bytes / on.bytes_per_s, computing = step.flops / on.flops_per_s;
    const double seconds = std::max(reading, computing);
    char rate[64];
    std::snprintf(rate, sizeof rate, "%.*f %s/s", step.makes / seconds < 100 ? 1 : 0, step.makes / seconds,
                  step.unit.c_str());
    put_row(out, {step.what, moved(bytes), computed(step.flops), lasting(seconds),
                  reading >= computing ? "memory" : "compute", rate});
  }
}

void put_stage(std::string& out, const planned_stage& planned, const machine& on) {
  const auto& [stage, cost, positions] = planned;
  const auto all = cost.held();
  out += "\nStage " + std::to_string(stage->id.value) + ", " + stage->model_stage + ": " + stage->model + "\n";
  if (all.values > 0) {
    out += "  weights   " + held(all.bytes) + ", " + counted(all.values) + " parameters (";
    for (const auto& part : cost.parts)
      out += (&part == cost.parts.data() ? "" : ", ") + part.name + " " + held(part.held.bytes);
    out += ")\n";
  }
  if (cost.kv_token_bytes > 0) {
    out += "  a token   " + std::to_string(cost.kv_token_bytes) + " B of keys and values";
    if (cost.kept_token_bytes > 0)
      out += ", " + std::to_string(cost.kept_token_bytes) + " B beside them for the next stage";
    out += "\n";
  }
  if (const auto bytes = cost.stream_bytes_at(positions); bytes > 0)
    out += "  a stream  " + held(double(bytes)) +
           (positions > 0 ? " at " + std::to_string(positions) + " tokens\n" : " of state\n");
  put_steps(out, cost, on);
  for (const auto& note : cost.notes) out += "  " + note + "\n";
}

void put_memory(std::string& out, const std::vector<planned_stage>& stages, const machine& on) {
  double weights = 0, stream = 0;
  for (const auto& each : stages) {
    weights += each.cost.held().bytes;
    stream += double(each.cost.stream_bytes_at(each.positions));
  }
  const double room = on.memory_bytes - weights;
  out += "\nMemory: weights " + held(weights) + " of " + held(on.memory_bytes);
  if (room < 0) {
    out += "; they need " + held(-room) + " more than there is.\n";
    return;
  }
  if (stream == 0) {
    out += "; what streams take is not modelled.\n";
    return;
  }
  const auto streams = std::floor(room / stream);
  char count[32];
  std::snprintf(count, sizeof count, "%.0f", streams);
  out += "; a stream takes " + held(stream) + " over all stages, so " + count + " fit into the other " + held(room) +
         ".\n";
  for (const auto& each : stages) {
    const auto token_bytes = each.cost.kv_token_bytes + each.cost.kept_token_bytes;
    if (token_bytes == 0 || streams < 1) continue;
    std::snprintf(count, sizeof count, "%.0f", streams * double(token_bytes) * double(each.positions));
    out +=
        "  Their KV cache in stage " + std::to_string(each.stage->id.value) + ": kv_cache_memory_bytes " + count + "\n";
  }
}

} // namespace

expected<std::string> describe_costs(const engine_config& config, const machine& on,
                                     std::optional<std::int64_t> context) {
  std::vector<planned_stage> stages;
  for (const auto& stage : config.stages) {
    const cost_question question{stage.max_num_seqs, stage.max_num_batched_tokens, context.value_or(0)};
    try {
      planned_stage planned{&stage,
                            cost_of_stage({stage.model, stage.model_stage, stage.dtype, stage.load_format}, question)};
      const auto most = stage.max_model_len > 0 ? std::int64_t{stage.max_model_len} : planned.cost.context;
      planned.positions = std::min(context.value_or(most), most);
      stages.push_back(std::move(planned));
    } catch (const load_error& problem) {
      return fail(errc::load_failed, problem.what());
    }
  }
  char rates[96];
  std::snprintf(rates, sizeof rates, "%.4g GB/s, %.4g TFLOP/s, ", on.bytes_per_s / 1e9, on.flops_per_s / 1e12);
  std::string out = "Plan for " + on.name + " (" + rates + held(on.memory_bytes) + "); nothing was loaded.\n";
  out += "Times are lower bounds: a step reads each weight that it needs once, with experts chosen evenly.\n";
  for (const auto& each : stages) put_stage(out, each, on);
  put_memory(out, stages, on);
  return out;
}

} // namespace omni::cli
