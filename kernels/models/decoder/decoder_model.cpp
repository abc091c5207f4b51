#include "kernels/models/decoder/decoder_model.hpp"

#include "kernels/models/decoder/decoder_text.hpp"
#include "kernels/ops/embed.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/safetensors_file.hpp"

#include <cstring>

namespace omni {
namespace {

/// What a checkpoint folder or file says, before any weight is packed.
struct opened_checkpoint {
  std::shared_ptr<const checkpoint> file;
  name_style style;
  decoder_config config;
  decoder_text text;
};

opened_checkpoint open_folder(const std::filesystem::path& folder) {
  std::optional<hf_config> generation;
  if (std::filesystem::exists(folder / "generation_config.json"))
    generation = hf_config::load(folder / "generation_config.json");
  auto config = decoder_config_from(hf_config::load(folder / "config.json"), generation);
  return {safetensors_file::open(folder), name_style::hugging_face, std::move(config), load_decoder_text(folder)};
}

opened_checkpoint open_gguf(const std::filesystem::path& path) {
  auto file = gguf_file::open(path);
  auto config = decoder_config_from(*file);
  auto text = load_decoder_text(*file);
  return {std::move(file), name_style::gguf, std::move(config), std::move(text)};
}

opened_checkpoint open(const std::filesystem::path& model) {
  std::error_code unreadable; // then the reader says why
  return std::filesystem::is_directory(model, unreadable) ? open_folder(model) : open_gguf(model);
}

/// The rows of `from` that `which` names.
tensor gather(const tensor& from, std::span<const std::int32_t> which, const op_context& context) {
  const std::int64_t width = from.columns();
  const tensor rows = context.scratch.take(dtype::f32, {static_cast<std::int64_t>(which.size()), width});
  for (std::size_t i = 0; i < which.size(); ++i)
    std::memcpy(rows.f32() + static_cast<std::int64_t>(i) * width, from.f32() + which[i] * width,
                static_cast<std::size_t>(width) * sizeof(float));
  return rows;
}

void observe(const decoder_step& step, const char* name, const tensor& value) {
  if (step.observer != nullptr) (*step.observer)(name, value);
}

/// Shows the residual stream after a layer, whose last part is only added by the next norm.
void observe_hidden(const layer_observer& to, const tensor& x, const tensor& pending, const op_context& context) {
  if (to.to == nullptr) return;
  const workspace::scope scope(context.scratch);
  const tensor hidden = context.scratch.take(dtype::f32, x.extents);
  for (std::int64_t i = 0; i < x.values(); ++i) hidden.f32()[i] = x.f32()[i] + pending.f32()[i];
  to("hidden", hidden);
}

} // namespace

std::shared_ptr<const decoder_model> decoder_model::load(const stage_model_spec& spec) {
  if (spec.dtype != "auto" && spec.dtype != "float32")
    reject(spec.model.string(), "dtype is " + shown(spec.dtype) + ", expected auto or float32");
  auto opened = open(spec.model);
  const bool as_f32 = spec.dtype == "float32";
  auto weights = load_decoder_weights(opened.config, *opened.file, opened.style, as_f32);
  const bool f32_cache = weights.blocks.front().attention.key.weight.format.layout == weight_layout::f32;
  std::shared_ptr<decoder_model> model(new decoder_model(std::move(opened.config), std::move(weights), f32_cache));
  model->tokenizer_ = std::move(opened.text.tokens);
  model->template_ = std::move(opened.text.chat);
  model->fingerprint_ = fingerprint_of(*opened.file);
  return model;
}

decoder_model::decoder_model(decoder_config config, decoder_weights weights, bool f32_cache)
    : config_(std::move(config)), weights_(std::move(weights)), rope_(config_.rope),
      cache_type_(f32_cache ? dtype::f32 : dtype::f16) {}

decoder_model::~decoder_model() = default;

std::unique_ptr<runner> decoder_model::make_runner(const runner_options& options, thread_pool& pool) const {
  return std::make_unique<ar_runner>(shared_from_this(), options, pool);
}

kv_shape decoder_model::cache_shape(std::int64_t block_size) const {
  const auto& a = config_.blocks.front().attention;
  return {static_cast<std::int64_t>(config_.blocks.size()), a.kv_heads, a.head_dim, cache_type_, block_size};
}

void decoder_model::forward(const decoder_step& step, const op_context& context) const {
  const auto rows = static_cast<std::int64_t>(step.ids.size());
  const auto take = [&](std::int64_t width) { return context.scratch.take(dtype::f32, {rows, width}); };
  const tensor x = take(config_.hidden), pending = take(config_.hidden);
  const tensor cos = take(rope_.dims() / 2), sin = take(rope_.dims() / 2);
  // Ops read ids through a tensor that could also be written; none does.
  embed({&weights_.embedding, tensor(const_cast<std::int32_t*>(step.ids.data()), {rows}), x}, context);
  observe(step, "embeddings", x);
  rope_.fill(step.positions, cos, sin);
  const step_rows shared{cos, sin, step.sequences};
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const layer_observer observer{step.observer, layer};
    decoder_block(x, pending, i == 0, config_.blocks[i], weights_.blocks[i], step.cache->layer(layer), shared, observer,
                  context);
    observe_hidden(observer, x, pending, context);
  }
  if (step.logit_rows.empty()) return;
  const tensor last = gather(x, step.logit_rows, context), added = gather(pending, step.logit_rows, context);
  const tensor normed = context.scratch.take(dtype::f32, last.extents);
  const linear_weights head_weights{weights_.head, nullptr};
  linear_rows input(rms_norm_args{last, added, weights_.final_norm, config_.norm_epsilon, normed}, context);
  const linear_job head{input.times(head_weights), {}, step.logits};
  observe(step, "final_norm", normed);
  linear(head, context);
}

} // namespace omni
