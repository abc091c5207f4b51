#pragma once

#include "kernels/weights/convert.hpp"
#include "kernels/weights/onnx_file.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omni::test {

/// The parts of VITS written down as their definitions: double precision, channel by channel, whole sentences at once.
/// Reads weights by the names of modules, so the voice must have been written with named weights.
class naive_vits {
public:
  using plane = std::vector<std::vector<double>>; // [channels][time]

  explicit naive_vits(const onnx_file& file) : file_(file) {}

  [[nodiscard]] std::vector<double> values(const std::string& name) const {
    const auto found = file_.find(name);
    if (!found) return {};
    std::vector<float> stored(static_cast<std::size_t>(found->values()));
    read_f32(*found, stored);
    return {stored.begin(), stored.end()};
  }

  /// "Same" padding. `module` has .weight [out, in, kernel] and perhaps .bias.
  [[nodiscard]] plane conv(const std::string& module, const plane& x, std::int64_t dilation = 1) const {
    const auto extents = file_.find(module + ".weight")->extents;
    const auto weight = values(module + ".weight");
    const auto bias = values(module + ".bias");
    const auto time = static_cast<std::int64_t>(x[0].size());
    plane y(static_cast<std::size_t>(extents[0]), std::vector<double>(x[0].size()));
    for (std::int64_t o = 0; o < extents[0]; ++o)
      for (std::int64_t t = 0; t < time; ++t) {
        double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(o)];
        for (std::int64_t i = 0; i < extents[1]; ++i)
          for (std::int64_t k = 0; k < extents[2]; ++k) {
            const auto at = t + (k - extents[2] / 2) * dilation;
            if (at < 0 || at >= time) continue;
            sum += weight[static_cast<std::size_t>((o * extents[1] + i) * extents[2] + k)] *
                   x[static_cast<std::size_t>(i)][static_cast<std::size_t>(at)];
          }
        y[static_cast<std::size_t>(o)][static_cast<std::size_t>(t)] = sum;
      }
    return y;
  }

  [[nodiscard]] plane transposed_conv(const std::string& module, const plane& x, std::int64_t stride) const {
    const auto extents = file_.find(module + ".weight")->extents;
    const auto weight = values(module + ".weight");
    const auto bias = values(module + ".bias");
    const auto cut = (extents[2] - stride) / 2;
    const auto time = static_cast<std::int64_t>(x[0].size());
    plane y(static_cast<std::size_t>(extents[1]), std::vector<double>(static_cast<std::size_t>(time * stride)));
    for (std::int64_t o = 0; o < extents[1]; ++o) {
      auto& row = y[static_cast<std::size_t>(o)];
      std::fill(row.begin(), row.end(), bias[static_cast<std::size_t>(o)]);
      for (std::int64_t i = 0; i < extents[0]; ++i)
        for (std::int64_t t = 0; t < time; ++t)
          for (std::int64_t k = 0; k < extents[2]; ++k) {
            const auto at = t * stride + k - cut;
            if (at < 0 || at >= time * stride) continue;
            row[static_cast<std::size_t>(at)] +=
                x[static_cast<std::size_t>(i)][static_cast<std::size_t>(t)] *
                weight[static_cast<std::size_t>((i * extents[1] + o) * extents[2] + k)];
          }
    }
    return y;
  }

  [[nodiscard]] plane norm(const std::string& module, plane x) const {
    const auto gamma = values(module + ".gamma");
    const auto beta = values(module + ".beta");
    for (std::size_t t = 0; t < x[0].size(); ++t) {
      double mean = 0;
      double variance = 0;
      for (const auto& row : x) mean += row[t] / static_cast<double>(x.size());
      for (const auto& row : x) variance += (row[t] - mean) * (row[t] - mean) / static_cast<double>(x.size());
      for (std::size_t c = 0; c < x.size(); ++c)
        x[c][t] = (x[c][t] - mean) / std::sqrt(variance + 1e-5) * gamma[c] + beta[c];
    }
    return x;
  }

  static plane mapped(plane x, double (*function)(double)) {
    for (auto& row : x)
      for (auto& value : row) value = function(value);
    return x;
  }
  static plane sum(plane x, const plane& y) {
    for (std::size_t c = 0; c < x.size(); ++c)
      for (std::size_t t = 0; t < x[c].size(); ++t) x[c][t] += y[c][t];
    return x;
  }
  static double relu(double x) { return x > 0 ? x : 0; }
  static double leaky(double x) { return x > 0 ? x : 0.1 * x; }

  /// A 1x1 convolution of a speaker's vector, as a plane of `time` equal columns; of zeros if there is no such module.
  [[nodiscard]] plane speaker(const std::string& module, std::int64_t id, std::size_t channels,
                              std::size_t time) const {
    if (!file_.find(module + ".weight")) return plane(channels, std::vector<double>(time));
    const auto table = file_.find("emb_g.weight")->extents;
    const auto vectors = values("emb_g.weight");
    plane g(static_cast<std::size_t>(table[1]));
    for (std::size_t i = 0; i < g.size(); ++i) g[i].assign(time, vectors[static_cast<std::size_t>(id) * g.size() + i]);
    return conv(module, g);
  }

  [[nodiscard]] plane plain_durations(plane x, std::int64_t speaker_id) const {
    x = sum(x, speaker("dp.cond", speaker_id, x.size(), x[0].size()));
    for (const char* i : {"1", "2"})
      x = norm(std::string("dp.norm_") + i, mapped(conv(std::string("dp.conv_") + i, x), relu));
    return conv("dp.proj", x);
  }

  [[nodiscard]] plane flow(plane z, std::int64_t speaker_id) const {
    for (const int index : {6, 4, 2, 0}) {
      const auto module = "flow.flows." + std::to_string(index);
      z = plane(z.rbegin(), z.rend());
      const auto half = static_cast<std::ptrdiff_t>(z.size() / 2);
      auto hidden = conv(module + ".pre", plane(z.begin(), z.begin() + half));
      const auto channels = hidden.size();
      plane skip(channels, std::vector<double>(z[0].size()));
      std::size_t layers = 0;
      while (file_.find(module + ".enc.in_layers." + std::to_string(layers) + ".weight")) ++layers;
      const auto g = speaker(module + ".enc.cond_layer", speaker_id, 2 * channels * layers, z[0].size());
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const auto i = std::to_string(layer);
        auto both = conv(module + ".enc.in_layers." + i, hidden);
        const auto first = g.begin() + static_cast<std::ptrdiff_t>(2 * channels * layer);
        both = sum(both, plane(first, first + static_cast<std::ptrdiff_t>(2 * channels)));
        plane gated(channels, std::vector<double>(z[0].size()));
        for (std::size_t c = 0; c < channels; ++c)
          for (std::size_t t = 0; t < z[0].size(); ++t)
            gated[c][t] = std::tanh(both[c][t]) / (1 + std::exp(-both[channels + c][t]));
        const auto split = conv(module + ".enc.res_skip_layers." + i, gated);
        const auto middle = split.begin() + static_cast<std::ptrdiff_t>(channels);
        if (layer + 1 < layers) {
          hidden = sum(hidden, plane(split.begin(), middle));
          skip = sum(skip, plane(middle, split.end()));
        } else {
          skip = sum(skip, split);
        }
      }
      const auto mean = conv(module + ".post", skip);
      for (std::size_t c = 0; c < mean.size(); ++c)
        for (std::size_t t = 0; t < z[0].size(); ++t) z[static_cast<std::size_t>(half) + c][t] -= mean[c][t];
    }
    return z;
  }

  /// The decoder of `tiny_voice`, whose strides and dilations are no part of the weights.
  [[nodiscard]] std::vector<double> decode(const plane& frames, std::int64_t speaker_id, bool paired,
                                           std::span<const std::int64_t> strides) const {
    auto x = conv("dec.conv_pre", frames);
    x = sum(x, speaker("dec.cond", speaker_id, x.size(), x[0].size()));
    for (std::size_t stage = 0; stage < strides.size(); ++stage) {
      x = transposed_conv("dec.ups." + std::to_string(stage), mapped(x, leaky), strides[stage]);
      plane total(x.size(), std::vector<double>(x[0].size()));
      for (std::size_t block = 2 * stage; block < 2 * stage + 2; ++block)
        total = sum(total, residual_block("dec.resblocks." + std::to_string(block), x, paired));
      x = mapped(total, [](double v) { return v / 2; });
    }
    x = mapped(x, [](double v) { return v > 0 ? v : 0.01 * v; });
    return mapped(conv("dec.conv_post", x), [](double v) { return std::tanh(v); })[0];
  }

private:
  [[nodiscard]] plane residual_block(const std::string& module, plane x, bool paired) const {
    const std::vector<std::int64_t> dilations =
        paired ? std::vector<std::int64_t>{1, 3, 5} : std::vector<std::int64_t>{1, 2};
    for (std::size_t i = 0; i < dilations.size(); ++i) {
      const auto index = std::to_string(i);
      auto y = conv(module + (paired ? ".convs1." : ".convs.") + index, mapped(x, leaky), dilations[i]);
      if (paired) y = conv(module + ".convs2." + index, mapped(y, leaky));
      x = sum(x, y);
    }
    return x;
  }

  const onnx_file& file_;
};

} // namespace omni::test
