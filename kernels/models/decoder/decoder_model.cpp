#include "kernels/models/decoder/decoder_model.hpp"

#include "kernels/models/decoder/stand_in_text.hpp"
#include "kernels/ops/embed.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni {
namespace {

decoder_text read_text(const std::filesystem::path& folder, const hf_config& c, const decoder_config& config,
                       bool dummy) {
  if (!dummy || std::filesystem::exists(folder / "tokenizer.json")) return load_decoder_text(folder);
  const auto first = [](const auto& ids) {
    return ids.empty() ? std::nullopt : std::optional(static_cast<std::int32_t>(ids.front()));
  };
  return stand_in_text(config.vocab, first(c.ints("bos_token_id")), first(config.eos_ids), c.where());
}

decoder_source open_folder(const stage_model_spec& spec) {
  const auto& folder = spec.model;
  const bool dummy = wants_dummy(spec);
  std::optional<hf_config> generation;
  if (std::filesystem::exists(folder / "generation_config.json"))
    generation = hf_config::load(folder / "generation_config.json");
  const auto c = hf_config::load(folder / "config.json");
  auto config = decoder_config_from(c, generation);
  if (dummy && !config.tied) config.tied = false; // as in all families where the file does not say it
  auto text = read_text(folder, c, config, dummy);
  return {open_weights(spec), {}, std::move(config), std::move(text)};
}

decoder_source open_gguf(const std::filesystem::path& path) {
  auto file = gguf_file::open(path);
  auto config = decoder_config_from(*file);
  auto text = load_decoder_text(*file);
  return {std::move(file), name_style::gguf, std::move(config), std::move(text)};
}

decoder_source open(const stage_model_spec& spec) {
  std::error_code unreadable; // then the reader says why
  return std::filesystem::is_directory(spec.model, unreadable) ? open_folder(spec) : open_gguf(spec.model);
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
  return load(open(spec), as_f32);
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
