#include "kernels/models/vits/text_encoder.hpp"

#include "kernels/models/vits/rows.hpp"
#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/ops/relative_attention.hpp"
#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <cmath>

namespace omni::vits {
namespace {

/// The exported feed-forward layer pads its input itself: (kernel - 1) / 2 rows before, kernel / 2 after.
std::int64_t same_padding_before(const conv_weights& w) { return (w.taps - 1) / 2; }

} // namespace

/// Scratch memory of one sentence.
struct text_encoder::activations {
  std::int64_t rows;
  float* x;    // [rows, width] the residual path, with zero rows around it
  float* q;    // [rows, width]
  float* k;    // [rows, width]
  float* v;    // [rows, width]
  float* sum;  // [rows, width] of attention heads, or of a sublayer
  float* wide; // [rows, inner width], with zero rows around it
};

text_encoder::text_encoder(const voice_graph& graph, std::int64_t symbols) {
  const auto table = graph.find_table("input", "enc_p.emb.weight");
  if (!table) graph.reject("the graph has no table of phonemes that is read with its input \"input\"");
  if (table->rows() < symbols)
    graph.reject("the table of phonemes has " + std::to_string(table->rows()) + " rows, the voice's JSON needs " +
                 std::to_string(symbols));
  width_ = table->columns();
  embeddings_.resize(static_cast<std::size_t>(symbols * width_));
  read_rows_f32(*table, 0, symbols, embeddings_);
  const auto scale = std::sqrt(static_cast<float>(width_));
  for (auto& value : embeddings_) value *= scale;

  const auto count = graph.count_convs("enc_p.encoder.attn_layers.", ".conv_q");
  if (count == 0) graph.reject("the text encoder has no attention layers: is it a Piper voice?");
  for (std::int64_t i = 0; i < count; ++i) layers_.push_back(load_layer(graph, i));
  prior_ = load_1x1(graph, "enc_p.proj", 0, width_);
  if (prior_.out % 2 != 0) graph.reject("the text encoder's projection must have an even number of outputs");
}

text_encoder::layer text_encoder::load_layer(const voice_graph& graph, std::int64_t index) {
  const auto i = std::to_string(index);
  const auto attention = "enc_p.encoder.attn_layers." + i;
  const auto relative = graph.find(attention + ".emb_rel_k");
  constexpr std::int64_t most_offsets = 1023;
  if (!relative || relative->extents.rank() != 3 || (*relative)[0] != 1 || (*relative)[1] % 2 == 0 ||
      (*relative)[1] > most_offsets || relative->columns() == 0 || width_ % relative->columns() != 0)
    graph.reject("the tensor \"" + attention + ".emb_rel_k\" must be [1, odd, a divisor of " + std::to_string(width_) +
                 "]");
  if (index == 0) head_width_ = relative->columns(), window_ = (*relative)[1] / 2;

  layer l;
  auto q = graph.conv(attention + ".conv_q");
  const auto scale = 1.0F / std::sqrt(static_cast<float>(head_width_));
  for (auto* values : {&q.weight, &q.bias})
    for (auto& value : *values) value *= scale;
  l.q = pack_same(graph, q, width_, width_);
  l.k = load_1x1(graph, attention + ".conv_k", width_, width_);
  l.v = load_1x1(graph, attention + ".conv_v", width_, width_);
  l.o = load_1x1(graph, attention + ".conv_o", width_, width_);
  if (l.q.taps != 1) graph.reject("the convolution \"" + attention + ".conv_q\" must be 1x1");
  l.relative_k = graph.values(attention + ".emb_rel_k", (2 * window_ + 1) * head_width_);
  l.relative_v = graph.values(attention + ".emb_rel_v", (2 * window_ + 1) * head_width_);
  l.norm_1 = load_norm(graph, "enc_p.encoder.norm_layers_1." + i, width_);
  const auto inner = "enc_p.encoder.ffn_layers." + i;
  l.up = load_same(graph, inner + ".conv_1", 0, width_);
  l.down = load_same(graph, inner + ".conv_2", width_, l.up.out);
  if (!layers_.empty() && l.up.out != layers_.front().up.out)
    graph.reject("the feed-forward layers of the text encoder have different widths");
  l.up_before = same_padding_before(l.up);
  l.down_before = same_padding_before(l.down);
  l.norm_2 = load_norm(graph, "enc_p.encoder.norm_layers_2." + i, width_);
  return l;
}

encoded_text text_encoder::run(std::span<const std::int64_t> ids, const op_context& context) const {
  const auto rows = static_cast<std::int64_t>(ids.size());
  std::int64_t reach = 0;
  std::int64_t widest = 0;
  for (const auto& l : layers_) {
    reach = std::max({reach, l.up.span(), l.down.span()});
    widest = std::max(widest, l.up.out);
  }
  float* x = padded_rows(reach, rows, width_, context);
  float* prior = context.scratch.floats(rows * prior_.out);
  for (std::int64_t t = 0; t < rows; ++t)
    std::copy_n(embeddings_.data() + ids[static_cast<std::size_t>(t)] * width_, width_, x + t * width_);
  {
    const workspace::scope scope(context.scratch);
    const auto take = [&] { return context.scratch.floats(rows * width_); };
    const activations a{rows, x, take(), take(), take(), take(), padded_rows(reach, rows, widest, context)};
    for (const auto& l : layers_) {
      attend(l, a, context);
      feed_forward(l, a, context);
    }
  }
  conv(dense_job(prior_, x, rows, prior), context);
  return {rows, x, prior};
}

void text_encoder::attend(const layer& l, const activations& a, const op_context& context) const {
  const conv_job projections[] = {dense_job(l.q, a.x, a.rows, a.q), dense_job(l.k, a.x, a.rows, a.k),
                                  dense_job(l.v, a.x, a.rows, a.v)};
  conv(projections, context);
  relative_attention({.q = a.q,
                      .k = a.k,
                      .v = a.v,
                      .relative_k = l.relative_k.data(),
                      .relative_v = l.relative_v.data(),
                      .out = a.sum,
                      .rows = a.rows,
                      .heads = width_ / head_width_,
                      .dim = head_width_,
                      .window = window_},
                     context);
  conv(dense_job(l.o, a.sum, a.rows, a.q), context);
  layer_norm({.x = a.x,
              .add = a.q,
              .gamma = l.norm_1.gamma.data(),
              .beta = l.norm_1.beta.data(),
              .out = a.x,
              .rows = a.rows,
              .channels = width_},
             context);
}

void text_encoder::feed_forward(const layer& l, const activations& a, const op_context& context) const {
  auto up = dense_job(l.up, a.x - l.up_before * width_, a.rows, nullptr);
  up.a.activated = a.wide; // slope 0: relu
  conv(up, context);
  conv(dense_job(l.down, a.wide - l.down_before * l.up.out, a.rows, a.sum), context);
  layer_norm({.x = a.x,
              .add = a.sum,
              .gamma = l.norm_2.gamma.data(),
              .beta = l.norm_2.beta.data(),
              .out = a.x,
              .rows = a.rows,
              .channels = width_},
             context);
}

} // namespace omni::vits
