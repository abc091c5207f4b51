#include "kernels/runtime/ar_runner.hpp"

#include "kernels/core/check.hpp"
#include "kernels/core/error.hpp"
#include "kernels/ops/backend.hpp"

#include <algorithm>

namespace omni {
namespace {

runner_info info_of(const decoder_model& model, const runner_options& options) {
  if (options.block_size <= 0 || options.block_size % kv_layer::sub_block != 0)
    throw load_error("block_size is " + std::to_string(options.block_size) + ", expected a multiple of 16.");
  const auto& config = model.config();
  if (options.max_model_len > config.context)
    throw load_error("max_model_len is " + std::to_string(options.max_model_len) + ", but the model has only " +
                     std::to_string(config.context) + " positions.");
  const kv_shape shape = model.cache_shape(options.block_size);
  runner_info info;
  info.block_size = options.block_size;
  info.blocks = block_count(shape, options.kv_cache_bytes, options.max_num_seqs);
  info.block_bytes = shape.block_bytes();
  // A sequence cannot grow beyond the whole cache.
  const std::int64_t wanted = options.max_model_len > 0 ? options.max_model_len : config.context;
  info.max_model_len = static_cast<std::int32_t>(std::min(wanted, info.blocks * shape.block_size));
  info.vocab_size = static_cast<std::int32_t>(config.vocab);
  info.eos_ids = config.eos_ids;
  return info;
}

} // namespace

ar_runner::ar_runner(std::shared_ptr<const decoder_model> model, const runner_options& options, thread_pool& pool,
                     std::shared_ptr<const media_reader> reader)
    : model_(std::move(model)), info_(info_of(*model_, options)),
      cache_(model_->cache_shape(info_.block_size), info_.blocks), lane_(pool, options.max_threads),
      reader_(std::move(reader)) {}

void ar_runner::open(sequence_slot slot, const sequence_params& params) {
  std::unique_ptr<prompt_media> media;
  if (reader_) media = reader_->read(params);
  const bool hands_on = params.hand_on && model_->config().accept_layer > 0;
  open_sequence opened{sampler(params.sampling, params.prompt, info_.eos_ids, info_.vocab_size), std::move(media),
                       hands_on ? params.prompt : std::vector<std::int32_t>(),
                       static_cast<std::int64_t>(params.prompt.size()), 0};
  const bool added = sequences_.try_emplace(slot, std::move(opened)).second;
  OMNI_CHECK(added, "a slot is opened once");
}

void ar_runner::close(sequence_slot slot) { OMNI_CHECK(sequences_.erase(slot) == 1, "only an open slot is closed"); }

void ar_runner::step_input::clear() {
  ids.clear(), positions.clear(), sequences.clear(), logit_rows.clear(), samplers.clear(), media.clear(),
      accepted.clear();
}

void ar_runner::add(const batch_item& item, std::size_t index, open_sequence& sequence, const op_context& context) {
  const auto first_row = static_cast<std::int64_t>(input_.ids.size());
  const auto rows = static_cast<std::int64_t>(item.tokens.size());
  input_.sequences.push_back({first_row, rows, item.position, item.block_table});
  for (std::int32_t i = 0; i < rows; ++i) {
    input_.ids.push_back(item.tokens[static_cast<std::size_t>(i)]);
    input_.positions.push_back(sequence.media ? sequence.media->position(item.position + i) : item.position + i);
  }
  if (sequence.media) add_media(item, first_row, *sequence.media, context);
  if (!item.sample) return;
  input_.logit_rows.push_back(static_cast<std::int32_t>(first_row + rows - 1));
  input_.samplers.push_back(index);
}

void ar_runner::add_media(const batch_item& item, std::int64_t first_row, prompt_media& media,
                          const op_context& context) {
  const auto places = media.places();
  const std::int64_t end = item.position + static_cast<std::int64_t>(item.tokens.size());
  const auto first = std::lower_bound(places.begin(), places.end(), item.position) - places.begin();
  for (auto p = static_cast<std::size_t>(first); p < places.size() && places[p] < end; ++p) {
    media_row row = media.row(p, context);
    row.row = static_cast<std::int32_t>(first_row + places[p] - item.position);
    input_.media.push_back(row);
    input_.accepted.push_back(model_->config().accept_layer > 0 ? cache_.token(item.block_table, places[p]) : nullptr);
  }
}

step_result ar_runner::execute(const batch& work) {
  step_result result;
  result.items.resize(work.items.size());
  input_.clear();
  const thread_pool::lane::step step(lane_, work.deadline);
  const workspace::scope scope(scratch_);
  const op_context context{cpu_device(), scratch_, lane_};
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    const auto& item = work.items[i];
    const auto found = sequences_.find(item.slot);
    OMNI_CHECK(found != sequences_.end() && !item.tokens.empty(), "an item feeds tokens of an open sequence");
    const auto unknown =
        std::find_if(item.tokens.begin(), item.tokens.end(), [&](auto id) { return id < 0 || id >= info_.vocab_size; });
    if (unknown != item.tokens.end()) {
      result.items[i].input_problem = "Token id " + std::to_string(*unknown) + " is outside of the vocabulary of " +
                                      std::to_string(info_.vocab_size) + " tokens.";
      continue;
    }
    found->second.choose.fed(item.position, item.tokens);
    add(item, i, found->second, context);
  }
  if (input_.ids.empty()) return result;
  const std::int64_t hidden = model_->config().hidden;
  const tensor logits =
      scratch_.take(dtype::f32, {static_cast<std::int64_t>(input_.logit_rows.size()), info_.vocab_size});
  const tensor accepted = scratch_.take(dtype::f32, {static_cast<std::int64_t>(input_.media.size()), hidden});
  model_->forward({input_.ids, input_.positions, input_.sequences, input_.logit_rows, &cache_, logits, input_.media,
                   accepted, observer_ ? &observer_ : nullptr},
                  context);
  for (std::size_t m = 0; m < input_.accepted.size(); ++m)
    if (input_.accepted[m] != nullptr)
      std::copy_n(accepted.f32() + static_cast<std::int64_t>(m) * hidden, hidden, input_.accepted[m]);
  for (std::size_t i = 0; i < work.items.size(); ++i)
    if (result.items[i].input_problem.empty()) finish(work.items[i], result.items[i]);
  sample(work, logits, result);
  return result;
}

void ar_runner::finish(const batch_item& item, item_result& result) {
  auto& sequence = sequences_.at(item.slot);
  const std::int64_t end = item.position + static_cast<std::int64_t>(item.tokens.size());
  if (sequence.media && end >= sequence.prompt_tokens) sequence.media->forget();
  const std::int64_t next = sequence.prompt_tokens + sequence.handed;
  if (sequence.hand_on.empty() || end <= next) return;
  OMNI_CHECK(next >= item.position, "tokens are handed on in order");
  if (sequence.handed == 0) hand_prompt_on(item, sequence, result);
  const auto fresh = item.tokens.subspan(static_cast<std::size_t>(next - item.position));
  result.outputs.push_back(make_payload(payload::kind::tokens, fresh, 1));
  sequence.handed += static_cast<std::int64_t>(fresh.size());
}

void ar_runner::hand_prompt_on(const batch_item& item, const open_sequence& sequence, item_result& result) const {
  if (sequence.media) {
    std::vector<float> rows;
    for (const auto place : sequence.media->places()) {
      const rope_position p = sequence.media->position(place);
      const float* const accepted = cache_.token(item.block_table, place);
      rows.insert(rows.end(), {p.time, p.height, p.width});
      rows.insert(rows.end(), accepted, accepted + model_->config().hidden);
    }
    result.outputs.push_back(make_payload<float>(payload::kind::rows, rows, 3 + model_->config().hidden));
  }
  auto prompt = make_payload<std::int32_t>(payload::kind::tokens, sequence.hand_on, 1);
  prompt->ends_segment = true;
  result.outputs.push_back(std::move(prompt));
}

void ar_runner::sample(const batch& work, const tensor& logits, step_result& result) {
  lane_.parallel(logits.extents[0], [&](std::int64_t i) {
    const std::size_t index = input_.samplers[static_cast<std::size_t>(i)];
    const auto& item = work.items[index];
    const auto position = item.position + static_cast<std::int64_t>(item.tokens.size());
    result.items[index].token = sequences_.at(item.slot).choose.choose(logits.f32() + i * logits.columns(), position);
  });
}

} // namespace omni
