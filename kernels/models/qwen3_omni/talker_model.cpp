#include "kernels/models/qwen3_omni/talker_model.hpp"

#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/ops/embed.hpp"

#include <algorithm>
#include <numeric>

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t predictor_block = 16; // positions of a KV block

std::int64_t blocks_per_frame(const talker_config& config) {
  return (config.code_groups + predictor_block - 1) / predictor_block;
}

projection_weights read_projection(weight_reader& from, const std::string& module, std::int64_t in, std::int64_t inner,
                                   std::int64_t out) {
  return {from.linear(module + ".linear_fc1", inner, in, true), from.linear(module + ".linear_fc2", out, inner, true)};
}

/// Embeds ids, which no op changes.
tensor embedded(const packed_weight& table, std::span<const std::int32_t> ids, const op_context& context) {
  const auto rows = static_cast<std::int64_t>(ids.size());
  const tensor out = context.scratch.take(dtype::f32, {rows, table.columns});
  embed({&table, tensor(const_cast<std::int32_t*>(ids.data()), {rows}), out}, context);
  return out;
}

tensor product(const tensor& x, const packed_weight& weight, const op_context& context) {
  const tensor out = context.scratch.take(dtype::f32, {x.rows(), weight.rows});
  const linear_weights w{weight, nullptr};
  linear_rows rows(x, context);
  linear({rows.times(w), {}, out}, context);
  return out;
}

} // namespace

talker_model::talker_model(const talker_config& config, const token_ids& tokens, std::int64_t thinker_vocab,
                           std::int64_t thinker_hidden, const checkpoint& file, bool as_f32)
    : config_(config), tokens_(tokens), thinker_hidden_(thinker_hidden), decoder_(config_.decoder, decoder_weights_),
      predictor_(config_.predictor, predictor_weights_) {
  weight_reader from(file, as_f32, arena_);
  const std::int64_t hidden = config_.decoder.hidden, codes = config_.predictor.vocab;
  text_embedding_ = from.matrix("thinker.model.embed_tokens", thinker_vocab, thinker_hidden);
  text_ = read_projection(from, "talker.text_projection", thinker_hidden, config_.projection_width, hidden);
  media_ = read_projection(from, "talker.hidden_projection", thinker_hidden, config_.projection_width, hidden);
  decoder_weights_.embedding = from.matrix("talker.model.codec_embedding", config_.decoder.vocab, hidden);
  decoder_weights_.head = from.matrix("talker.codec_head", config_.decoder.vocab, hidden);
  read_decoder_blocks(config_.decoder, from, {"talker.model", ""}, decoder_weights_);
  const std::string predictor = "talker.code_predictor.";
  read_decoder_blocks(config_.predictor, from, {predictor + "model", ""}, predictor_weights_);
  const std::string embedding = predictor + "model.codec_embedding.", head = predictor + "lm_head.";
  for (std::int64_t i = 0; i + 1 < config_.code_groups; ++i) {
    code_embeddings_.push_back(from.matrix(embedding + std::to_string(i), codes, hidden));
    code_heads_.push_back(from.matrix(head + std::to_string(i), codes, hidden));
  }
}

kv_cache talker_model::predictor_cache(std::int64_t frames) const {
  return {predictor_.cache_shape(predictor_block), frames * blocks_per_frame(config_)};
}

tensor talker_model::project(const projection_weights& w, const tensor& x, const op_context& context) const {
  const tensor out = context.scratch.take(dtype::f32, {x.rows(), w.fc2.weight.rows});
  const workspace::scope scope(context.scratch);
  const tensor inner = context.scratch.take(dtype::f32, {x.rows(), w.fc1.weight.rows});
  linear_rows rows(x, context);
  linear({rows.times(w.fc1), {}, inner}, context);
  activate({activation::silu, inner.f32(), inner.f32(), inner.rows(), inner.columns()}, context);
  linear_rows inner_rows(inner, context);
  linear({inner_rows.times(w.fc2), {}, out}, context);
  return out;
}

tensor talker_model::text_rows(std::span<const std::int32_t> ids, const op_context& context) const {
  return project(text_, embedded(text_embedding_, ids, context), context);
}

tensor talker_model::media_rows(const tensor& accepted, const op_context& context) const {
  return project(media_, accepted, context);
}

tensor talker_model::code_rows(std::span<const std::int32_t> codes, const op_context& context) const {
  return embedded(decoder_weights_.embedding, codes, context);
}

tensor talker_model::first_code_logits(const tensor& h, const op_context& context) const {
  return product(h, decoder_weights_.head, context);
}

/// One pass over all frames: logits [frames, codes] of `group`. The first pass feeds what made the first codes too.
tensor talker_model::predict(std::int64_t group, const tensor& h, const tensor& latest, const kv_cache& cache,
                             const op_context& context) const {
  const std::int64_t frames = h.rows(), width = hidden(), per_frame = group == 1 ? 2 : 1, rows = frames * per_frame;
  const auto position = static_cast<std::int32_t>(group == 1 ? 0 : group);
  const std::int64_t frame_blocks = blocks_per_frame(config_);
  std::vector<std::int32_t> blocks(static_cast<std::size_t>(frames * frame_blocks)), tips;
  std::iota(blocks.begin(), blocks.end(), 0);
  std::vector<rope_position> positions;
  std::vector<sequence_rows> sequences;
  const tensor x = context.scratch.take(dtype::f32, {rows, width});
  for (std::int64_t f = 0; f < frames; ++f) {
    float* const to = x.f32() + f * per_frame * width;
    if (group == 1) std::copy_n(h.f32() + f * width, width, to);
    std::copy_n(latest.f32() + f * width, width, to + (per_frame - 1) * width);
    for (std::int32_t i = 0; i < per_frame; ++i) positions.emplace_back(position + i);
    sequences.push_back({f * per_frame, per_frame, position,
                         std::span(blocks).subspan(static_cast<std::size_t>(f * frame_blocks),
                                                   static_cast<std::size_t>(frame_blocks))});
    tips.push_back(static_cast<std::int32_t>((f + 1) * per_frame - 1));
  }
  const tensor pending = context.scratch.take(dtype::f32, x.extents);
  const stack_step step{x, pending, positions, sequences, &cache, {}, {}, nullptr};
  predictor_.run(step, context);
  const rms_norm_args norm = predictor_.last_norm(step, tips, context);
  rms_norm(norm, context);
  return product(norm.out, code_heads_[static_cast<std::size_t>(group - 1)], context);
}

talker_model::frame_codes talker_model::complete(const tensor& h, std::span<const std::int32_t> first,
                                                 const kv_cache& cache, const choose_code& choose,
                                                 const tensor_observer* observer, const op_context& context) const {
  const std::int64_t frames = h.rows(), groups = config_.code_groups;
  frame_codes made{std::vector<std::int32_t>(static_cast<std::size_t>(frames * groups)), code_rows(first, context)};
  std::vector<std::int32_t> chosen(first.begin(), first.end());
  const auto take_chosen = [&](std::int64_t group) {
    for (std::size_t f = 0; f < chosen.size(); ++f)
      made.codes[f * static_cast<std::size_t>(groups) + static_cast<std::size_t>(group)] = chosen[f];
  };
  take_chosen(0);
  const tensor latest = context.scratch.take(dtype::f32, made.embeddings.extents); // of the codes chosen last
  std::copy_n(made.embeddings.f32(), latest.values(), latest.f32());
  for (std::int64_t group = 1; group < groups; ++group) {
    const workspace::scope scope(context.scratch);
    const tensor logits = predict(group, h, latest, cache, context);
    if (observer != nullptr) (*observer)("predictor.logits." + std::to_string(group), logits);
    for (std::int64_t f = 0; f < frames; ++f)
      chosen[static_cast<std::size_t>(f)] = choose(f, group, logits.f32() + f * logits.columns());
    take_chosen(group);
    const tensor next = embedded(code_embeddings_[static_cast<std::size_t>(group - 1)], chosen, context);
    std::copy_n(next.f32(), next.values(), latest.f32());
    for (std::int64_t i = 0; i < next.values(); ++i) made.embeddings.f32()[i] += next.f32()[i];
  }
  return made;
}

} // namespace omni::qwen3_omni
