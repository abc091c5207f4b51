#include "kernels/models/vits/speaker.hpp"

#include "kernels/weights/convert.hpp"

namespace omni::vits {

speaker_table::speaker_table(const voice_graph& graph, std::int64_t speakers) {
  if (speakers <= 1) return;
  const auto table = graph.find_table("sid", "emb_g.weight");
  if (!table) graph.reject("the voice's JSON names several speakers, but the graph has no table of speakers");
  if (table->rows() < speakers)
    graph.reject("the table of speakers has " + std::to_string(table->rows()) + " rows, the voice's JSON says " +
                 std::to_string(speakers));
  width_ = table->columns();
  rows_.resize(static_cast<std::size_t>(speakers * width_));
  read_rows_f32(*table, 0, speakers, rows_);
}

std::span<const float> speaker_table::row(std::int64_t speaker) const {
  return std::span(rows_).subspan(static_cast<std::size_t>(speaker * width_), static_cast<std::size_t>(width_));
}

speaker_layer::speaker_layer(const voice_graph& graph, const std::string& module, std::int64_t out,
                             std::int64_t width) {
  if (width == 0) return;
  auto source = graph.conv(module);
  if (!(source.extents == shape{out, width, 1}))
    graph.reject("the weight of \"" + module + "\" is " + to_string(source.extents) + ", expected " +
                 to_string({out, width, 1}));
  width_ = width;
  weight_ = std::move(source.weight);
  bias_ = std::move(source.bias);
  bias_.resize(static_cast<std::size_t>(out), 0.0F);
}

std::vector<float> speaker_layer::outputs(std::span<const float> speaker) const {
  std::vector<float> out = bias_;
  const float* row = weight_.data();
  for (auto& value : out) {
    double sum = 0;
    for (std::int64_t i = 0; i < width_; ++i) sum += double{row[i]} * double{speaker[static_cast<std::size_t>(i)]};
    value += static_cast<float>(sum);
    row += width_;
  }
  return out;
}

std::vector<float> speaker_layer::bias_of(const conv_weights& w, std::span<const float> speaker,
                                          std::int64_t first) const {
  if (width_ == 0) return {};
  const auto* own = reinterpret_cast<const float*>(w.bias.data());
  std::vector<float> bias(own, own + conv_panels_of(w.out) * conv_panel);
  const auto added = outputs(speaker);
  for (std::int64_t o = 0; o < w.out; ++o)
    bias[static_cast<std::size_t>(o)] += added[static_cast<std::size_t>(first + o)];
  return bias;
}

} // namespace omni::vits
