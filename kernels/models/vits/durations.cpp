#include "kernels/models/vits/durations.hpp"

#include "kernels/models/vits/rows.hpp"
#include "kernels/models/vits/spline.hpp"
#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace omni::vits {
namespace {

constexpr float spline_tail = 5.0F;

layer_norm_args norm_args(const norm_weights& w, float* x, std::int64_t rows) {
  return {.x = x,
          .gamma = w.gamma.data(),
          .beta = w.beta.data(),
          .out = x,
          .rows = rows,
          .channels = static_cast<std::int64_t>(w.gamma.size())};
}

std::string flow_module(std::int64_t index) { return "dp.flows." + std::to_string(index); }

} // namespace

std::unique_ptr<duration_predictor> duration_predictor::load(const voice_graph& graph, std::int64_t width,
                                                             std::int64_t speaker_width) {
  if (graph.has_conv("dp.conv_1")) return std::make_unique<plain_durations>(graph, width, speaker_width);
  return std::make_unique<stochastic_durations>(graph, width, speaker_width);
}

separable_stack::separable_stack(const voice_graph& graph, const std::string& module, std::int64_t channels)
    : channels_(channels) {
  const auto count = graph.count_convs(module + ".convs_sep.", "");
  if (count == 0) graph.reject("the duration predictor has no layers \"" + module + ".convs_sep\"");
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = std::to_string(i);
    const auto source = graph.conv(module + ".convs_sep." + index);
    if (source.extents[0] != channels || source.extents[1] != 1 || source.groups != channels || source.stride != 1 ||
        source.pad_left + source.pad_right != source.dilation * (source.extents[2] - 1))
      graph.reject("the weight of \"" + source.module + "\" is " + to_string(source.extents) + ", expected " +
                   to_string({channels, 1, source.extents[2]}) + " with as many groups and \"same\" padding");
    std::vector<float> bias = source.bias;
    bias.resize(static_cast<std::size_t>(channels), 0.0F);
    layers_.push_back({pack_depthwise(source.weight, bias, channels, source.extents[2], source.dilation),
                       source.pad_left, load_norm(graph, module + ".norms_1." + index, channels),
                       load_1x1(graph, module + ".convs_1x1." + index, channels, channels),
                       load_norm(graph, module + ".norms_2." + index, channels)});
    reach_ = std::max(reach_, source.pad_left + source.pad_right);
  }
}

void separable_stack::run(float* x, std::int64_t rows, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  float* y = context.scratch.floats(rows * channels_);
  float* z = context.scratch.floats(rows * channels_);
  for (const auto& l : layers_) {
    conv_depthwise({&l.depthwise, x - l.before * channels_, rows, y}, context);
    auto norm = norm_args(l.norm_1, y, rows);
    norm.gelu = true;
    layer_norm(norm, context);
    conv(dense_job(l.pointwise, y, rows, z), context);
    norm = norm_args(l.norm_2, z, rows);
    norm.gelu = true;
    norm.residual = x;
    norm.out = x;
    layer_norm(norm, context);
  }
}

stochastic_durations::stochastic_durations(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width)
    : pre_(load_1x1(graph, "dp.pre", 0, width)), speaker_(graph, "dp.cond", pre_.out, speaker_width),
      stack_(graph, "dp.convs", pre_.out), project_(load_1x1(graph, "dp.proj", pre_.out, pre_.out)) {
  // Modules 0, 1, 2, ... are: the affine flow, then couplings and flips in turn. Run backwards, without module 1.
  std::int64_t index = 3;
  while (graph.has_conv(flow_module(index) + ".pre")) index += 2;
  for (index -= 2; index >= 3; index -= 2) {
    const auto module = flow_module(index);
    flows_.push_back({load_1x1(graph, module + ".pre", pre_.out, 1),
                      separable_stack(graph, module + ".convs", pre_.out),
                      load_1x1(graph, module + ".proj", 0, pre_.out)});
    const auto outputs = flows_.back().project.out;
    if ((outputs + 1) % 3 != 0 || static_cast<std::size_t>((outputs + 1) / 3) > most_spline_bins)
      graph.reject("the weight of \"" + module + ".proj\" has " + std::to_string(outputs) +
                   " outputs, expected 3 for each bin of a spline less one");
  }
  if (flows_.empty()) graph.reject("the duration predictor has no flows \"dp.flows.3\": is it a Piper voice?");
  read_affine(graph);
}

void stochastic_durations::read_affine(const voice_graph& graph) {
  shift_ = graph.values("dp.flows.0.m", 2)[0];
  if (graph.find("dp.flows.0.logs")) {
    scale_ = std::exp(-graph.values("dp.flows.0.logs", 2)[0]);
    return;
  }
  // Exporters fold the scale: (z - m) is multiplied either by exp(-logs) or by Exp of -logs, whatever they are called.
  const auto& file = graph.file();
  for (const auto* subtract : file.consumers("dp.flows.0.m")) {
    if (subtract->op_type != "Sub" || subtract->outputs.empty()) continue;
    for (const auto* multiply : file.consumers(subtract->outputs[0])) {
      if (multiply->op_type != "Mul") continue;
      for (const auto factor : multiply->inputs) {
        if (factor == subtract->outputs[0]) continue;
        if (graph.find(std::string(factor))) {
          scale_ = graph.values(std::string(factor), 2)[0];
          return;
        }
        const auto* exponential = file.producer(file.resolve(factor));
        if (exponential == nullptr || exponential->op_type != "Exp" || exponential->inputs.empty()) continue;
        scale_ = std::exp(graph.values(std::string(exponential->inputs[0]), 2)[0]);
        return;
      }
    }
  }
  graph.reject("the scale of the duration predictor's last flow (\"dp.flows.0.logs\") is missing");
}

void stochastic_durations::run(const encoded_text& text, std::span<const float> speaker, const noise& source,
                               float randomness, std::span<float> log_durations, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  const auto rows = text.symbols;
  const auto channels = pre_.out;
  float* hidden = padded_rows(stack_.reach(), rows, channels, context);
  const auto bias = speaker_.bias_of(pre_, speaker);
  auto pre = dense_job(pre_, text.hidden, rows, hidden);
  if (!bias.empty()) pre.w.bias = bias.data();
  conv(pre, context);
  stack_.run(hidden, rows, context);
  float* condition = context.scratch.floats(rows * channels);
  conv(dense_job(project_, hidden, rows, condition), context);

  std::vector<float> pairs(static_cast<std::size_t>(2 * rows));
  source.fill(0, 2 * rows, pairs.data());
  std::vector<float> first(static_cast<std::size_t>(rows));
  std::vector<float> second(static_cast<std::size_t>(rows));
  for (std::size_t t = 0; t < first.size(); ++t) {
    first[t] = pairs[2 * t] * randomness;
    second[t] = pairs[2 * t + 1] * randomness;
  }
  for (const auto& flow : flows_) {
    std::swap(first, second); // the flip before each coupling
    couple(flow, condition, first.data(), second, context);
  }
  std::swap(first, second);
  for (std::size_t t = 0; t < first.size(); ++t) log_durations[t] = (first[t] - shift_) * scale_;
}

void stochastic_durations::couple(const coupling& flow, const float* condition, const float* fixed,
                                  std::span<float> moved, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  const auto rows = static_cast<std::int64_t>(moved.size());
  const auto channels = flow.pre.out;
  float* hidden = padded_rows(flow.stack.reach(), rows, channels, context);
  auto pre = dense_job(flow.pre, fixed, rows, hidden);
  pre.a.residual = condition;
  conv(pre, context);
  flow.stack.run(hidden, rows, context);
  const auto outputs = flow.project.out;
  float* parameters = context.scratch.floats(rows * outputs);
  conv(dense_job(flow.project, hidden, rows, parameters), context);
  const auto bins = static_cast<std::size_t>((outputs + 1) / 3);
  const auto scale = 1.0F / std::sqrt(static_cast<float>(channels));
  for (std::int64_t t = 0; t < rows; ++t) {
    const std::span<float> row(parameters + t * outputs, static_cast<std::size_t>(outputs));
    for (auto& value : row.first(2 * bins)) value *= scale;
    auto& y = moved[static_cast<std::size_t>(t)];
    y = inverse_spline(y, row.first(bins), row.subspan(bins, bins), row.subspan(2 * bins), spline_tail);
  }
}

plain_durations::plain_durations(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width)
    : speaker_(graph, "dp.cond", width, speaker_width) {
  std::int64_t in = width;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto index = std::to_string(i + 1);
    convs_[i] = load_same(graph, "dp.conv_" + index, 0, in);
    in = convs_[i].out;
    norms_[i] = load_norm(graph, "dp.norm_" + index, in);
  }
  project_ = load_1x1(graph, "dp.proj", 1, in);
}

void plain_durations::run(const encoded_text& text, std::span<const float> speaker, const noise&, float,
                          std::span<float> log_durations, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  const auto rows = text.symbols;
  const auto width = convs_[0].in;
  const auto before = [](const conv_weights& w) { return w.span() / 2; };
  float* x = padded_rows(convs_[0].span(), rows, width, context);
  const auto added = speaker_.outputs(speaker);
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t c = 0; c < width; ++c)
      x[t * width + c] = text.hidden[t * width + c] + (added.empty() ? 0.0F : added[static_cast<std::size_t>(c)]);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto reach = i == 0 ? convs_[1].span() : 0;
    float* y = padded_rows(reach, rows, convs_[i].out, context);
    auto job = dense_job(convs_[i], x - before(convs_[i]) * convs_[i].in, rows, nullptr);
    job.a.activated = y; // slope 0: relu
    conv(job, context);
    layer_norm(norm_args(norms_[i], y, rows), context);
    x = y;
  }
  conv(dense_job(project_, x, rows, log_durations.data()), context);
}

} // namespace omni::vits
