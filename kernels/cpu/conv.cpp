#include "kernels/cpu/conv_kernels.hpp"

#include "kernels/cpu/cpu_backend.hpp"

#include <algorithm>

namespace omni::cpu {
namespace {

// Work below which a tile costs more to hand out than to compute: about 10 us of one core.
constexpr std::int64_t tile_flops = 1'500'000;

/// Rows of a tile of a convolution whose output row sums over `inputs` values.
std::int64_t rows_per_tile(std::int64_t rows, std::int64_t inputs, std::int64_t columns, unsigned threads) {
  const auto block = conv_block_rows();
  const auto row_flops = 2 * conv_panel * inputs;
  const auto enough = (tile_flops + row_flops - 1) / row_flops;
  // Few tiles leave a thread idle at the end: aim at four per thread as far as the work allows.
  const auto share = rows * conv_panels_of(columns) / (4 * std::int64_t{threads});
  const auto tile = std::clamp(share, enough, 16 * enough);
  return (tile + block - 1) / block * block;
}

} // namespace

void cpu_backend::conv(std::span<const conv_job> jobs, const op_context& context) const {
  struct part {
    std::int64_t first_tile, row_tiles, rows;
  } parts[16];
  std::int64_t tiles = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto& [w, a] = jobs[j];
    const auto rows = rows_per_tile(a.rows, w.in * w.taps, w.out, context.lane.threads());
    const auto row_tiles = (a.rows + rows - 1) / rows;
    parts[j] = {tiles, row_tiles, rows};
    tiles += conv_panels_of(w.out) * row_tiles;
  }
  context.lane.parallel(tiles, [&](std::int64_t i) {
    std::size_t j = jobs.size() - 1;
    while (parts[j].first_tile > i) --j;
    const auto& p = parts[j];
    // Panels outermost: a panel's weights stay in cache while it meets every row.
    const auto first = (i - p.first_tile) % p.row_tiles * p.rows;
    compute_tile(jobs.subspan(j, 1),
                 {first, std::min(first + p.rows, jobs[j].a.rows), (i - p.first_tile) / p.row_tiles});
  });
}

void cpu_backend::conv_sum(std::span<const conv_job> summands, const op_context& context) const {
  std::int64_t inputs = 0;
  for (const auto& job : summands) inputs += job.w.in * job.w.taps;
  const auto total = summands.front().a.rows;
  const auto columns = summands.front().w.out;
  const auto rows = rows_per_tile(total, inputs, columns, context.lane.threads());
  const auto row_tiles = (total + rows - 1) / rows;
  context.lane.parallel(conv_panels_of(columns) * row_tiles, [&](std::int64_t i) {
    const auto first = i % row_tiles * rows;
    compute_tile(summands, {first, std::min(first + rows, total), i / row_tiles});
  });
}

} // namespace omni::cpu
