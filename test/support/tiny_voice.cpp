#include "test/support/tiny_voice.hpp"

#include "test/support/onnx_writer.hpp"

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

namespace omni::test {
namespace {

constexpr std::int64_t symbols = 40;
constexpr std::int64_t speaker_width = 6;
constexpr std::int64_t window = 4;
constexpr std::int64_t bins = 10;
constexpr std::int64_t inner = 24; // of the feed-forward layers

/// Adds the parts of a voice one after another.
class voice_writer {
public:
  explicit voice_writer(const tiny_voice& options) : options_(options) {}

  std::string write() {
    for (const char* name : {"input", "input_lengths", "scales"}) file_.input(name);
    if (options_.speakers > 1) file_.input("sid");
    const bool misnamed = options_.misnamed_embedding && options_.speakers == 1;
    const std::string table = misnamed ? "sid" : "enc_p.emb.weight";
    tensor(table, {symbols, width()}, 1.0);
    file_.node("Gather", "/enc_p/emb/Gather", {table, "input"}, "embedded");
    if (options_.speakers > 1) {
      tensor("emb_g.weight", {options_.speakers, speaker_width}, 1.0);
      file_.node("Gather", "/emb_g/Gather", {"emb_g.weight", "sid"}, "speaker");
    }
    text_encoder();
    if (options_.plain_durations)
      plain_durations();
    else
      stochastic_durations();
    flow();
    decoder();
    file_.output("output");
    return file_.text();
  }

private:
  struct conv_shape {
    std::int64_t out, in, kernel;
    std::int64_t dilation = 1;
    std::int64_t groups = 1;
    bool pads_itself = true;
    bool bias = true;
  };

  [[nodiscard]] std::int64_t width() const { return options_.channels; }

  float random() { // uniform in [-1, 1)
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 32)) * 0x1p-31F;
  }

  void tensor(const std::string& name, onnx_writer::ints dims, double scale, double offset = 0) {
    if (options_.left_out.contains(name)) return;
    if (const auto other = options_.reshaped.find(name); other != options_.reshaped.end()) dims = other->second;
    std::vector<float> values(
        static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())));
    for (auto& value : values) value = static_cast<float>(offset + scale * random());
    file_.initializer(name, dims, values);
  }

  void norm(const std::string& module) {
    tensor(module + ".gamma", {norm_width_}, 0.1, 1.0);
    tensor(module + ".beta", {norm_width_}, 0.1);
  }

  static std::string address(const std::string& module) {
    std::string text = "/" + module;
    for (std::size_t i = 1; i + 1 < text.size(); ++i)
      if (text[i] == '.' && (text[i + 1] < '0' || text[i + 1] > '9')) text[i] = '/';
    return text;
  }

  /// `normalised` convolutions lose the name of their weight.
  void conv(const std::string& module, const conv_shape& s, bool normalised = false) {
    const auto name =
        normalised && options_.anonymous_weights ? "onnx::Conv_" + std::to_string(++anonymous_) : module + ".weight";
    tensor(name, {s.out, s.in, s.kernel}, 1.2 / std::sqrt(static_cast<double>(s.in * s.kernel)));
    std::vector<std::string> inputs{"x", name};
    if (s.bias) {
      tensor(module + ".bias", {s.out}, 0.1);
      inputs.push_back(module + ".bias");
    }
    const auto pad = s.pads_itself ? s.dilation * (s.kernel - 1) / 2 : 0;
    file_.node("Conv", address(module) + "/Conv", inputs, module + ".out",
               {{"dilations", {s.dilation}},
                {"group", {s.groups}, false},
                {"kernel_shape", {s.kernel}},
                {"pads", {pad, pad}},
                {"strides", {1}}});
  }

  void text_encoder() {
    norm_width_ = width();
    for (int layer = 0; layer < 2; ++layer) {
      const auto i = std::to_string(layer);
      const auto attention = "enc_p.encoder.attn_layers." + i;
      for (const char* part : {".conv_q", ".conv_k", ".conv_v", ".conv_o"})
        conv(attention + part, {width(), width(), 1});
      for (const char* part : {".emb_rel_k", ".emb_rel_v"})
        tensor(attention + part, {1, 2 * window + 1, width() / 2}, 0.5);
      norm("enc_p.encoder.norm_layers_1." + i);
      conv("enc_p.encoder.ffn_layers." + i + ".conv_1", {inner, width(), 3, 1, 1, false});
      conv("enc_p.encoder.ffn_layers." + i + ".conv_2", {width(), inner, 3, 1, 1, false});
      norm("enc_p.encoder.norm_layers_2." + i);
    }
    conv("enc_p.proj", {2 * width(), width(), 1});
  }

  void separable(const std::string& module) {
    std::int64_t dilation = 1;
    for (int layer = 0; layer < 3; ++layer, dilation *= 3) {
      const auto i = std::to_string(layer);
      conv(module + ".convs_sep." + i, {width(), 1, 3, dilation, width()});
      conv(module + ".convs_1x1." + i, {width(), width(), 1});
      norm(module + ".norms_1." + i);
      norm(module + ".norms_2." + i);
    }
  }

  void speaker_layer(const std::string& module, std::int64_t out, bool normalised = false) {
    if (options_.speakers > 1) conv(module, {out, speaker_width, 1}, normalised);
  }

  void stochastic_durations() {
    conv("dp.pre", {width(), width(), 1});
    speaker_layer("dp.cond", width());
    separable("dp.convs");
    conv("dp.proj", {width(), width(), 1});
    for (const int index : {7, 5, 3}) {
      const auto module = "dp.flows." + std::to_string(index);
      conv(module + ".pre", {width(), 1, 1});
      separable(module + ".convs");
      conv(module + ".proj", {3 * bins - 1, width(), 1});
    }
    // Means that make about three frames of a symbol.
    tensor("dp.flows.0.m", {2, 1}, 0.0, -1.0);
    const std::string scale = options_.folded_scale ? "/dp/flows.0/Exp_output_0" : "onnx::Exp_1";
    tensor(scale, {2, 1}, 0.0, options_.folded_scale ? 1.0 : 0.0);
    file_.node("Sub", "/dp/flows.0/Sub", {"z", "dp.flows.0.m"}, "centred");
    if (!options_.folded_scale) file_.node("Exp", "/dp/flows.0/Exp", {scale}, "scale");
    file_.node("Mul", "/dp/flows.0/Mul", {"centred", options_.folded_scale ? scale : "scale"}, "logw");
  }

  void plain_durations() {
    speaker_layer("dp.cond", width());
    norm_width_ = inner;
    conv("dp.conv_1", {inner, width(), 3, 1, 1, false});
    norm("dp.norm_1");
    conv("dp.conv_2", {inner, inner, 3, 1, 1, false});
    norm("dp.norm_2");
    conv("dp.proj", {1, inner, 1});
    norm_width_ = width();
  }

  void flow() {
    for (const int index : {6, 4, 2, 0}) {
      const auto module = "flow.flows." + std::to_string(index);
      conv(module + ".pre", {width(), width() / 2, 1});
      constexpr int layers = 2;
      speaker_layer(module + ".enc.cond_layer", 2 * width() * layers, true);
      for (int layer = 0; layer < layers; ++layer) {
        const auto i = std::to_string(layer);
        conv(module + ".enc.in_layers." + i, {2 * width(), width(), 5}, true);
        conv(module + ".enc.res_skip_layers." + i, {layer + 1 < layers ? 2 * width() : width(), width(), 1}, true);
      }
      conv(module + ".post", {width() / 2, width(), 1});
    }
  }

  void upsampling(const std::string& module, std::int64_t in, std::int64_t out, std::int64_t stride,
                  std::int64_t kernel) {
    const auto name =
        options_.anonymous_weights ? "onnx::ConvTranspose_" + std::to_string(++anonymous_) : module + ".weight";
    tensor(name, {in, out, kernel}, 1.2 / std::sqrt(static_cast<double>(2 * in)));
    tensor(module + ".bias", {out}, 0.1);
    const auto pad = (kernel - stride) / 2;
    file_.node("ConvTranspose", address(module) + "/ConvTranspose", {"x", name, module + ".bias"}, module + ".out",
               {{"dilations", {1}},
                {"group", {1}, false},
                {"kernel_shape", {kernel}},
                {"pads", {pad, pad}},
                {"strides", {stride}}});
  }

  void residual_block(const std::string& module, std::int64_t channels, std::int64_t kernel) {
    const onnx_writer::ints dilations = options_.paired_blocks ? onnx_writer::ints{1, 3, 5} : onnx_writer::ints{1, 2};
    for (std::size_t i = 0; i < dilations.size(); ++i) {
      const auto index = std::to_string(i);
      const conv_shape dilated{channels, channels, kernel, dilations[i]};
      if (!options_.paired_blocks) {
        conv(module + ".convs." + index, dilated, true);
        continue;
      }
      conv(module + ".convs1." + index, dilated, true);
      conv(module + ".convs2." + index, {channels, channels, kernel}, true);
    }
  }

  void decoder() {
    std::int64_t channels = 24;
    conv("dec.conv_pre", {channels, width(), 7});
    speaker_layer("dec.cond", channels);
    struct stage {
      std::int64_t stride, kernel;
    };
    const std::vector<stage> stages =
        options_.paired_blocks ? std::vector<stage>{{4, 8}, {2, 4}, {2, 4}} : std::vector<stage>{{4, 8}, {3, 9}};
    for (std::size_t i = 0; i < stages.size(); ++i, channels /= 2) {
      upsampling("dec.ups." + std::to_string(i), channels, channels / 2, stages[i].stride, stages[i].kernel);
      for (std::size_t block = 0; block < 2; ++block)
        residual_block("dec.resblocks." + std::to_string(2 * i + block), channels / 2,
                       3 + 4 * static_cast<std::int64_t>(block));
    }
    conv_shape last{1, channels, 7};
    last.bias = false;
    conv("dec.conv_post", last, true);
  }

  const tiny_voice& options_;
  onnx_writer file_;
  std::uint64_t state_ = 12345;
  std::int64_t anonymous_ = 8000;
  std::int64_t norm_width_ = 0;
};

} // namespace

std::string tiny_voice::onnx() const { return voice_writer(*this).write(); }

std::string tiny_voice::json() const {
  std::ostringstream out;
  out << R"({"audio": {"sample_rate": 8000}, "phoneme_type": "text", "num_symbols": )" << symbols
      << R"(, "num_speakers": )" << speakers << R"(, "speaker_id_map": {)";
  for (std::int64_t i = 0; speakers > 1 && i < speakers; ++i)
    out << (i > 0 ? ", " : "") << "\"speaker_" << i << "\": " << i;
  out << R"(}, "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8}, "phoneme_id_map": {)";
  std::int64_t id = 0;
  for (const char c : std::string("_^$ .,?!:;abcdefghijklmnopqrstuvwxyz")) {
    out << (id > 0 ? ", " : "") << '"' << c << "\": [" << id << ']';
    ++id;
  }
  out << "}}";
  return out.str();
}

std::filesystem::path tiny_voice::write(const std::filesystem::path& folder) const {
  const auto path = folder / "tiny.onnx";
  const auto save = [](const std::filesystem::path& to, const std::string& bytes) {
    std::ofstream(to, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  save(path, onnx());
  save(folder / "tiny.onnx.json", json());
  return path;
}

} // namespace omni::test
