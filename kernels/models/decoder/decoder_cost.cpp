#include "kernels/models/decoder/decoder_cost.hpp"

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"

#include <algorithm>
#include <cmath>

namespace omni {
namespace {

double linear_values(std::int64_t out, std::int64_t in, bool bias) {
  return static_cast<double>(out * in + (bias ? out : 0));
}

double attention_values(const block_config& b) {
  const auto& a = b.attention;
  const std::int64_t q = a.heads * a.head_dim, kv = a.kv_heads * a.head_dim;
  return linear_values(q, b.hidden, a.qkv_bias) + 2 * linear_values(kv, b.hidden, a.qkv_bias) +
         linear_values(b.hidden, q, a.out_bias) + (a.qk_norm ? 2.0 * static_cast<double>(a.head_dim) : 0.0);
}

/// gate, up and down.
double mlp_values(std::int64_t hidden, std::int64_t width, bool bias) {
  return 2 * linear_values(width, hidden, bias) + linear_values(hidden, width, bias);
}

double dense_values(const block_config& b) {
  const auto& m = b.mlp;
  const auto vectors = static_cast<double>((b.layer_scale ? 4 : 2) * b.hidden); // norms and scales
  double values = attention_values(b) + vectors;
  if (m.experts == 0) return values + mlp_values(b.hidden, m.width, m.bias);
  values += linear_values(m.experts, b.hidden, false);
  if (m.shared_width > 0) values += mlp_values(b.hidden, m.shared_width, false) + static_cast<double>(b.hidden);
  return values;
}

/// What does not depend on how weights are stored.
decoder_cost shape_of(const decoder_config& config) {
  decoder_cost cost;
  for (const auto& b : config.blocks) {
    cost.kv_token_values += 2 * b.attention.kv_heads * b.attention.head_dim;
    cost.attention_width += 2 * b.attention.heads * b.attention.head_dim;
    cost.expert_count = std::max(cost.expert_count, b.mlp.experts);
    cost.top = std::max(cost.top, b.mlp.top);
  }
  return cost;
}

std::string counted(std::int64_t n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

} // namespace

weight_amount decoder_cost::held() const { return embedding + dense + experts + (tied ? weight_amount{} : head); }

double decoder_cost::experts_met(double tokens) const {
  if (expert_count == 0) return 0.0;
  return 1.0 - std::pow(1.0 - static_cast<double>(top) / static_cast<double>(expert_count), tokens);
}

double decoder_cost::bytes_read(double tokens) const {
  return dense.bytes + head.bytes + experts_met(tokens) * experts.bytes;
}

double decoder_cost::flops_per_token() const {
  return 2.0 * (dense.values + head.values + experts_met(1) * experts.values);
}

decoder_cost cost_of(const decoder_config& config, double value_bytes) {
  decoder_cost cost = shape_of(config);
  const auto amount = [&](double values) { return weight_amount{values, values * value_bytes}; };
  cost.embedding = amount(static_cast<double>(config.vocab * config.hidden));
  cost.head = cost.embedding;
  cost.tied = config.tied.value_or(false);
  cost.dense = amount(static_cast<double>(config.hidden)); // the last norm
  for (const auto& b : config.blocks) {
    cost.dense += amount(dense_values(b));
    cost.experts += amount(static_cast<double>(b.mlp.experts) * mlp_values(b.hidden, b.mlp.width, false));
  }
  return cost;
}

decoder_cost cost_of(const decoder_config& config, const gguf_file& file, bool as_f32) {
  decoder_cost cost = shape_of(config);
  cost.tied = true;
  for (const auto& name : file.names()) {
    const tensor t = *file.find(name);
    const weight_amount amount{static_cast<double>(t.values()),
                               static_cast<double>(as_f32 ? 4 * t.values() : t.bytes())};
    if (name == tensor_name(decoder_tensor::embedding, name_style::gguf) + ".weight") {
      cost.embedding = amount;
    } else if (name == tensor_name(decoder_tensor::head, name_style::gguf) + ".weight") {
      cost.head = amount;
      cost.tied = false;
    } else {
      (name.find("_exps.") != std::string::npos ? cost.experts : cost.dense) += amount;
    }
  }
  if (cost.tied) cost.head = cost.embedding;
  return cost;
}

void add_decoder_steps(const decoder_cost& cost, const cost_question& question, double kv_value_bytes, stage_cost& to) {
  to.kv_token_bytes = static_cast<std::int64_t>(static_cast<double>(cost.kv_token_values) * kv_value_bytes);
  std::vector<std::int64_t> sizes{1};
  if (question.max_num_seqs > 1) sizes.push_back(question.max_num_seqs);
  for (const auto n : sizes) {
    const auto tokens = static_cast<double>(n);
    step_cost step{"decode, " + counted(n, "sequence"),
                   cost.bytes_read(tokens),
                   0.0,
                   tokens * cost.flops_per_token(),
                   tokens,
                   "tokens"};
    to.steps.push_back(step);
    if (question.context == 0) continue;
    const auto seen = tokens * static_cast<double>(question.context);
    step.what += " of " + counted(question.context, "token");
    step.kv_bytes = seen * static_cast<double>(to.kv_token_bytes);
    step.flops += 2.0 * seen * static_cast<double>(cost.attention_width);
    to.steps.push_back(step);
  }
  const auto tokens = static_cast<double>(question.max_num_batched_tokens);
  const double without_head = cost.flops_per_token() - 2.0 * cost.head.values; // only the last token needs logits
  to.steps.push_back({"prefill, " + counted(question.max_num_batched_tokens, "token"), cost.bytes_read(tokens), 0.0,
                      tokens * without_head + 2.0 * cost.head.values, tokens, "tokens"});
}

stage_cost cost_of_decoder_stage(const stage_model_spec& spec, const cost_question& question) {
  const bool as_f32 = wants_f32(spec);
  stage_cost made;
  std::error_code unreadable; // then the reader says why
  const bool folder = std::filesystem::is_directory(spec.model, unreadable);
  decoder_config config;
  decoder_cost cost;
  bool f32 = as_f32;
  if (folder) {
    const auto file = hf_config::load(spec.model / "config.json");
    config = decoder_config_from(file, {});
    f32 = f32 || weights_type(file) == dtype::f32;
    cost = cost_of(config, f32 ? 4.0 : 2.0);
  } else {
    const auto file = gguf_file::open(spec.model);
    config = decoder_config_from(*file);
    cost = cost_of(config, *file, as_f32);
    const auto key = file->find(tensor_name(decoder_tensor::key, name_style::gguf) + ".weight");
    f32 = f32 || (key && key->type == dtype::f32);
  }
  made.parts = {{"embedding", cost.embedding}, {"layers", cost.dense + cost.experts}};
  if (!cost.tied) made.parts.push_back({"head", cost.head});
  made.context = config.context;
  add_decoder_steps(cost, question, f32 ? 4.0 : 2.0, made);
  return made;
}

} // namespace omni
