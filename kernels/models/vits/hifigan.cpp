#include "kernels/models/vits/hifigan.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni::vits {
namespace {

constexpr float inner_slope = 0.1F;
constexpr float output_slope = 0.01F; // PyTorch's default, which the reference model uses before its last layer
constexpr std::int64_t most_samples_per_frame = 4096;

// Frames that go through the first layers together: enough to reuse their weights.
constexpr std::int64_t frames_at_once = 64;
// Values of a track that go through a stage together: about ten tracks of F32 fit the second-level cache.
constexpr std::int64_t stage_values = 32 * 1024;

void check_same_padding(const voice_graph& graph, const conv_source& source) {
  if (source.pad_left + source.pad_right != source.dilation * (source.extents[2] - 1))
    graph.reject("the convolution \"" + source.module + "\" changes the length of its input");
}

} // namespace

std::int64_t samples_per_frame(const voice_graph& graph) {
  const auto stages = graph.count_convs("dec.ups.", "");
  std::int64_t samples = 1;
  for (std::int64_t i = 0; i < stages && samples <= most_samples_per_frame; ++i)
    samples *= graph.conv("dec.ups." + std::to_string(i)).stride;
  if (samples > most_samples_per_frame)
    graph.reject("the decoder makes more than " + std::to_string(most_samples_per_frame) + " samples of a frame");
  return samples;
}

hifigan::hifigan(const voice_graph& graph, std::int64_t speaker_width) {
  if (vits::samples_per_frame(graph) < 2) graph.reject("the decoder has no upsampling layers: is it a Piper voice?");
  const auto pre = graph.conv("dec.conv_pre");
  check_same_padding(graph, pre);
  const auto* first = keep(pack_same(graph, pre, 0, 0));
  speaker_ = speaker_layer(graph, "dec.cond", first->out, speaker_width);
  frames_ = stack_.add_track(first->in);
  activated_ = stack_.add_track(first->out);
  inner_.push_back(activated_);
  stack_.add(
      {{.weights = first, .in = frames_, .before = pre.pad_left, .activated = activated_, .slope = inner_slope}});

  const auto stages = graph.count_convs("dec.ups.", "");
  const auto blocks =
      std::max(graph.count_convs("dec.resblocks.", ".convs.0"), graph.count_convs("dec.resblocks.", ".convs1.0"));
  constexpr std::int64_t most_blocks = 16; // of a stage
  if (stages == 0 || blocks == 0 || blocks % stages != 0 || blocks / stages > most_blocks)
    graph.reject("the decoder has " + std::to_string(stages) + " upsampling layers and " + std::to_string(blocks) +
                 " residual blocks, which do not belong together");
  for (std::int64_t stage = 0; stage < stages; ++stage)
    add_stage(graph, stage, blocks / stages, stage + 1 < stages ? inner_slope : output_slope);
  add_output(graph);
}

const conv_weights* hifigan::keep(conv_weights w) {
  flops_per_frame_ += 2 * w.in * w.out * w.taps * samples_per_frame_;
  convs_.push_back(std::move(w));
  return &convs_.back();
}

std::int64_t hifigan::add_upsampling(const voice_graph& graph, const std::string& module, track_id from, features& to) {
  const auto source = graph.conv(module);
  const auto stride = source.stride;
  const auto channels = source.extents[1];
  const auto kernel = source.extents[2];
  if (source.extents[0] != stack_.channels(from) || source.groups != 1 || source.dilation != 1)
    graph.reject("the weight of \"" + module + "\" is " + to_string(source.extents) + ", expected " +
                 std::to_string(stack_.channels(from)) + " input channels, one group, dilation 1");
  if (kernel < stride || source.pad_left != source.pad_right || kernel - stride != 2 * source.pad_left)
    graph.reject("the upsampling layer \"" + module + "\" does not make exactly " + std::to_string(stride) +
                 " values of one");
  const auto* w = keep(pack_transposed_conv(source.weight, source.bias, source.extents, stride));
  samples_per_frame_ *= stride;
  to = {stack_.add_track(channels), stack_.add_track(channels)};
  inner_.push_back(to.raw);
  stack_.add({{.weights = w,
               .in = from,
               .before = w->taps - 1,
               .out = to.raw,
               .activated = to.activated,
               .slope = inner_slope,
               .stride = stride,
               .cut = source.pad_left}});
  return channels;
}

std::vector<stack_conv> hifigan::residual_block(const voice_graph& graph, const std::string& module, features from,
                                                std::int64_t channels) {
  std::vector<stack_conv> convs;
  const auto add = [&](const std::string& name, track_id in, track_id residual, features to) {
    const auto source = graph.conv(name);
    check_same_padding(graph, source);
    convs.push_back({.weights = keep(pack_same(graph, source, channels, channels)),
                     .in = in,
                     .before = source.pad_left,
                     .residual = residual,
                     .out = to.raw,
                     .activated = to.activated,
                     .slope = inner_slope});
  };
  const bool paired = graph.has_conv(module + ".convs1.0"); // ResBlock1: a second convolution before each addition
  const auto count = graph.count_convs(module + (paired ? ".convs1." : ".convs."), "");
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = std::to_string(i);
    const features to = i + 1 < count ? features{stack_.add_track(channels), stack_.add_track(channels)} : features{};
    if (paired) {
      const features between{no_track, stack_.add_track(channels)};
      add(module + ".convs1." + index, from.activated, no_track, between);
      add(module + ".convs2." + index, between.activated, from.raw, to);
    } else {
      add(module + ".convs." + index, from.activated, from.raw, to);
    }
    from = to;
  }
  return convs;
}

void hifigan::add_stage(const voice_graph& graph, std::int64_t stage, std::int64_t blocks, float slope) {
  features upsampled;
  // The first upsampling layer has the most weights and the fewest rows, so it belongs to what comes before the stages.
  if (stage > 0) stack_.begin_stage(stage_values);
  const auto channels = add_upsampling(graph, "dec.ups." + std::to_string(stage), activated_, upsampled);
  if (stage == 0) stack_.begin_stage(stage_values);
  std::vector<std::vector<stack_conv>> chains;
  for (std::int64_t b = 0; b < blocks; ++b) {
    chains.push_back(residual_block(graph, "dec.resblocks." + std::to_string(stage * blocks + b), upsampled, channels));
    if (chains.back().empty() || chains.back().size() != chains.front().size())
      graph.reject("the residual blocks of the decoder have different numbers of convolutions");
  }
  // Blocks advance side by side, level by level; their last convolutions are summed up.
  for (std::size_t level = 0; level + 1 < chains.front().size(); ++level) {
    std::vector<stack_conv> convs;
    for (const auto& chain : chains) convs.push_back(chain[level]);
    stack_.add(std::move(convs));
  }
  std::vector<stack_conv> summands;
  for (const auto& chain : chains) summands.push_back(chain.back());
  activated_ = stack_.add_track(channels);
  summands.back().activated = activated_;
  summands.back().slope = slope;
  stack_.add_sum(std::move(summands), 1.0F / static_cast<float>(blocks));
}

void hifigan::add_output(const voice_graph& graph) {
  const auto source = graph.last_conv("dec.conv_post");
  check_same_padding(graph, source);
  const auto in = stack_.channels(activated_);
  if (source.extents[0] != 1 || source.extents[1] != in || source.dilation != 1 || source.groups != 1)
    graph.reject("the weight of the output layer is " + to_string(source.extents) + ", expected [1, " +
                 std::to_string(in) + ", any] with dilation 1");
  output_ = pack_conv_to_mono(source.weight, source.bias.empty() ? 0.0F : source.bias.front(), in, source.extents[2]);
  output_before_ = source.pad_left;
  stack_.add_reader(activated_, source.pad_left, source.pad_right);
  flops_per_frame_ += 2 * output_.in * output_.taps * samples_per_frame_;
}

hifigan::stream::stream(const hifigan& model, const std::vector<float>& bias)
    : model_(model), layers_(model.stack_), biases_(bias.empty() ? 0 : model.stack_.parts(), nullptr) {
  if (!bias.empty()) biases_.front() = bias.data();
}

void hifigan::stream::decode(const float* frames, std::int64_t count, bool last, std::vector<float>& samples,
                             const op_context& context) {
  const conv_stack::stream::session session(layers_, context.scratch);
  for (std::int64_t done = 0; done < count || last; done += frames_at_once) {
    const auto piece = std::min(frames_at_once, count - done);
    const bool ends = last && done + piece == count;
    decode_piece(frames + done * model_.frame_width(), piece, ends, samples, context);
    if (ends) break;
  }
}

void hifigan::stream::observe(tensor_observer observer) {
  layers_.watch([this, observer = std::move(observer)](track_id id, std::int64_t first) {
    const auto found = std::find(model_.inner_.begin(), model_.inner_.end(), id);
    if (found == model_.inner_.end()) return;
    const auto& track = layers_.track(id);
    const auto index = found - model_.inner_.begin();
    observer(index == 0 ? "conv_pre" : "up" + std::to_string(index - 1),
             tensor(track.row(first), {track.end() - first, track.channels()}));
  });
}

void hifigan::stream::decode_piece(const float* frames, std::int64_t count, bool last, std::vector<float>& samples,
                                   const op_context& context) {
  auto& in = layers_.track(model_.frames_);
  OMNI_CHECK(!in.closed(), "no frame may follow the end of a sentence");
  in.reserve(in.end() + count);
  std::copy_n(frames, count * in.channels(), in.row(in.end()));
  in.advance(in.end() + count);
  if (last) in.close();
  layers_.run(
      biases_, [&] { take_samples(samples, context); }, context);
}

/// The output layer, over the features that are there.
void hifigan::stream::take_samples(std::vector<float>& samples, const op_context& context) {
  const auto& output = model_.output_;
  const auto& features = layers_.track(model_.activated_);
  const auto after = output.taps - 1 - model_.output_before_;
  const auto end = features.closed() ? features.end() : features.end() - after;
  if (end <= samples_done_) return;
  const auto first = samples.size();
  samples.resize(first + static_cast<std::size_t>(end - samples_done_));
  conv_to_mono({.weights = &output,
                     .x = features.row(samples_done_ - model_.output_before_),
                     .rows = end - samples_done_,
                     .out = samples.data() + first},
                    context);
  samples_done_ = end;
  layers_.read_up_to(model_.activated_, samples_done_);
}

} // namespace omni::vits
