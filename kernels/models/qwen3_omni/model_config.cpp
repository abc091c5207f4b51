#include "kernels/models/qwen3_omni/model_config.hpp"

#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace omni::qwen3_omni {
namespace {

namespace limit = decoder_limits;
constexpr int_range id_range{0, limit::vocab.high - 1};
constexpr int_range small{1, 64};

std::int32_t id_of(const hf_config& c, const char* key) {
  return static_cast<std::int32_t>(c.required_int(key, id_range));
}

void require(const hf_config& c, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (!c.has(key)) reject(c.where(), "expected a key " + shown(key) + " in each of the decoders, found none");
}

/// A decoder whose rope is given as `rope_theta` or inside of `rope_parameters`.
decoder_config read_decoder(const hf_config& c, const std::string& family) {
  require(c, {"rms_norm_eps", "num_key_value_heads"});
  const auto parameters = c.find_child("rope_parameters");
  if (!c.has("rope_theta") && !(parameters && parameters->has("rope_theta")))
    reject(c.where(), "expected rope_theta, alone or in rope_parameters, in each of the decoders, found none");
  return inner_decoder_config(c, family);
}

/// A decoder with experts and rope over time, height and width.
decoder_config read_multimodal_decoder(const hf_config& c) {
  require(c, {"head_dim", "norm_topk_prob", "moe_intermediate_size", "num_experts_per_tok"});
  decoder_config d = read_decoder(c, "qwen3_moe");
  if (d.rope.sections == std::array<std::int64_t, 3>{})
    reject(c.where(), "expected mrope_section among the rope parameters of thinker and talker, found none");
  d.vocab = c.required_int("vocab_size", limit::vocab);
  d.tied = false;
  return d;
}

void check_heads(const hf_config& c, std::int64_t hidden, std::int64_t heads) {
  if (hidden % heads != 0 || hidden / heads > limit::head_dim.high)
    reject(c.where(), "an encoder's width of " + std::to_string(hidden) + " cannot be shared by " +
                          std::to_string(heads) + " heads of at most 256 dims");
}

audio_config read_audio(const hf_config& c) {
  audio_config a;
  a.mels = c.required_int("num_mel_bins", {8, 512});
  a.chunk_frames = 2 * c.required_int("n_window", {8, 4096});
  const std::int64_t window = c.required_int("n_window_infer", {1, 1 << 20});
  if (window % a.chunk_frames != 0)
    reject(c.where(), "n_window_infer is " + std::to_string(window) + ", expected a multiple of 2 * n_window");
  a.window_chunks = window / a.chunk_frames;
  a.channels = c.required_int("downsample_hidden_size", limit::width);
  a.hidden = c.required_int("d_model", limit::width);
  a.layers = c.required_int("encoder_layers", limit::layers);
  a.heads = c.required_int("encoder_attention_heads", limit::heads);
  a.ffn = c.required_int("encoder_ffn_dim", limit::width);
  a.out = c.required_int("output_dim", limit::width);
  check_heads(c, a.hidden, a.heads);
  if (const auto act = c.string_or("activation_function", "gelu"); act != "gelu")
    reject(c.where(), "the audio encoder's activation is " + shown(act) + ", only gelu is supported");
  return a;
}

vision_config read_vision(const hf_config& c) {
  vision_config v;
  v.patch = c.required_int("patch_size", {1, 256});
  v.temporal_patch = c.required_int("temporal_patch_size", small);
  v.merge = c.required_int("spatial_merge_size", small);
  v.hidden = c.required_int("hidden_size", limit::width);
  v.layers = c.required_int("depth", limit::layers);
  v.heads = c.required_int("num_heads", limit::heads);
  v.ffn = c.required_int("intermediate_size", limit::width);
  v.out = c.required_int("out_hidden_size", limit::width);
  const std::int64_t positions = c.required_int("num_position_embeddings", {1, 1 << 24});
  v.position_side = std::lround(std::sqrt(static_cast<double>(positions)));
  if (v.position_side * v.position_side != positions)
    reject(c.where(), "num_position_embeddings is " + std::to_string(positions) + ", expected a square number");
  v.deepstack = c.ints("deepstack_visual_indexes", {0, v.layers - 1});
  if (!std::is_sorted(v.deepstack.begin(), v.deepstack.end()))
    reject(c.where(), "deepstack_visual_indexes must be in increasing order");
  check_heads(c, v.hidden, v.heads);
  if (v.hidden / v.heads % 4 != 0) reject(c.where(), "heads of the vision encoder need a multiple of 4 dims");
  if (const auto act = c.string_or("hidden_act", "gelu_pytorch_tanh"); act != "gelu_pytorch_tanh")
    reject(c.where(), "the vision encoder's activation is " + shown(act) + ", only gelu_pytorch_tanh is supported");
  return v;
}

void read_pixel_limits(const std::filesystem::path& folder, bool config_alone, vision_config& v) {
  if (config_alone && !std::filesystem::exists(folder / "preprocessor_config.json")) {
    v.min_pixels = 3136;
    v.max_pixels = 12'845'056;
    return;
  }
  const auto c = hf_config::load(folder / "preprocessor_config.json");
  const auto size = c.find_child("size"); // newer files
  const bool inside = size && size->has("shortest_edge");
  constexpr int_range pixels{1, 1 << 30};
  v.min_pixels = inside ? size->required_int("shortest_edge", pixels) : c.required_int("min_pixels", pixels);
  v.max_pixels = inside ? size->required_int("longest_edge", pixels) : c.required_int("max_pixels", pixels);
  if (v.min_pixels > v.max_pixels) reject(c.where(), "min_pixels must not be larger than max_pixels");
}

std::string lower_case(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

talker_config read_talker(const hf_config& c, const model_config& whole) {
  talker_config t;
  const auto text = c.child("text_config");
  t.decoder = read_multimodal_decoder(text);
  t.projection_width = text.required_int("intermediate_size", limit::width);
  const std::int64_t shared = text.required_int("shared_expert_intermediate_size", limit::width);
  for (auto& block : t.decoder.blocks)
    if (block.mlp.experts > 0) block.mlp.shared_width = shared;
  const auto predictor = c.child("code_predictor_config");
  t.predictor = read_decoder(predictor, "qwen3");
  t.predictor.vocab = predictor.required_int("vocab_size", limit::vocab);
  t.code_groups = c.required_int("num_code_groups", {2, 64});
  t.pad = id_of(c, "codec_pad_id");
  t.bos = id_of(c, "codec_bos_id");
  t.eos = id_of(c, "codec_eos_token_id");
  t.nothink = id_of(c, "codec_nothink_id");
  t.think_bos = id_of(c, "codec_think_bos_id");
  t.think_eos = id_of(c, "codec_think_eos_id");
  const auto speakers = c.child("speaker_id");
  for (const auto& name : speakers.keys()) t.speakers[lower_case(name)] = id_of(speakers, name.c_str());
  if (t.speakers.empty()) reject(c.where(), "expected at least one speaker under speaker_id, found none");
  std::vector<std::int32_t> codes{t.pad, t.bos, t.eos, t.nothink, t.think_bos, t.think_eos};
  for (const auto& [name, code] : t.speakers) codes.push_back(code);
  if (*std::max_element(codes.begin(), codes.end()) >= t.decoder.vocab)
    reject(c.where(), "a special code of the talker is outside of its " + std::to_string(t.decoder.vocab) + " codes");
  if (t.predictor.hidden != t.decoder.hidden)
    reject(c.where(), "the code predictor is " + std::to_string(t.predictor.hidden) + " wide, expected the talker's " +
                          std::to_string(t.decoder.hidden));
  if (const auto width = c.required_int("thinker_hidden_size", limit::width); width != whole.thinker.hidden)
    reject(c.where(), "the talker expects a thinker " + std::to_string(width) + " wide, found " +
                          std::to_string(whole.thinker.hidden));
  return t;
}

code2wav_config read_code2wav(const hf_config& c, const talker_config& talker) {
  code2wav_config w;
  w.transformer = read_decoder(c, "llama");
  const std::int64_t window = c.required_int("sliding_window", limit::context);
  for (auto& block : w.transformer.blocks) {
    block.attention.window = window;
    block.layer_scale = true;
  }
  w.codebook = c.required_int("codebook_size", limit::vocab);
  w.groups = c.required_int("num_quantizers", small);
  w.upsampling = c.ints("upsampling_ratios", small);
  w.rates = c.ints("upsample_rates", small);
  w.width = c.required_int("decoder_dim", limit::width);
  if (w.rates.empty() || w.rates.size() > 8 || w.width >> w.rates.size() << w.rates.size() != w.width)
    reject(c.where(),
           "decoder_dim is " + std::to_string(w.width) + ", expected one to eight upsample_rates that halve it");
  if (w.samples_per_frame() > 1 << 16) reject(c.where(), "a frame would make more than 65536 samples");
  if (w.groups != talker.code_groups || w.codebook > talker.predictor.vocab || w.codebook > talker.decoder.vocab)
    reject(c.where(), "code2wav reads " + std::to_string(w.groups) + " groups of " + std::to_string(w.codebook) +
                          " codes, but the talker makes " + std::to_string(talker.code_groups) + " groups of " +
                          std::to_string(talker.predictor.vocab));
  return w;
}

token_ids read_tokens(const hf_config& top, const hf_config& thinker, std::int64_t vocab) {
  token_ids t;
  const std::pair<std::int32_t*, const char*> of_top[] = {
      {&t.im_start, "im_start_token_id"},   {&t.system, "system_token_id"},   {&t.user, "user_token_id"},
      {&t.assistant, "assistant_token_id"}, {&t.tts_pad, "tts_pad_token_id"}, {&t.tts_bos, "tts_bos_token_id"},
      {&t.tts_eos, "tts_eos_token_id"}};
  const std::pair<std::int32_t*, const char*> of_thinker[] = {
      {&t.audio_pad, "audio_token_id"}, {&t.image_pad, "image_token_id"}, {&t.video_pad, "video_token_id"}};
  const auto read = [&](const hf_config& c, const auto& rows) {
    for (const auto& [id, key] : rows) {
      *id = id_of(c, key);
      if (*id >= vocab) reject(c.where(), std::string(key) + " is outside of the vocabulary");
    }
  };
  read(top, of_top);
  read(thinker, of_thinker);
  return t;
}

} // namespace

std::int64_t audio_config::rows_of(std::int64_t frames) const {
  const auto halved = [](std::int64_t n) { return n == 0 ? 0 : (n - 1) / 2 + 1; };
  const auto rows = [&](std::int64_t n) { return halved(halved(halved(n))); };
  return frames / chunk_frames * rows(chunk_frames) + rows(frames % chunk_frames);
}

std::int64_t code2wav_config::samples_per_frame() const {
  std::int64_t samples = 1;
  for (const auto* stage : {&upsampling, &rates})
    for (const auto factor : *stage) samples *= factor;
  return samples;
}

bool is_checkpoint(const std::filesystem::path& path) {
  std::error_code unreadable;
  const auto config = path / "config.json";
  if (!std::filesystem::exists(config, unreadable)) return false;
  return hf_config::load(config).string_or("model_type", "") == model_type;
}

model_config load_config(const std::filesystem::path& folder, bool config_alone) {
  const auto top = hf_config::load(folder / "config.json");
  if (const auto type = top.string_or("model_type", ""); type != model_type)
    reject(top.where(), "expected the model_type " + shown(model_type) + ", found " + shown(type));
  if (top.has("quantization_config"))
    reject(top.where(), "quantised Qwen3-Omni checkpoints are not supported; use one in BF16, F16 or F32");
  const auto thinker = top.child("thinker_config");
  model_config m;
  m.where = top.where();
  m.thinker = read_multimodal_decoder(thinker.child("text_config"));
  m.tokens = read_tokens(top, thinker, m.thinker.vocab);
  m.thinker.eos_ids = {id_of(top, "im_end_token_id")};
  if (std::filesystem::exists(folder / "generation_config.json")) {
    const auto eos = hf_config::load(folder / "generation_config.json").ints("eos_token_id");
    if (!eos.empty()) m.thinker.eos_ids.assign(eos.begin(), eos.end());
  }
  m.positions_per_second = thinker.required_float("position_id_per_seconds");
  m.audio = read_audio(thinker.child("audio_config"));
  m.vision = read_vision(thinker.child("vision_config"));
  read_pixel_limits(folder, config_alone, m.vision);
  for (const auto width : {m.audio.out, m.vision.out})
    if (width != m.thinker.hidden)
      reject(m.where, "an encoder makes rows of " + std::to_string(width) +
                          " values, expected the thinker's width of " + std::to_string(m.thinker.hidden));
  if (m.vision.deepstack.size() > m.thinker.blocks.size())
    reject(m.where, "there are more deepstack layers than layers of the thinker");
  if (!top.required_bool("enable_audio_output")) return m;
  const auto talker = top.child("talker_config");
  m.thinker.accept_layer =
      talker.required_int("accept_hidden_layer", {1, static_cast<std::int64_t>(m.thinker.blocks.size())});
  m.talker = read_talker(talker, m);
  m.code2wav = read_code2wav(top.child("code2wav_config"), *m.talker);
  return m;
}

} // namespace omni::qwen3_omni
