#include "kernels/models/qwen3_omni/omni_cost.hpp"

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"
#include "kernels/weights/reject.hpp"

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t conv_taps = 3;    // of the audio encoder, along both axes
constexpr std::int64_t vocoder_taps = 7; // of the vocoder's convolutions
constexpr std::int64_t dilations[] = {1, 3, 9};
constexpr std::int64_t mel_frames_per_second = 100;

double linear(std::int64_t out, std::int64_t in, bool bias = true) {
  return static_cast<double>(out * in + (bias ? out : 0));
}
double layer_norm(std::int64_t width) { return 2.0 * static_cast<double>(width); }

std::int64_t halved(std::int64_t n) { return (n - 1) / 2 + 1; }

/// Bytes that a weight takes as the stages hold it.
double value_bytes(const stage_model_spec& spec) {
  const auto config = hf_config::load(spec.model / "config.json");
  return wants_f32(spec) || weights_type(config) == dtype::f32 ? 4.0 : 2.0;
}

model_config speaking_config(const stage_model_spec& spec) {
  auto config = load_config(spec.model, true);
  if (!config.talker)
    reject(config.where, "this checkpoint does not speak (enable_audio_output is false); plan its thinker alone");
  return config;
}

decoder_config without_vocabulary(decoder_config config) {
  config.vocab = 0;
  return config;
}

/// Counts the vocoder's convolutions, each at `rate` rows per frame.
struct conv_counter {
  double values = 0, macs = 0;
  std::int64_t state = 0;
  std::int64_t rate = 1;

  void conv(std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t dilation = 1) {
    values += linear(out, in * taps);
    macs += static_cast<double>(rate * in * out * taps);
    state += in * (taps - 1) * dilation;
  }
  /// `taps` is the kernel's length, each input row meeting all of it.
  void transposed(std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t stride) {
    values += linear(out, in * taps);
    macs += static_cast<double>(rate * in * out * taps);
    if (taps > stride) state += in;
    rate *= stride;
  }
  void depthwise(std::int64_t channels) {
    values += linear(channels, vocoder_taps);
    macs += static_cast<double>(rate * channels * vocoder_taps);
    state += channels * (vocoder_taps - 1);
  }
  void vectors(std::int64_t count, std::int64_t width) { values += static_cast<double>(count * width); }
};

conv_counter count_convolutions(const code2wav_config& c) {
  const std::int64_t hidden = c.transformer.hidden;
  conv_counter n;
  for (const auto factor : c.upsampling) {
    n.transposed(hidden, hidden, factor, factor);
    n.depthwise(hidden);
    n.vectors(3, hidden); // norm and gamma
    n.conv(hidden, 4 * hidden, 1);
    n.conv(4 * hidden, hidden, 1);
  }
  n.conv(hidden, c.width, vocoder_taps);
  std::int64_t channels = c.width;
  for (const auto rate : c.rates) {
    n.vectors(2, channels);
    n.transposed(channels, channels / 2, 2 * rate, rate);
    channels /= 2;
    for (const auto dilation : dilations) {
      n.vectors(4, channels);
      n.conv(channels, channels, vocoder_taps, dilation);
      n.conv(channels, channels, 1);
    }
  }
  n.vectors(2, channels);
  n.conv(channels, 1, vocoder_taps);
  return n;
}

} // namespace

encoder_cost cost_of(const audio_config& c) {
  const std::int64_t field = conv_taps * conv_taps;
  encoder_cost cost;
  double chunk_macs = 0; // of the convolutions
  std::int64_t times = c.chunk_frames, mels = c.mels, channels = 1;
  for (int i = 0; i < 3; ++i) {
    times = halved(times);
    mels = halved(mels);
    chunk_macs += static_cast<double>(times * mels * c.channels * channels * field);
    cost.values += linear(c.channels, channels * field);
    channels = c.channels;
  }
  const double row =
      static_cast<double>(c.layers) * (4 * linear(c.hidden, c.hidden, false) + 2 * linear(c.ffn, c.hidden, false)) +
      linear(c.hidden, mels * channels, false) + linear(c.hidden, c.hidden, false) + linear(c.out, c.hidden, false);
  const double chunks = static_cast<double>(mel_frames_per_second) / static_cast<double>(c.chunk_frames);
  const double rows = chunks * static_cast<double>(times);
  cost.flops = 2.0 * (chunks * chunk_macs + rows * row);
  cost.attention_flops = 4.0 * rows * static_cast<double>(c.layers * c.hidden * c.window_chunks * times);
  const double layer_vectors = 2 * layer_norm(c.hidden) + static_cast<double>(5 * c.hidden + c.ffn); // norms, biases
  cost.values += row + static_cast<double>(c.layers) * layer_vectors + layer_norm(c.hidden) +
                 static_cast<double>(c.hidden + c.out);
  return cost;
}

encoder_cost cost_of(const vision_config& c, std::int64_t patches_high, std::int64_t patches_wide) {
  const std::int64_t wide = c.hidden * c.merge * c.merge, patches = patches_high * patches_wide;
  const double block =
      linear(3 * c.hidden, c.hidden, false) + linear(c.hidden, c.hidden, false) + 2 * linear(c.ffn, c.hidden, false);
  const double merger = linear(wide, wide, false) + linear(c.out, wide, false);
  const auto layers = static_cast<double>(c.layers), mergers = static_cast<double>(1 + c.deepstack.size());
  const auto all = static_cast<double>(patches);
  encoder_cost cost;
  cost.flops = 2.0 * (all * (linear(c.hidden, c.patch_values(), false) + layers * block) +
                      all / static_cast<double>(c.rows_per_patches()) * mergers * merger);
  cost.attention_flops = 4.0 * layers * all * all * static_cast<double>(c.hidden);
  const double vectors = 2 * layer_norm(c.hidden) + static_cast<double>(5 * c.hidden + c.ffn);
  cost.values = linear(c.hidden, c.patch_values()) + static_cast<double>(c.position_side * c.position_side * c.hidden) +
                layers * (block + vectors) + mergers * (merger + static_cast<double>(wide + c.out)) +
                layer_norm(c.hidden) + (mergers - 1) * layer_norm(wide);
  return cost;
}

predictor_cost cost_of_predictor(const talker_config& c) {
  const auto layers = omni::cost_of(without_vocabulary(c.predictor), 1.0).dense.values;
  const auto passes = static_cast<double>(c.code_groups - 1);
  const auto table = static_cast<double>(c.predictor.vocab * c.predictor.hidden);
  // The first pass takes two rows.
  return {layers + 2 * passes * table, passes * (layers + table), 2.0 * ((passes + 1) * layers + passes * table)};
}

vocoder_cost cost_of(const code2wav_config& c) {
  const auto transformer = omni::cost_of(without_vocabulary(c.transformer), 1.0);
  const auto n = count_convolutions(c);
  const auto layers = static_cast<std::int64_t>(c.transformer.blocks.size());
  const auto& attention = c.transformer.blocks.front().attention;
  vocoder_cost cost;
  cost.read_values = transformer.dense.values + n.values;
  cost.values = cost.read_values + static_cast<double>(c.groups * c.codebook * c.transformer.hidden);
  cost.flops =
      2.0 * (n.macs + transformer.dense.values + static_cast<double>(transformer.attention_width * attention.window));
  cost.state_values = n.state + layers * 2 * attention.kv_heads * attention.head_dim * (attention.window - 1);
  return cost;
}

stage_cost cost_of_thinker(const stage_model_spec& spec, const cost_question& question) {
  const auto config = load_config(spec.model, true);
  const double bytes = value_bytes(spec);
  const auto decoder = omni::cost_of(config.thinker, bytes);
  const std::int64_t picture = 768, side = picture / config.vision.patch;
  const auto sound = cost_of(config.audio);
  const auto seen = cost_of(config.vision, side, side);
  stage_cost made;
  made.parts = {{"text decoder", decoder.held()},
                {"audio encoder", {sound.values, bytes * sound.values}},
                {"vision encoder", {seen.values, bytes * seen.values}}};
  made.context = config.thinker.context;
  add_decoder_steps(decoder, question, bytes, made);
  if (config.thinker.accept_layer > 0)
    made.kept_token_bytes = config.thinker.hidden * static_cast<std::int64_t>(sizeof(float));
  made.steps.push_back({"hearing, a second of sound", bytes * sound.values, 0.0, sound.flops + sound.attention_flops,
                        1.0, "seconds of sound"});
  made.steps.push_back(
      {"seeing, a picture of 768 x 768", bytes * seen.values, 0.0, seen.flops + seen.attention_flops, 1.0, "pictures"});
  return made;
}

stage_cost cost_of_talker(const stage_model_spec& spec, const cost_question& question) {
  const auto config = speaking_config(spec);
  const auto& c = *config.talker;
  const double bytes = value_bytes(spec);
  const auto decoder = omni::cost_of(c.decoder, bytes);
  const auto predictor = cost_of_predictor(c);
  const auto width = config.thinker.hidden;
  const double projection = linear(c.projection_width, width) + linear(c.decoder.hidden, c.projection_width);
  const auto table = static_cast<double>(config.thinker.vocab * width);
  stage_cost made;
  made.parts = {{"decoder", decoder.held()},
                {"projections", {2 * projection, 2 * bytes * projection}},
                {"code predictor", {predictor.values, bytes * predictor.values}},
                {"a copy of the thinker's embedding", {table, bytes * table}}};
  made.context = c.decoder.context;
  add_decoder_steps(decoder, question, bytes, made);
  for (auto& step : made.steps)
    if (step.what.starts_with("decode")) step.unit = "frames";
  std::vector<std::int64_t> sizes{1};
  if (question.max_num_seqs > 1) sizes.push_back(question.max_num_seqs);
  for (const auto n : sizes) {
    const auto frames = static_cast<double>(n);
    made.steps.push_back({"code predictor, " + std::to_string(n) + (n == 1 ? " frame" : " frames"),
                          bytes * predictor.read_values, 0.0, frames * predictor.flops, frames, "frames"});
  }
  return made;
}

stage_cost cost_of_code2wav(const stage_model_spec& spec, const cost_question& question) {
  (void)question; // a call is one stream's
  const auto config = speaking_config(spec);
  const auto cost = cost_of(*config.code2wav);
  constexpr double bytes = sizeof(float); // always in F32
  stage_cost made;
  made.parts = {{"vocoder", {cost.values, bytes * cost.values}}};
  made.stream_bytes = cost.state_values * static_cast<std::int64_t>(sizeof(float));
  for (const std::int64_t frames : {1, 16})
    made.steps.push_back({"a call of " + std::to_string(frames) + (frames == 1 ? " frame" : " frames"),
                          bytes * cost.read_values, 0.0, static_cast<double>(frames) * cost.flops,
                          static_cast<double>(frames), "frames"});
  return made;
}

} // namespace omni::qwen3_omni
