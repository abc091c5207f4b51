#include "kernels/models/decoder/decoder_model.hpp"

#include "kernels/ops/embed.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/safetensors_file.hpp"

#include <algorithm>

namespace omni {
namespace {

decoder_source open_folder(const std::filesystem::path& folder) {
  std::optional<hf_config> generation;
  if (std::filesystem::exists(folder / "generation_config.json"))
    generation = hf_config::load(folder / "generation_config.json");
  auto config = decoder_config_from(hf_config::load(folder / "config.json"), generation);
  return {safetensors_file::open(folder), {}, std::move(config), load_decoder_text(folder)};
}

decoder_source open_gguf(const std::filesystem::path& path) {
  auto file = gguf_file::open(path);
  auto config = decoder_config_from(*file);
  auto text = load_decoder_text(*file);
  return {std::move(file), name_style::gguf, std::move(config), std::move(text)};
}

decoder_source open(const std::filesystem::path& model) {
  std::error_code unreadable; // then the reader says why
  return std::filesystem::is_directory(model, unreadable) ? open_folder(model) : open_gguf(model);
}

void observe(const decoder_step& step, const char* name, const tensor& value) {
  if (step.observer != nullptr) (*step.observer)(name, value);
}

} // namespace

bool wants_f32(const stage_model_spec& spec) {
  if (spec.dtype != "auto" && spec.dtype != "float32")
    reject(spec.model.string(), "dtype is " + shown(spec.dtype) + ", expected auto or float32");
  return spec.dtype == "float32";
}

std::shared_ptr<const decoder_model> decoder_model::load(const stage_model_spec& spec) {
  const bool as_f32 = wants_f32(spec);
  return load(open(spec.model), as_f32);
}

std::shared_ptr<const decoder_model> decoder_model::load(decoder_source source, bool as_f32) {
  auto weights = load_decoder_weights(source.config, *source.file, source.names, as_f32);
  std::shared_ptr<decoder_model> model(new decoder_model(std::move(source.config), std::move(weights)));
  model->text_ = std::move(source.text);
  model->fingerprint_ = fingerprint_of(*source.file);
  return model;
}

decoder_model::decoder_model(decoder_config config, decoder_weights weights)
    : config_(std::move(config)), weights_(std::move(weights)), stack_(config_, weights_) {}

decoder_model::~decoder_model() = default;

std::unique_ptr<runner> decoder_model::make_runner(const runner_options& options, thread_pool& pool) const {
  return std::make_unique<ar_runner>(shared_from_this(), options, pool);
}

void decoder_model::forward(const decoder_step& step, const op_context& context) const {
  const auto rows = static_cast<std::int64_t>(step.ids.size());
  const auto take = [&](std::int64_t width) { return context.scratch.take(dtype::f32, {rows, width}); };
  const tensor x = take(config_.hidden), pending = take(config_.hidden);
  // Ops read ids through a tensor that could also be written; none does.
  embed({&weights_.embedding, tensor(const_cast<std::int32_t*>(step.ids.data()), {rows}), x}, context);
  for (const auto& m : step.media) std::copy_n(m.values, config_.hidden, x.f32() + m.row * config_.hidden);
  observe(step, "embeddings", x);
  const stack_step through{x,          pending,    step.positions, step.sequences,
                           step.cache, step.media, step.accepted,  step.observer};
  stack_.run(through, context);
  if (step.logit_rows.empty()) return;
  const rms_norm_args norm = stack_.last_norm(through, step.logit_rows, context);
  const linear_weights head_weights{weights_.head, nullptr};
  linear_rows input(norm, context);
  const linear_job head{input.times(head_weights), {}, step.logits};
  observe(step, "final_norm", norm.out);
  linear(head, context);
}

} // namespace omni
