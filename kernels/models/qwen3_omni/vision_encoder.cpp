#include "kernels/models/qwen3_omni/vision_encoder.hpp"

#include "kernels/models/qwen3_omni/encoder_weights.hpp"

#include <algorithm>
#include <cmath>

namespace omni::qwen3_omni {
namespace {

constexpr float norm_epsilon = 1e-6F;
constexpr double rope_theta = 10000.0;

/// Calls place(patch, row, column) for the patches of one instant, in their order.
template <class Place>
void for_each_patch(const patch_grid& grid, std::int64_t merge, Place&& place) {
  std::int64_t patch = 0;
  for (std::int64_t top = 0; top < grid.height; top += merge)
    for (std::int64_t left = 0; left < grid.width; left += merge)
      for (std::int64_t i = 0; i < merge * merge; ++i) place(patch++, top + i / merge, left + i % merge);
}

/// Angles by row, then by column: cos, sin [patches, head_dim / 2].
void fill_angles(const patch_grid& grid, std::int64_t merge, const tensor& cos, const tensor& sin) {
  const std::int64_t half = cos.columns(), quarter = half / 2, instant = grid.height * grid.width;
  std::vector<float> frequencies;
  for (std::int64_t j = 0; j < quarter; ++j)
    frequencies.push_back(
        static_cast<float>(std::pow(rope_theta, -2.0 * static_cast<double>(j) / static_cast<double>(half))));
  for_each_patch(grid, merge, [&](std::int64_t patch, std::int64_t row, std::int64_t column) {
    for (std::int64_t j = 0; j < half; ++j) {
      const float angle =
          static_cast<float>(j < quarter ? row : column) * frequencies[static_cast<std::size_t>(j % quarter)];
      cos.f32()[patch * half + j] = std::cos(angle);
      sin.f32()[patch * half + j] = std::sin(angle);
    }
  });
  for (std::int64_t t = 1; t < grid.time; ++t) {
    std::copy_n(cos.f32(), instant * half, cos.f32() + t * instant * half);
    std::copy_n(sin.f32(), instant * half, sin.f32() + t * instant * half);
  }
}

/// Place i of `count` on an axis of `side` learned positions: the two around it and the share of the second.
struct between {
  std::int64_t low, high;
  float share;
};
between place_on(std::int64_t i, std::int64_t count, std::int64_t side) {
  const float at =
      count > 1 ? static_cast<float>(i) * static_cast<float>(side - 1) / static_cast<float>(count - 1) : 0.0F;
  const auto low = static_cast<std::int64_t>(at);
  return {low, std::min(low + 1, side - 1), at - static_cast<float>(low)};
}

encoder_weights read_block(weight_reader& from, const std::string& module, const vision_config& c) {
  encoder_weights w;
  w.attention_norm = read_norm(from, module + ".norm1", c.hidden);
  const float* const bias = from.floats(module + ".attn.qkv.bias", {3 * c.hidden});
  linear_weights* const parts[] = {&w.query, &w.key, &w.value};
  for (std::int64_t i = 0; i < 3; ++i)
    *parts[i] = {from.part_of(module + ".attn.qkv.weight", {3 * c.hidden, c.hidden}, i * c.hidden, c.hidden),
                 bias + i * c.hidden};
  w.out = from.linear(module + ".attn.proj", c.hidden, c.hidden, true);
  w.mlp_norm = read_norm(from, module + ".norm2", c.hidden);
  w.fc1 = from.linear(module + ".mlp.linear_fc1", c.ffn, c.hidden, true);
  w.fc2 = from.linear(module + ".mlp.linear_fc2", c.hidden, c.ffn, true);
  return w;
}

} // namespace

vision_encoder::vision_encoder(const vision_config& config, const checkpoint& file, bool as_f32)
    : config_(config), block_{config.hidden, config.heads, config.ffn, activation::gelu_tanh, norm_epsilon} {
  const std::string root = "thinker.visual.";
  weight_reader from(file, as_f32, arena_);
  // A tensor of five axes shows its last two as one.
  const std::string embed = root + "patch_embed.proj";
  const tensor patches =
      file.get(embed + ".weight", {config_.hidden, 3, config_.temporal_patch, config_.patch * config_.patch});
  patch_embed_ = {from.pack(tensor(patches.data, patches.type, {config_.hidden, config_.patch_values()})),
                  from.floats(embed + ".bias", {config_.hidden})};
  position_table_ =
      from.floats(root + "pos_embed.weight", {config_.position_side * config_.position_side, config_.hidden});
  for (std::int64_t i = 0; i < config_.layers; ++i)
    blocks_.push_back(read_block(from, root + "blocks." + std::to_string(i), config_));
  last_ = read_merger(from, root + "merger", true);
  for (std::size_t i = 0; i < config_.deepstack.size(); ++i)
    deepstack_.push_back(read_merger(from, root + "merger_list." + std::to_string(i), false));
}

vision_encoder::merger vision_encoder::read_merger(weight_reader& from, const std::string& module,
                                                   bool norms_patches) const {
  const std::int64_t wide = config_.hidden * config_.rows_per_patches();
  return {read_norm(from, module + ".ln_q", norms_patches ? config_.hidden : wide), norms_patches,
          from.linear(module + ".mlp.0", wide, wide, true), from.linear(module + ".mlp.2", config_.out, wide, true)};
}

tensor vision_encoder::merged(const merger& w, const tensor& patches, const op_context& context) const {
  const std::int64_t wide = config_.hidden * config_.rows_per_patches();
  const tensor joined(patches.f32(), {patches.values() / wide, wide});
  const tensor& rows = w.norms_patches ? patches : joined;
  const tensor normed = context.scratch.take(dtype::f32, rows.extents);
  normed_rows(rows, {}, w.norm, norm_epsilon, normed, context);
  return linear_out(gelu_out(tensor(normed.f32(), joined.extents), w.fc1, context), w.fc2, context);
}

tensor vision_encoder::positions(const patch_grid& grid, const op_context& context) const {
  const std::int64_t width = config_.hidden, side = config_.position_side, instant = grid.height * grid.width;
  const tensor out = context.scratch.take(dtype::f32, {grid.patches(), width});
  for_each_patch(grid, config_.merge, [&](std::int64_t patch, std::int64_t row, std::int64_t column) {
    const between y = place_on(row, grid.height, side), x = place_on(column, grid.width, side);
    const auto at = [&](std::int64_t r, std::int64_t c) { return position_table_ + (r * side + c) * width; };
    float* const to = out.f32() + patch * width;
    for (std::int64_t i = 0; i < width; ++i)
      to[i] = (1.0F - y.share) * (1.0F - x.share) * at(y.low, x.low)[i] +
              (1.0F - y.share) * x.share * at(y.low, x.high)[i] + y.share * (1.0F - x.share) * at(y.high, x.low)[i] +
              y.share * x.share * at(y.high, x.high)[i];
  });
  for (std::int64_t t = 1; t < grid.time; ++t) std::copy_n(out.f32(), instant * width, out.f32() + t * instant * width);
  return out;
}

std::vector<float> vision_encoder::encode(std::span<const float> patches, const patch_grid& grid,
                                          const tensor_observer* observer, const op_context& context) const {
  const auto show = [&](const std::string& name, const tensor& value) {
    if (observer != nullptr) (*observer)(name, value);
  };
  const workspace::scope scope(context.scratch);
  const std::int64_t count = grid.patches();
  OMNI_CHECK(static_cast<std::int64_t>(patches.size()) == count * config_.patch_values(), "a grid has all its patches");
  // Ops read patches through a tensor that could also be written; none does.
  const tensor pixels(const_cast<float*>(patches.data()), {count, config_.patch_values()});
  const tensor x = linear_out(pixels, patch_embed_, context);
  show("patch_embed", x);
  const tensor places = positions(grid, context);
  show("pos_embed", places);
  for (std::int64_t i = 0; i < x.values(); ++i) x.f32()[i] += places.f32()[i];
  show("block_input", x);

  const std::int64_t turning = config_.hidden / config_.heads / 2;
  const tensor cos = context.scratch.take(dtype::f32, {count, turning});
  const tensor sin = context.scratch.take(dtype::f32, {count, turning});
  fill_angles(grid, config_.merge, cos, sin);
  const std::vector<std::int64_t> instants(static_cast<std::size_t>(grid.time), grid.height * grid.width);
  const encoder_rows seen(instants, block_, cos, sin, context);
  const tensor pending = context.scratch.take(dtype::f32, x.extents),
               hidden = context.scratch.take(dtype::f32, x.extents);
  const auto parts = static_cast<std::int64_t>(1 + deepstack_.size()), rows = count / config_.rows_per_patches();
  std::vector<float> out(static_cast<std::size_t>(rows * parts * config_.out));
  const auto put = [&](std::int64_t part, const tensor& made) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(made.f32() + r * config_.out, config_.out, out.data() + (r * parts + part) * config_.out);
  };
  std::int64_t next = 0; // of the deepstack
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    encoder_block(x, pending, layer == 0, block_, blocks_[static_cast<std::size_t>(layer)], seen, {observer, layer},
                  context);
    const bool last = layer + 1 == config_.layers;
    const bool kept = next + 1 < parts && config_.deepstack[static_cast<std::size_t>(next)] == layer;
    if (!last && !kept) continue;
    const workspace::scope merging(context.scratch);
    for (std::int64_t i = 0; i < x.values(); ++i) hidden.f32()[i] = x.f32()[i] + pending.f32()[i];
    if (kept) {
      put(next + 1, merged(deepstack_[static_cast<std::size_t>(next)], hidden, context));
      ++next;
    }
    if (last) put(0, merged(last_, hidden, context));
  }
  return out;
}

} // namespace omni::qwen3_omni
