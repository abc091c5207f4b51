#include "kernels/models/vits/flow.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/conv_pointwise.hpp"

#include <algorithm>

namespace omni::vits {
namespace {

// Reverses the order of input or output channels of a 1x1 convolution.
void reverse_inputs(conv_source& source) {
  const auto in = source.extents[1];
  for (std::int64_t o = 0; o < source.extents[0]; ++o)
    std::reverse(source.weight.begin() + o * in, source.weight.begin() + (o + 1) * in);
}

void reverse_outputs(conv_source& source) {
  const auto out = source.extents[0];
  const auto in = source.extents[1];
  for (std::int64_t o = 0; o < out / 2; ++o)
    std::swap_ranges(source.weight.begin() + o * in, source.weight.begin() + (o + 1) * in,
                     source.weight.begin() + (out - 1 - o) * in);
  std::reverse(source.bias.begin(), source.bias.end());
}

void negate(conv_source& source) {
  for (auto* values : {&source.weight, &source.bias})
    for (auto& value : *values) value = -value;
}

/// Outputs [first, first + count) of a 1x1 convolution.
conv_source outputs_of(const conv_source& source, std::int64_t first, std::int64_t count) {
  auto part = source;
  const auto in = source.extents[1];
  part.extents = {count, in, 1};
  part.weight.assign(source.weight.begin() + first * in, source.weight.begin() + (first + count) * in);
  if (!source.bias.empty()) part.bias.assign(source.bias.begin() + first, source.bias.begin() + first + count);
  return part;
}

conv_source conv_1x1(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t in) {
  auto source = graph.conv(module);
  if (!(source.extents == shape{out, in, 1}) || source.groups != 1 || source.stride != 1)
    graph.reject("the weight of \"" + module + "\" is " + to_string(source.extents) + ", expected " +
                 to_string({out, in, 1}));
  return source;
}

} // namespace

latent_flow::latent_flow(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width) : width_(width) {
  if (width % 2 != 0) graph.reject("the flow needs an even number of channels, the prior has " + std::to_string(width));
  low_ = stack_.add_track(width / 2);
  high_ = stack_.add_track(width / 2);
  // Couplings are the even modules, run backwards, each after a flip of all channels. The flips are never done: seen
  // from a coupling after an odd number of them, the halves have changed places and stand in reverse order.
  std::int64_t index = 0;
  while (graph.has_conv("flow.flows." + std::to_string(index) + ".pre")) index += 2;
  if (index == 0) graph.reject("the graph has no flow \"flow.flows.0\": is it a Piper voice?");
  if (index % 4 != 0) graph.reject("the flow has an odd number of couplings, which no Piper voice has");
  low_out_ = low_;
  high_out_ = high_;
  bool reversed = true;
  for (index -= 2; index >= 0; index -= 2, reversed = !reversed) {
    const auto module = "flow.flows." + std::to_string(index);
    auto& moved = reversed ? low_out_ : high_out_;
    moved = add_coupling(graph, module, reversed ? high_out_ : low_out_, moved, reversed, speaker_width);
  }
  stack_.add_reader(low_out_, 0, 0);
  stack_.add_reader(high_out_, 0, 0);
}

const conv_weights* latent_flow::keep(conv_weights w) {
  convs_.push_back(std::move(w));
  return &convs_.back();
}

track_id latent_flow::add_coupling(const voice_graph& graph, const std::string& module, track_id fixed, track_id moved,
                                   bool reversed, std::int64_t speaker_width) {
  const auto half = width_ / 2;
  auto pre = graph.conv(module + ".pre");
  if (pre.extents[1] != half || pre.extents[2] != 1)
    graph.reject("the weight of \"" + module + ".pre\" is " + to_string(pre.extents) + ", expected " +
                 std::to_string(half) + " input channels and one tap");
  if (reversed) reverse_inputs(pre);
  const auto* in = keep(pack_same(graph, pre, 0, half));
  const auto hidden = stack_.add_track(in->out);
  stack_.add({{.weights = in, .in = fixed, .out = hidden}});
  const auto skip = add_wavenet(graph, module + ".enc", hidden, speaker_width);
  auto post = conv_1x1(graph, module + ".post", half, in->out);
  negate(post);
  if (reversed) reverse_outputs(post);
  const auto result = stack_.add_track(half);
  stack_.add({{.weights = keep(pack_same(graph, post, half, in->out)), .in = skip, .residual = moved, .out = result}});
  return result;
}

track_id latent_flow::add_wavenet(const voice_graph& graph, const std::string& module, track_id hidden,
                                  std::int64_t speaker_width) {
  const auto channels = stack_.channels(hidden);
  const auto layers = graph.count_convs(module + ".in_layers.", "");
  if (layers == 0) graph.reject("the flow has no layers \"" + module + ".in_layers\"");
  speakers_.emplace_back(graph, module + ".cond_layer", 2 * channels * layers, speaker_width);
  track_id skip = no_track;
  for (std::int64_t i = 0; i < layers; ++i) {
    const auto index = std::to_string(i);
    const auto source = graph.conv(module + ".in_layers." + index);
    if (source.pad_left + source.pad_right != source.dilation * (source.extents[2] - 1))
      graph.reject("the convolution \"" + source.module + "\" changes the length of its input");
    const auto* in = keep(pack_same(graph, source, 2 * channels, channels));
    if (speaker_width > 0) slices_.push_back({stack_.parts(), in, speakers_.size() - 1, 2 * channels * i});
    const auto both = stack_.add_track(2 * channels);
    stack_.add({{.weights = in, .in = hidden, .before = source.pad_left, .out = both}});
    const auto gated = stack_.add_track(channels);
    stack_.add(
        row_map{both, gated, 0, [channels](const float* x, float* y, std::int64_t rows, const op_context& context) {
                  tanh_sigmoid_gate({x, y, rows, channels}, context);
                }});

    const bool last = i + 1 == layers;
    const auto split = conv_1x1(graph, module + ".res_skip_layers." + index, last ? channels : 2 * channels, channels);
    std::vector<stack_conv> convs;
    if (!last) {
      const auto next = stack_.add_track(channels);
      convs.push_back({.weights = keep(pack_same(graph, outputs_of(split, 0, channels), channels, channels)),
                       .in = gated,
                       .residual = hidden,
                       .out = next});
      hidden = next;
    }
    const auto sum = stack_.add_track(channels);
    const auto first = last ? 0 : channels;
    convs.push_back({.weights = keep(pack_same(graph, outputs_of(split, first, channels), channels, channels)),
                     .in = gated,
                     .residual = skip,
                     .out = sum});
    skip = sum;
    stack_.add(std::move(convs));
  }
  return skip;
}

std::vector<std::vector<float>> latent_flow::speaker_biases(std::span<const float> speaker) const {
  if (slices_.empty()) return {};
  std::vector<std::vector<float>> biases(stack_.parts());
  for (const auto& s : slices_) biases[s.part] = speakers_[s.layer].bias_of(*s.conv, speaker, s.first);
  return biases;
}

latent_flow::stream::stream(const latent_flow& model, const std::vector<std::vector<float>>& biases)
    : model_(model), layers_(model.stack_) {
  for (const auto& bias : biases) biases_.push_back(bias.empty() ? nullptr : bias.data());
}

void latent_flow::stream::run(const float* frames, std::int64_t count, bool last, std::vector<float>& out,
                              const op_context& context) {
  const conv_stack::stream::session session(layers_, context.scratch);
  const auto half = model_.width_ / 2;
  std::int64_t offset = 0;
  for (const auto id : {model_.low_, model_.high_}) {
    auto& in = layers_.track(id);
    OMNI_CHECK(!in.closed(), "no frame may follow the end of a sentence");
    const auto first = in.end();
    in.reserve(first + count);
    for (std::int64_t t = 0; t < count; ++t) std::copy_n(frames + t * model_.width_ + offset, half, in.row(first + t));
    in.advance(first + count);
    if (last) in.close();
    offset += half;
  }
  layers_.run(
      biases_, [&] { take_frames(out); }, context);
}

/// The frames of which both halves are there.
void latent_flow::stream::take_frames(std::vector<float>& out) {
  const auto half = model_.width_ / 2;
  const auto& low = layers_.track(model_.low_out_);
  const auto& high = layers_.track(model_.high_out_);
  for (const auto end = std::min(low.end(), high.end()); done_ < end; ++done_) {
    out.insert(out.end(), low.row(done_), low.row(done_) + half);
    out.insert(out.end(), high.row(done_), high.row(done_) + half);
  }
  layers_.read_up_to(model_.low_out_, done_);
  layers_.read_up_to(model_.high_out_, done_);
}

} // namespace omni::vits
