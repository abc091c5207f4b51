#include "kernels/cpu/conv_kernels.hpp"

#include "kernels/cpu/cpu_backend.hpp"

#include <algorithm>

namespace omni::cpu {
namespace {

// Rows of scores that one thread works on at a time; small enough to stay in its cache.
constexpr std::int64_t rows_at_once = 48;

std::int64_t panel_floats(std::int64_t out, std::int64_t in) { return conv_panels_of(out) * conv_panel * in; }

/// The rows of a matrix [out, in] with row stride `stride` as the right side of a product with its transpose.
void pack_rows(const float* rows, std::int64_t stride, std::int64_t out, std::int64_t in, float* panels) {
  for (std::int64_t first = 0; first < out; first += conv_panel, panels += conv_panel * in) {
    const auto columns = std::min(conv_panel, out - first);
    if (columns < conv_panel) std::fill_n(panels, conv_panel * in, 0.0F);
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = 0; i < in; ++i) panels[i * conv_panel + c] = rows[(first + c) * stride + i];
  }
}

/// A matrix [in, out] with row stride `stride` as the right side of a product.
void pack_columns(const float* matrix, std::int64_t stride, std::int64_t in, std::int64_t out, float* panels) {
  for (std::int64_t first = 0; first < out; first += conv_panel, panels += conv_panel * in) {
    const auto columns = std::min(conv_panel, out - first);
    if (columns < conv_panel) std::fill_n(panels, conv_panel * in, 0.0F);
    for (std::int64_t i = 0; i < in; ++i) std::copy_n(matrix + i * stride + first, columns, panels + i * conv_panel);
  }
}

/// out [rows, n] = x [rows, w.in] times packed panels, all of `w.out` columns.
void product(const conv_panels& w, const float* x, std::int64_t x_stride, std::int64_t rows, float* out,
             std::int64_t out_stride) {
  conv_args a;
  a.x = x, a.x_stride = x_stride, a.rows = rows, a.out = out, a.out_stride = out_stride;
  const conv_job job{w, a};
  for (std::int64_t panel = 0; panel < conv_panels_of(w.out); ++panel)
    compute_tile(std::span(&job, 1), {0, rows, panel});
}

conv_panels panels_view(const float* panels, std::int64_t out, std::int64_t in) {
  conv_panels w;
  w.panels = panels, w.in = in, w.out = out;
  return w;
}

/// One head's packed operands and the score rows of each piece of work.
struct head_panels {
  float* k;          // [ceil(rows / 32), dim, 32]
  float* v;          // [ceil(dim / 32), rows, 32]
  float* relative_k; // [ceil((2 window + 1) / 32), dim, 32], the same for all heads
};

/// Rows [first, end) of one head.
void attend(const relative_attention_args& a, const head_panels& p, std::int64_t head, std::int64_t first,
            std::int64_t end, float* scores, float* near) {
  const auto width = a.heads * a.dim;
  const auto offsets = 2 * a.window + 1;
  const float* q = a.q + first * width + head * a.dim;
  float* out = a.out + first * width + head * a.dim;
  product(panels_view(p.k, a.rows, a.dim), q, width, end - first, scores, a.rows);
  product(panels_view(p.relative_k, offsets, a.dim), q, width, end - first, near, offsets);
  const auto near_columns = [&](std::int64_t i) {
    return std::pair{std::max<std::int64_t>(0, i - a.window), std::min(a.rows, i + a.window + 1)};
  };
  for (auto i = first; i < end; ++i) {
    const auto [from, to] = near_columns(i);
    for (auto j = from; j < to; ++j) scores[(i - first) * a.rows + j] += near[(i - first) * offsets + j - i + a.window];
  }
  softmax_rows(scores, end - first, a.rows, a.rows);
  product(panels_view(p.v, a.dim, a.rows), scores, a.rows, end - first, out, width);
  for (auto i = first; i < end; ++i) {
    const auto [from, to] = near_columns(i);
    float* row = out + (i - first) * width;
    for (auto j = from; j < to; ++j) {
      const auto weight = scores[(i - first) * a.rows + j];
      const float* value = a.relative_v + (j - i + a.window) * a.dim;
      for (std::int64_t c = 0; c < a.dim; ++c) row[c] += weight * value[c];
    }
  }
}

} // namespace

void cpu_backend::relative_attention(const relative_attention_args& a, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  const auto offsets = 2 * a.window + 1;
  const auto width = a.heads * a.dim;
  float* relative_k = context.scratch.floats(panel_floats(offsets, a.dim));
  pack_rows(a.relative_k, a.dim, offsets, a.dim, relative_k);
  float* k = context.scratch.floats(a.heads * panel_floats(a.rows, a.dim));
  float* v = context.scratch.floats(a.heads * panel_floats(a.dim, a.rows));
  const auto panels_of_head = [&](std::int64_t head) {
    return head_panels{k + head * panel_floats(a.rows, a.dim), v + head * panel_floats(a.dim, a.rows), relative_k};
  };
  context.lane.parallel(2 * a.heads, [&](std::int64_t i) {
    const auto p = panels_of_head(i / 2);
    const auto at = i / 2 * a.dim;
    if (i % 2 == 0)
      pack_rows(a.k + at, width, a.rows, a.dim, p.k);
    else
      pack_columns(a.v + at, width, a.rows, a.dim, p.v);
  });
  const auto pieces = (a.rows + rows_at_once - 1) / rows_at_once;
  float* scores = context.scratch.floats(a.heads * a.rows * a.rows);
  float* near = context.scratch.floats(a.heads * a.rows * offsets);
  context.lane.parallel(a.heads * pieces, [&](std::int64_t i) {
    const auto head = i / pieces;
    const auto first = i % pieces * rows_at_once;
    attend(a, panels_of_head(head), head, first, std::min(first + rows_at_once, a.rows),
           scores + (head * a.rows + first) * a.rows, near + (head * a.rows + first) * offsets);
  });
}

} // namespace omni::cpu
