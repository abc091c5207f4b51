#include "kernels/models/qwen3_omni/vocoder.hpp"

#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t kernel_taps = 7;
constexpr std::array<std::int64_t, 3> dilations{1, 3, 9};
constexpr float convnext_epsilon = 1e-6F;

// Frames that go through the transformer together; with the window it says how many keys a stream holds.
constexpr std::int64_t frames_at_once = 32;
constexpr std::int64_t block_tokens = 16;
// Values of a track that go through a stage together: about ten tracks of F32 fit the second-level cache. Wider stages
// have more weights than features, so all that is ready goes through a layer at once.
constexpr std::int64_t stage_values = 32 * 1024;
constexpr std::int64_t widest_staged = 256;

decoder_weights load_transformer(const decoder_config& config, const checkpoint& file) {
  decoder_weights w;
  weight_reader reader(file, true, w.arena);
  read_decoder_blocks(config, reader, {"code2wav.pre_transformer", ""}, w);
  return w;
}

} // namespace

vocoder::vocoder(const code2wav_config& config, const checkpoint& file)
    : config_(config), file_(&file), transformer_weights_(load_transformer(config_.transformer, file)),
      transformer_(config_.transformer, transformer_weights_) {
  const std::int64_t hidden = config_.transformer.hidden;
  embedding_ = read("code_embedding.weight", {config_.groups * config_.codebook, hidden});
  frames_ = layers_.add_track(hidden);
  track_id at = frames_;
  for (std::size_t u = 0; u < config_.upsampling.size(); ++u) {
    const std::string module = "upsample." + std::to_string(u);
    const std::int64_t factor = config_.upsampling[u];
    at = add_transposed(module + ".0", at, hidden, factor, factor);
    name(at, module + ".conv");
    at = add_convnext(module + ".1", at);
    name(at, module + ".convnext");
  }
  at = add_conv("decoder.0", at, config_.width, kernel_taps, 1);
  name(at, "decoder.0");
  for (std::size_t b = 0; b < config_.rates.size(); ++b) {
    if (layers_.channels(at) / 2 <= widest_staged) layers_.begin_stage(stage_values);
    const std::string module = "decoder." + std::to_string(b + 1);
    at = add_block(module + ".block", at, config_.rates[b]);
    name(at, module);
  }
  const auto blocks = config_.rates.size();
  last_ = add_snake("decoder." + std::to_string(blocks + 1), at);
  name(last_, "decoder." + std::to_string(blocks + 1));
  const std::int64_t channels = layers_.channels(last_);
  const std::string output = "decoder." + std::to_string(blocks + 2) + ".conv";
  output_ = pack_conv_to_mono(read(output + ".weight", {1, channels, kernel_taps}), read(output + ".bias", {1}).front(),
                              channels, kernel_taps);
  layers_.add_reader(last_, kernel_taps - 1, 0);
  file_ = nullptr;
}

std::vector<float> vocoder::read(const std::string& tensor_name, const shape& extents) const {
  std::vector<float> values(static_cast<std::size_t>(extents.values()));
  read_f32(file_->get("code2wav." + tensor_name, extents), values);
  return values;
}

const float* vocoder::keep(std::vector<float> values) { return values_.emplace_back(std::move(values)).data(); }

const conv_weights* vocoder::keep(conv_weights w) {
  flops_per_frame_ += 2 * w.in * w.out * w.taps * rate_;
  return &convs_.emplace_back(std::move(w));
}

/// A causal convolution: zeros stand before the first row.
track_id vocoder::add_conv(const std::string& module, track_id in, std::int64_t out, std::int64_t taps,
                           std::int64_t dilation, track_id residual) {
  const shape extents{out, layers_.channels(in), taps};
  const auto* w =
      keep(pack_conv(read(module + ".conv.weight", extents), read(module + ".conv.bias", {out}), extents, dilation));
  const track_id to = layers_.add_track(out);
  layers_.add({{.weights = w, .in = in, .before = w->span(), .residual = residual, .out = to}});
  return to;
}

/// A transposed convolution; where kernel and stride differ, as many values are cut off on both sides. Those on the
/// right are never computed, since they would need a row after the last.
track_id vocoder::add_transposed(const std::string& module, track_id in, std::int64_t out, std::int64_t kernel,
                                 std::int64_t stride) {
  const shape extents{layers_.channels(in), out, kernel};
  const auto* w = keep(pack_transposed_conv(read(module + ".conv.weight", extents), read(module + ".conv.bias", {out}),
                                            extents, stride));
  rate_ *= stride;
  const track_id to = layers_.add_track(out);
  layers_.add({{.weights = w, .in = in, .before = w->taps - 1, .out = to, .stride = stride, .cut = kernel - stride}});
  return to;
}

track_id vocoder::add_snake(const std::string& module, track_id in) {
  const std::int64_t channels = layers_.channels(in);
  auto rate = read(module + ".alpha", {channels}), gain = read(module + ".beta", {channels});
  for (auto& value : rate) value = std::exp(value);
  for (auto& value : gain) value = 1.0F / (std::exp(value) + 1e-9F);
  const float *const rates = keep(std::move(rate)), *const gains = keep(std::move(gain));
  const track_id to = layers_.add_track(channels);
  layers_.add(row_map{in, to, 0, [=](const float* x, float* y, std::int64_t rows, const op_context& context) {
                        activate({activation::snake, x, y, rows, channels, rates, gains}, context);
                      }});
  return to;
}

track_id vocoder::add_gelu(track_id in) {
  const std::int64_t channels = layers_.channels(in);
  const track_id to = layers_.add_track(channels);
  layers_.add(row_map{in, to, 0, [=](const float* x, float* y, std::int64_t rows, const op_context& context) {
                        activate({activation::gelu, x, y, rows, channels}, context);
                      }});
  return to;
}

/// x + gamma * pw2(gelu(pw1(norm(depthwise(x))))), gamma being multiplied into pw2.
track_id vocoder::add_convnext(const std::string& module, track_id in) {
  const std::int64_t channels = layers_.channels(in), wide = 4 * channels;
  const auto* mix = &depthwise_.emplace_back(
      pack_depthwise(read(module + ".dwconv.conv.weight", {channels, 1, kernel_taps}),
                     read(module + ".dwconv.conv.bias", {channels}), channels, kernel_taps, 1));
  const track_id mixed = layers_.add_track(channels), normed = layers_.add_track(channels);
  layers_.add(
      row_map{in, mixed, kernel_taps - 1, [=](const float* x, float* y, std::int64_t rows, const op_context& context) {
                conv_depthwise({mix, x, rows, y}, context);
              }});
  const float* const weight = keep(read(module + ".norm.weight", {channels}));
  const float* const bias = keep(read(module + ".norm.bias", {channels}));
  layers_.add(row_map{mixed, normed, 0, [=](const float* x, float* y, std::int64_t rows, const op_context& context) {
                        layer_norm({.x = x,
                                    .gamma = weight,
                                    .beta = bias,
                                    .out = y,
                                    .rows = rows,
                                    .channels = channels,
                                    .epsilon = convnext_epsilon},
                                   context);
                      }});
  const track_id inner = layers_.add_track(wide), to = layers_.add_track(channels);
  const auto* up = keep(pack_conv(read(module + ".pwconv1.weight", {wide, channels}),
                                  read(module + ".pwconv1.bias", {wide}), {wide, channels, 1}));
  layers_.add({{.weights = up, .in = normed, .out = inner}});
  const track_id active = add_gelu(inner);
  auto down = read(module + ".pwconv2.weight", {channels, wide}),
       down_bias = read(module + ".pwconv2.bias", {channels});
  const auto gamma = read(module + ".gamma", {channels});
  for (std::size_t i = 0; i < down.size(); ++i) down[i] *= gamma[i / static_cast<std::size_t>(wide)];
  for (std::size_t i = 0; i < gamma.size(); ++i) down_bias[i] *= gamma[i];
  layers_.add(
      {{.weights = keep(pack_conv(down, down_bias, {channels, wide, 1})), .in = active, .residual = in, .out = to}});
  return to;
}

/// Snake, upsampling by `rate` to half the channels, and residual units of growing dilation.
track_id vocoder::add_block(const std::string& module, track_id in, std::int64_t rate) {
  const std::int64_t channels = layers_.channels(in) / 2;
  track_id at = add_transposed(module + ".1", add_snake(module + ".0", in), channels, 2 * rate, rate);
  for (std::size_t i = 0; i < dilations.size(); ++i) {
    const std::string unit = module + "." + std::to_string(i + 2);
    const track_id inner =
        add_conv(unit + ".conv1", add_snake(unit + ".act1", at), channels, kernel_taps, dilations[i]);
    at = add_conv(unit + ".conv2", add_snake(unit + ".act2", inner), channels, 1, 1, at);
  }
  return at;
}

// -- a stream ---------------------------------------------------------------------------------------------------------

namespace {

/// Blocks that hold the keys which the frames of one step see.
std::int64_t ring_blocks(const code2wav_config& config) {
  const std::int64_t window = config.transformer.blocks.front().attention.window;
  return (window - 1 + frames_at_once + block_tokens - 1) / block_tokens + 1;
}

} // namespace

vocoder::stream::stream(const vocoder& model)
    : model_(model), cache_(model.transformer_.cache_shape(block_tokens), ring_blocks(model.config_)),
      layers_(model.layers_) {}

void vocoder::stream::observe(tensor_observer observer) {
  observer_ = std::move(observer);
  layers_.watch([this](track_id id, std::int64_t from) {
    auto& track = layers_.track(id);
    for (const auto& named : model_.names_)
      if (named.id == id) observer_(named.name, tensor(track.row(from), {track.end() - from, track.channels()}));
  });
}

void vocoder::stream::show(const char* what, const tensor& value) const {
  if (observer_) observer_(what, value);
}

void vocoder::stream::decode(std::span<const std::int32_t> codes, std::vector<float>& samples,
                             const op_context& context) {
  const auto piece = static_cast<std::size_t>(frames_at_once * model_.config_.groups);
  for (std::size_t at = 0; at < codes.size(); at += piece)
    decode_piece(codes.subspan(at, std::min(piece, codes.size() - at)), samples, context);
}

void vocoder::stream::decode_piece(std::span<const std::int32_t> codes, std::vector<float>& samples,
                                   const op_context& context) {
  const workspace::scope scope(context.scratch);
  const std::int64_t rows = static_cast<std::int64_t>(codes.size()) / model_.config_.groups;
  const tensor features = transform(codes, rows, context);
  const conv_stack::stream::session session(layers_, context.scratch);
  auto& in = layers_.track(model_.frames_);
  in.reserve(in.end() + rows);
  std::copy_n(features.f32(), features.values(), in.row(in.end()));
  in.advance(in.end() + rows);
  layers_.run(
      {}, [&] { take_samples(samples, context); }, context);
}

tensor vocoder::stream::transform(std::span<const std::int32_t> codes, std::int64_t rows, const op_context& context) {
  const auto& config = model_.config_;
  const std::int64_t hidden = config.transformer.hidden;
  const tensor x = context.scratch.take(dtype::f32, {rows, hidden});
  const tensor pending = context.scratch.take(dtype::f32, {rows, hidden});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < hidden; ++c) {
      float sum = 0.0F;
      for (std::int64_t q = 0; q < config.groups; ++q)
        sum += model_.embedding_[static_cast<std::size_t>(
            (q * config.codebook + codes[static_cast<std::size_t>(r * config.groups + q)]) * hidden + c)];
      x.f32()[r * hidden + c] = sum / static_cast<float>(config.groups);
    }
  show("embedding_mean", x);
  std::vector<rope_position> positions;
  std::vector<std::int32_t> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    positions.emplace_back(static_cast<std::int32_t>(frames_done_ + r));
    all.push_back(static_cast<std::int32_t>(r));
  }
  // What fell out of the window gives its block to the newest frames.
  while (static_cast<std::int64_t>(block_table_.size()) * block_tokens < frames_done_ + rows)
    block_table_.push_back(
        static_cast<std::int32_t>(static_cast<std::int64_t>(block_table_.size()) % ring_blocks(config)));
  const sequence_rows sequence{0, rows, frames_done_, block_table_};
  const tensor_observer layers = [this](const std::string& name, const tensor& value) {
    if (name.ends_with(".hidden")) observer_("transformer." + name.substr(7, name.find('.', 7) - 7), value);
  };
  const stack_step step{x, pending, positions, std::span(&sequence, 1), &cache_, {}, {}, observer_ ? &layers : nullptr};
  model_.transformer_.run(step, context);
  const rms_norm_args norm = model_.transformer_.last_norm(step, all, context);
  rms_norm(norm, context);
  show("transformer.norm", norm.out);
  frames_done_ += rows;
  return norm.out;
}

/// The output layer, over the features that are there.
void vocoder::stream::take_samples(std::vector<float>& samples, const op_context& context) {
  const auto& features = layers_.track(model_.last_);
  const std::int64_t rows = features.end() - samples_done_;
  if (rows <= 0) return;
  const auto first = samples.size();
  samples.resize(first + static_cast<std::size_t>(rows));
  conv_to_mono({&model_.output_, features.row(samples_done_ - (kernel_taps - 1)), rows, samples.data() + first, true},
               context);
  samples_done_ = features.end();
  layers_.read_up_to(model_.last_, samples_done_);
}

} // namespace omni::qwen3_omni
