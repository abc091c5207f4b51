#include "kernels/models/qwen3_omni/audio_encoder.hpp"

#include "kernels/models/qwen3_omni/encoder_weights.hpp"
#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace omni::qwen3_omni {
namespace {

constexpr float norm_epsilon = 1e-5F;
constexpr std::int64_t taps = 3; // along time and along mel, at stride 2 with one value of padding

std::int64_t halved(std::int64_t n) { return (n - 1) / 2 + 1; }
std::int64_t halved_thrice(std::int64_t n) { return halved(halved(halved(n))); }

/// Features of one chunk: [time, mel, channels].
struct feature_map {
  tensor values;
  std::int64_t times = 0, mels = 0, channels = 0;
};

/// The values that each output of a convolution reads, as rows: [time, mel] of [tap in time, tap in mel, channels].
tensor unfolded(const feature_map& in, const op_context& context) {
  const std::int64_t times = halved(in.times), mels = halved(in.mels), channels = in.channels;
  const tensor rows = context.scratch.take(dtype::f32, {times * mels, taps * taps * channels});
  context.lane.parallel(times, [&](std::int64_t t) {
    float* to = rows.f32() + t * mels * rows.columns();
    for (std::int64_t m = 0; m < mels; ++m)
      for (std::int64_t k = 0; k < taps; ++k)
        for (std::int64_t j = 0; j < taps; ++j, to += channels) {
          const std::int64_t time = 2 * t - 1 + k, mel = 2 * m - 1 + j;
          const bool outside = time < 0 || time >= in.times || mel < 0 || mel >= in.mels;
          if (outside)
            std::fill_n(to, channels, 0.0F);
          else
            std::copy_n(in.values.f32() + (time * in.mels + mel) * channels, channels, to);
        }
  });
  return rows;
}

/// A convolution's weights [out, in, mel, time] in the order of unfolded rows.
linear_weights read_conv(weight_reader& from, const std::string& module, std::int64_t out, std::int64_t in) {
  std::vector<float> values(static_cast<std::size_t>(out * in * taps * taps)), ordered(values.size());
  read_f32(from.file().get(module + ".weight", {out, in, taps, taps}), values);
  auto next = ordered.begin();
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t time = 0; time < taps; ++time)
      for (std::int64_t mel = 0; mel < taps; ++mel)
        for (std::int64_t i = 0; i < in; ++i)
          *next++ = values[static_cast<std::size_t>(((o * in + i) * taps + mel) * taps + time)];
  return {from.pack(tensor(ordered.data(), {out, in * taps * taps})), from.floats(module + ".bias", {out})};
}

/// The layer after the convolutions, whose columns are (channel, mel) in the file and (mel, channel) here.
linear_weights read_conv_out(weight_reader& from, const std::string& module, std::int64_t out, std::int64_t channels,
                             std::int64_t mels) {
  std::vector<float> values(static_cast<std::size_t>(out * channels * mels)), ordered(values.size());
  read_f32(from.file().get(module + ".weight", {out, channels * mels}), values);
  auto next = ordered.begin();
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t m = 0; m < mels; ++m)
      for (std::int64_t c = 0; c < channels; ++c)
        *next++ = values[static_cast<std::size_t>((o * channels + c) * mels + m)];
  return {from.pack(tensor(ordered.data(), {out, channels * mels})), nullptr};
}

/// Sines, then cosines, of positions.
std::vector<float> sinusoids(std::int64_t rows, std::int64_t width) {
  std::vector<float> table;
  const std::int64_t half = width / 2;
  for (std::int64_t p = 0; p < rows; ++p)
    for (std::int64_t c = 0; c < 2 * half; ++c) {
      const double frequency = std::pow(10000.0, -static_cast<double>(c % half) / static_cast<double>(half - 1));
      const double angle = static_cast<double>(p) * frequency;
      table.push_back(static_cast<float>(c < half ? std::sin(angle) : std::cos(angle)));
    }
  return table;
}

encoder_weights read_block(weight_reader& from, const std::string& module, const audio_config& c) {
  const auto square = [&](const char* name) {
    return from.linear(module + ".self_attn." + name, c.hidden, c.hidden, true);
  };
  encoder_weights w;
  w.attention_norm = read_norm(from, module + ".self_attn_layer_norm", c.hidden);
  w.query = square("q_proj");
  w.key = square("k_proj");
  w.value = square("v_proj");
  w.out = square("out_proj");
  w.mlp_norm = read_norm(from, module + ".final_layer_norm", c.hidden);
  w.fc1 = from.linear(module + ".fc1", c.ffn, c.hidden, true);
  w.fc2 = from.linear(module + ".fc2", c.hidden, c.ffn, true);
  return w;
}

} // namespace

audio_encoder::audio_encoder(const audio_config& config, const checkpoint& file, bool as_f32)
    : config_(config), block_{config.hidden, config.heads, config.ffn, activation::gelu, norm_epsilon},
      features_(config.mels) {
  const std::string root = "thinker.audio_tower.";
  weight_reader from(file, as_f32, arena_);
  for (std::size_t i = 0; i < 3; ++i)
    convs_[i] =
        read_conv(from, root + "conv2d" + std::to_string(i + 1), config_.channels, i == 0 ? 1 : config_.channels);
  conv_out_ = read_conv_out(from, root + "conv_out", config_.hidden, config_.channels, halved_thrice(config_.mels));
  const std::int64_t rows = halved_thrice(config_.chunk_frames);
  auto table = sinusoids(rows, config_.hidden);
  positions_ = from.keep(tensor(table.data(), {rows, config_.hidden}));
  for (std::int64_t i = 0; i < config_.layers; ++i)
    blocks_.push_back(read_block(from, root + "layers." + std::to_string(i), config_));
  last_norm_ = read_norm(from, root + "ln_post", config_.hidden);
  proj1_ = from.linear(root + "proj1", config_.hidden, config_.hidden, true);
  proj2_ = from.linear(root + "proj2", config_.out, config_.hidden, true);
}

tensor audio_encoder::convolve(const float* mel, std::int64_t frames, std::int64_t padded,
                               const op_context& context) const {
  feature_map map{context.scratch.take(dtype::f32, {padded, config_.mels}), padded, config_.mels, 1};
  std::memcpy(map.values.data, mel, static_cast<std::size_t>(frames * config_.mels) * sizeof(float));
  std::fill_n(map.values.f32() + frames * config_.mels, (padded - frames) * config_.mels, 0.0F);
  for (const auto& w : convs_)
    map = {gelu_out(unfolded(map, context), w, context), halved(map.times), halved(map.mels), config_.channels};
  return linear_out(tensor(map.values.f32(), {map.times, map.mels * map.channels}), conv_out_, context);
}

std::vector<float> audio_encoder::encode(std::span<const float> mel, bool whole_chunk, const tensor_observer* observer,
                                         const op_context& context) const {
  const auto show = [&](const char* name, const tensor& value) {
    if (observer != nullptr) (*observer)(name, value);
  };
  const workspace::scope scope(context.scratch);
  const std::int64_t frames = static_cast<std::int64_t>(mel.size()) / config_.mels, rows = config_.rows_of(frames);
  const tensor x = context.scratch.take(dtype::f32, {rows, config_.hidden});
  const tensor pending = context.scratch.take(dtype::f32, x.extents);
  const std::int64_t padded = whole_chunk ? config_.chunk_frames : frames;
  std::int64_t row = 0;
  for (std::int64_t at = 0; at < frames; at += config_.chunk_frames) {
    const workspace::scope chunk_scope(context.scratch);
    const std::int64_t count = std::min(config_.chunk_frames, frames - at), kept = config_.rows_of(count);
    const tensor made = convolve(mel.data() + at * config_.mels, count, padded, context);
    show("conv_out", made);
    for (std::int64_t i = 0; i < kept * config_.hidden; ++i)
      x.f32()[row * config_.hidden + i] = made.f32()[i] + positions_[i];
    row += kept;
  }
  show("layer_input", x);
  const std::int64_t window = config_.rows_of(config_.window_frames());
  std::vector<std::int64_t> runs(static_cast<std::size_t>(rows / window), window);
  if (rows % window > 0) runs.push_back(rows % window);
  const encoder_rows seen(runs, block_, {}, {}, context);
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    encoder_block(x, pending, i == 0, block_, blocks_[i], seen, {observer, static_cast<std::int64_t>(i)}, context);
  const tensor normed = context.scratch.take(dtype::f32, x.extents);
  normed_rows(x, pending, last_norm_, norm_epsilon, normed, context);
  show("ln_post", normed);
  const tensor out = linear_out(gelu_out(normed, proj1_, context), proj2_, context);
  return {out.f32(), out.f32() + out.values()};
}

} // namespace omni::qwen3_omni
