#include "kernels/ops/linear.hpp"

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/linear_kernels.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector_ops.hpp"

#include <algorithm>
#include <cstring>

namespace omni::cpu {
namespace {

constexpr std::int64_t lanes = packed_weight::panel_rows;
constexpr std::int64_t scratch_floats = 4096; // of one thread's tile, on its stack

/// How one job is cut: pieces of `panels` panels times `tiles` tiles of rows.
struct job_plan {
  std::int64_t tile_rows = 0;
  std::int64_t tiles = 0; // of the job
  std::int64_t panels_of_chunk = 0;
  std::int64_t tiles_of_chunk = 0;
  std::int64_t panel_chunks = 0;
  std::int64_t chunks = 0;
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Rows of each tile but the last: as alike as can be, so that no thread gets much less than another.
std::int64_t rows_of_tile(std::int64_t rows) {
  return divide_up(rows, std::max<std::int64_t>(1, divide_up(rows, tile_rows())));
}

std::int64_t tile_bytes(const linear_input& x, std::int64_t rows) {
  return rows * (x.quantised ? quantised_row_bytes(x.columns) : x.columns * 4);
}

job_plan plan(const linear_job& job, std::int64_t threads) {
  const auto& x = *job.product.x;
  const auto& w = *job.product.weight;
  const bool gated = job.gate.weight != nullptr;
  job_plan p;
  p.tile_rows = rows_of_tile(x.rows);
  p.tiles = divide_up(x.rows, p.tile_rows);
  const std::int64_t panel_bytes = w.panel_bytes() + (gated ? job.gate.weight->panel_bytes() : 0);
  // Weights of a chunk stay in the first-level cache while they meet several tiles. A single tile streams them: a chunk
  // is then as small as claiming it allows, so that threads end together.
  constexpr std::int64_t small_chunk = 24 << 10, large_chunk = 96 << 10; // bytes
  const std::int64_t wanted = 4 * threads;
  const std::int64_t share = w.panels() * panel_bytes / (4 * wanted);
  const std::int64_t chunk_bytes = p.tiles > 1 ? small_chunk : std::clamp(share, small_chunk, large_chunk);
  p.panels_of_chunk = std::clamp<std::int64_t>(chunk_bytes / panel_bytes, 1, std::max<std::int64_t>(1, w.panels() / wanted));
  if (p.panels_of_chunk > 1) p.panels_of_chunk -= p.panels_of_chunk % 2;
  p.panel_chunks = divide_up(w.panels(), p.panels_of_chunk);
  const std::int64_t row_pieces = std::clamp<std::int64_t>(divide_up(wanted, p.panel_chunks), 1, p.tiles);
  p.tiles_of_chunk = divide_up(p.tiles, row_pieces);
  p.chunks = p.panel_chunks * divide_up(p.tiles, p.tiles_of_chunk);
  return p;
}

/// A piece of a job: a tile of rows and the columns of consecutive panels.
struct job_piece {
  std::int64_t row, rows; // of the job
  std::int64_t first, panels;
  [[nodiscard]] std::int64_t column() const { return first * lanes; }
};

void multiply(const linear_part& part, const job_piece& piece, float* out, std::int64_t stride) {
  const auto& x = *part.x;
  const std::byte* const rows = x.data + tile_bytes(x, piece.row);
  const auto& format = part.weight->format;
  const auto kernel = x.quantised ? quantised_tile(format, piece.rows) : float_tile(format, piece.rows);
  kernel(rows, *part.weight, piece.first, piece.panels, out, stride);
}

void run_piece(const linear_job& job, const job_piece& piece) {
  const std::int64_t n = job.out.columns(), width = piece.panels * lanes;
  const std::int64_t columns = std::min(width, n - piece.column());
  float* out = job.out.f32() + piece.row * n + piece.column();
  const bool gated = job.gate.weight != nullptr;
  if (!gated && job.product.bias == nullptr && columns == width) return multiply(job.product, piece, out, n);
  alignas(64) float product[scratch_floats], gate[scratch_floats];
  multiply(job.product, piece, product, width);
  if (gated) multiply(job.gate, piece, gate, width);
  for (std::int64_t m = 0; m < piece.rows; ++m, out += n) {
    float* const mine = product + m * width;
    if (job.product.bias != nullptr) add_values(mine, job.product.bias + piece.column(), mine, columns);
    if (job.gate.bias != nullptr)
      add_values(gate + m * width, job.gate.bias + piece.column(), gate + m * width, columns);
    if (gated)
      gate_values(gate + m * width, mine, out, columns);
    else
      std::memcpy(out, mine, static_cast<std::size_t>(columns) * sizeof(float));
  }
}

void run_chunk(const linear_job& job, const job_plan& p, std::int64_t chunk) {
  const std::int64_t first_panel = chunk % p.panel_chunks * p.panels_of_chunk;
  const std::int64_t last_panel = std::min(first_panel + p.panels_of_chunk, job.product.weight->panels());
  const std::int64_t first_tile = chunk / p.panel_chunks * p.tiles_of_chunk;
  const std::int64_t last_tile = std::min(first_tile + p.tiles_of_chunk, p.tiles);
  const std::int64_t most_panels = scratch_floats / (lanes * p.tile_rows);
  for (std::int64_t tile = first_tile; tile < last_tile; ++tile) {
    const std::int64_t row = tile * p.tile_rows, rows = std::min(p.tile_rows, job.product.x->rows - row);
    for (std::int64_t panel = first_panel; panel < last_panel; panel += most_panels)
      run_piece(job, {row, rows, panel, std::min(most_panels, last_panel - panel)});
  }
}

/// Which of `count` chunks is done as the i-th. Threads claim in turn, so each of them walks through a stretch of its own
/// and what it prefetches behind its chunk is of use to it.
std::int64_t place_of(std::int64_t i, std::int64_t count, std::int64_t threads) {
  const std::int64_t stretch = i % threads;
  return stretch * (count / threads) + std::min(stretch, count % threads) + i / threads;
}

void copy_tile(const float* x, std::int64_t columns, std::int64_t rows, float* out) {
  for (std::int64_t k = 0; k < columns; ++k)
    for (std::int64_t m = 0; m < rows; ++m) out[k * rows + m] = x[m * columns + k];
}

} // namespace

linear_input cpu_backend::prepare_linear(const prepare_linear_args& args, const op_context& context) const {
  linear_input input{args.quantised, args.x.rows(), args.x.columns(), static_cast<const std::byte*>(args.x.data)};
  const bool in_place = !args.quantised && input.rows <= 1; // one row is its own tile
  std::byte* const data =
      in_place ? nullptr
               : static_cast<std::byte*>(context.scratch.take(dtype::i8, {tile_bytes(input, input.rows)}).data);
  const std::int64_t most_rows = rows_of_tile(input.rows);
  const double cost_ns =
      static_cast<double>(most_rows * input.columns) * (quantise_ns + (args.norm != nullptr ? norm_ns : 0.0));
  for_ranges(context, divide_up(input.rows, most_rows), cost_ns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t row = tile * most_rows, rows = std::min(most_rows, input.rows - row);
      if (args.norm != nullptr) rms_norm_rows(*args.norm, row, row + rows);
      if (in_place) continue;
      const float* const from = args.x.f32() + row * input.columns;
      std::byte* const to = data + tile_bytes(input, row);
      if (args.quantised)
        quantise_tile(from, input.columns, rows, to);
      else
        copy_tile(from, input.columns, rows, reinterpret_cast<float*>(to));
    }
  });
  if (!in_place) input.data = data;
  return input;
}

void cpu_backend::linear(std::span<const linear_job> jobs, const op_context& context) const {
  const workspace::scope scope(context.scratch);
  auto* const plans = static_cast<job_plan*>(
      context.scratch.take(dtype::i8, {static_cast<std::int64_t>(jobs.size() * sizeof(job_plan))}).data);
  const auto threads = static_cast<std::int64_t>(context.lane.threads());
  std::int64_t chunks = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    plans[j] = jobs[j].out.rows() > 0 ? plan(jobs[j], threads) : job_plan{};
    chunks += plans[j].chunks;
  }
  context.lane.parallel(chunks, [&](std::int64_t i) {
    std::size_t j = 0;
    for (; i >= plans[j].chunks; ++j) i -= plans[j].chunks;
    run_chunk(jobs[j], plans[j], place_of(i, plans[j].chunks, threads));
  });
}

} // namespace omni::cpu
