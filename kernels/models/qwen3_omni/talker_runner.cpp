#include "kernels/models/qwen3_omni/talker_runner.hpp"

#include "kernels/core/check.hpp"
#include "kernels/core/error.hpp"
#include "kernels/ops/backend.hpp"

#include <algorithm>
#include <cctype>

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t block_tokens = 16;

std::int32_t blocks_of(const talker_model& model, const runner_options& options) {
  return block_count(model.decoder().cache_shape(block_tokens), options.kv_cache_bytes, options.max_num_seqs);
}

std::int32_t code_of_speaker(const talker_config& config, const std::string& name) {
  if (name.empty()) {
    const auto usual = config.speakers.find(usual_speaker);
    return usual == config.speakers.end() ? config.speakers.begin()->second : usual->second;
  }
  std::string lower = name, known;
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (const auto found = config.speakers.find(lower); found != config.speakers.end()) return found->second;
  for (const auto& [each, code] : config.speakers) known += (known.empty() ? "" : ", ") + each;
  throw input_error("voice", "There is no speaker of that name in this model; there are " + known + ".");
}

std::size_t blocks_for(std::int64_t rows) { return static_cast<std::size_t>((rows + block_tokens - 1) / block_tokens); }

} // namespace

talker_runner::talker_runner(std::shared_ptr<const talker_model> model, double frames_per_second,
                             const runner_options& options, thread_pool& pool)
    : model_(std::move(model)), rows_per_step_(std::max(options.max_num_batched_tokens, options.max_num_seqs)),
      cache_(model_->decoder().cache_shape(block_tokens), blocks_of(*model_, options)),
      blocks_(blocks_of(*model_, options)), predictor_cache_(model_->predictor_cache(options.max_num_seqs)),
      lane_(pool, options.max_threads) {
  info_.sample_rate = sample_rate_out;
  info_.rows_per_second = frames_per_second;
  info_.sequences_per_step = options.max_num_seqs;
  const auto& config = model_->config().decoder;
  if (options.max_model_len > config.context)
    throw load_error("max_model_len is " + std::to_string(options.max_model_len) + ", but the talker has only " +
                     std::to_string(config.context) + " positions.");
  most_rows_ = std::min(options.max_model_len > 0 ? options.max_model_len : config.context,
                        static_cast<std::int64_t>(blocks_.free()) * block_tokens);
  info_.max_model_len = static_cast<std::int32_t>(most_rows_);
}

void talker_runner::open(sequence_slot slot, const sequence_params& params) {
  auto sampling = params.sampling;
  if (!sampling.seed) sampling.seed = params.voice.seed;
  auto one =
      std::make_unique<talker_sequence>(*model_, sampling, code_of_speaker(model_->config(), params.voice.speaker));
  one->age = next_age_++;
  const bool added = sequences_.try_emplace(slot, std::move(one)).second;
  OMNI_CHECK(added, "a slot is opened once");
}

void talker_runner::close(sequence_slot slot) {
  const auto at = sequences_.find(slot);
  OMNI_CHECK(at != sequences_.end(), "only an open slot is closed");
  blocks_.give_back(at->second->blocks);
  sequences_.erase(at);
}

void talker_runner::show(const char* name, const tensor& value) const {
  if (observer_) observer_(name, value);
}

step_result talker_runner::execute(const batch& work) {
  step_result result;
  result.items.resize(work.items.size());
  const thread_pool::lane::step step(lane_, work.deadline);
  const workspace::scope scope(scratch_);
  const op_context context{cpu_device(), scratch_, lane_};
  hear(work, result, context);
  const auto shares = plan(work, result);
  if (!shares.empty()) {
    const tensor h = feed(shares, context);
    std::vector<share> speakers;
    for (const auto& one : shares)
      if (one.who->wants_code()) speakers.push_back(one);
    if (!speakers.empty()) speak(speakers, h, context);
  }
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    auto& one = *sequences_.at(work.items[i].slot);
    if (one.finished()) blocks_.give_back(one.blocks);
    result.items[i].finished = one.finished();
    result.items[i].cut_short = one.was_cut();
    result.items[i].input_used_up = !one.can_go_on();
  }
  result.cache_usage = blocks_.usage();
  return result;
}

void talker_runner::hear(const batch& work, step_result& result, const op_context& context) {
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    const auto found = sequences_.find(work.items[i].slot);
    OMNI_CHECK(found != sequences_.end(), "a step names open sequences only");
    auto& one = *found->second;
    auto& item = result.items[i];
    item.input_problem = one.hear(work.items[i]);
    if (!item.input_problem.empty()) continue;
    const auto before = one.rows_made();
    one.make_prompt_rows(context);
    item.prompt_tokens = one.rows_made() - before;
  }
  add_texts(work, result, context);
}

std::vector<talker_runner::share> talker_runner::plan(const batch& work, step_result& result) {
  std::vector<share> wanted;
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    auto& one = *sequences_.at(work.items[i].slot);
    auto& item = result.items[i];
    if (!item.input_problem.empty()) continue;
    if (one.rows_made() > most_rows_ && one.has_spoken())
      one.cut();
    else if (one.rows_made() > most_rows_)
      item.input_problem = "The conversation and its reply have more than " + std::to_string(most_rows_) +
                           " places, which is all that the talker holds: shorten them.";
    else if (one.unfed_rows() > 0)
      wanted.push_back({&one, one.unfed_rows(), &item});
  }
  // Older sequences choose first, so that one which takes blocks from a younger one finds it not in this step yet.
  std::sort(wanted.begin(), wanted.end(), [](const share& a, const share& b) { return a.who->age < b.who->age; });
  std::vector<share> planned;
  std::int64_t budget = rows_per_step_;
  for (auto one : wanted) {
    if (static_cast<std::int64_t>(planned.size()) == info_.sequences_per_step) break;
    one.rows = std::min(one.rows, budget);
    if (one.rows == 0) continue;
    if (!make_room(*one.who, one.rows, planned, result)) {
      one.result->no_room = true;
      continue;
    }
    one.rows = std::min(one.rows, one.who->unfed_rows());
    budget -= one.rows;
    planned.push_back(one);
  }
  return planned;
}

void talker_runner::add_texts(const batch& work, const step_result& result, const op_context& context) {
  std::vector<talker_sequence*> takers;
  std::vector<std::int32_t> texts;
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    auto& one = *sequences_.at(work.items[i].slot);
    const auto text = one.text_due();
    if (!text || !result.items[i].input_problem.empty()) continue;
    takers.push_back(&one);
    texts.push_back(*text);
  }
  if (takers.empty()) return;
  const workspace::scope scope(scratch_);
  const tensor rows = model_->text_rows(texts, context);
  for (std::size_t i = 0; i < takers.size(); ++i)
    takers[i]->take_text(rows.f32() + static_cast<std::int64_t>(i) * rows.columns());
}

bool talker_runner::make_room(talker_sequence& one, std::int64_t rows, const std::vector<share>& planned,
                              step_result& result) {
  while (!blocks_.grow(one.blocks, blocks_for(one.fed() + rows))) {
    talker_sequence* youngest = nullptr;
    sequence_slot slot = 0;
    for (const auto& entry : sequences_) {
      talker_sequence* const other = entry.second.get();
      const bool in_step = std::any_of(planned.begin(), planned.end(), [&](const share& s) { return s.who == other; });
      const bool yields = other->age > one.age || (other != &one && !other->can_go_on());
      if (in_step || other->blocks.empty() || !yields) continue;
      if (youngest != nullptr && other->age < youngest->age) continue;
      youngest = other;
      slot = entry.first;
    }
    if (youngest == nullptr) return false;
    result.preempted.push_back(slot);
    blocks_.give_back(youngest->blocks);
    youngest->forget_cache();
  }
  return true;
}

tensor talker_runner::feed(const std::vector<share>& shares, const op_context& context) {
  std::int64_t rows = 0;
  for (const auto& one : shares) rows += one.rows;
  const std::int64_t width = model_->hidden();
  const tensor x = scratch_.take(dtype::f32, {rows, width}), pending = scratch_.take(dtype::f32, {rows, width});
  std::vector<rope_position> positions;
  std::vector<sequence_rows> sequences;
  std::vector<std::int32_t> tips;
  for (const auto& [who, count, result] : shares) {
    const auto first = static_cast<std::int64_t>(positions.size());
    std::copy_n(who->row(who->fed()), count * width, x.f32() + first * width);
    for (std::int64_t i = 0; i < count; ++i) positions.push_back(who->position(who->fed() + i));
    sequences.push_back({first, count, who->fed(), who->blocks});
    who->advance(count);
    if (who->wants_code()) tips.push_back(static_cast<std::int32_t>(first + count - 1));
  }
  show("x", x);
  const stack_step step{x, pending, positions, sequences, &cache_, {}, {}, observer_ ? &observer_ : nullptr};
  model_->decoder().run(step, context);
  if (tips.empty()) return {};
  const rms_norm_args norm = model_->decoder().last_norm(step, tips, context);
  rms_norm(norm, context);
  show("h", norm.out);
  return norm.out;
}

void talker_runner::speak(const std::vector<share>& speakers, const tensor& h, const op_context& context) {
  const std::int64_t width = model_->hidden();
  const tensor logits = model_->first_code_logits(h, context);
  show("logits", logits);
  const tensor going = scratch_.take(dtype::f32, h.extents); // of those whose reply goes on
  std::vector<share> framed;
  std::vector<std::int32_t> first;
  for (std::size_t i = 0; i < speakers.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const auto code = speakers[i].who->choose_first(logits.f32() + row * logits.columns());
    if (!code) continue;
    std::copy_n(h.f32() + row * width, width, going.f32() + static_cast<std::int64_t>(framed.size()) * width);
    framed.push_back(speakers[i]);
    first.push_back(*code);
  }
  show("logits_processed", logits);
  if (framed.empty()) return;
  const auto frames = static_cast<std::int64_t>(framed.size());
  const auto made = model_->complete(
      tensor(going.f32(), {frames, width}), first, predictor_cache_,
      [&](std::int64_t frame, std::int64_t group, float* other) {
        return framed[static_cast<std::size_t>(frame)].who->choose_other(group, other);
      },
      observer_ ? &observer_ : nullptr, context);
  const auto groups = static_cast<std::size_t>(model_->config().code_groups);
  for (std::size_t f = 0; f < framed.size(); ++f) {
    framed[f].who->take_frame(made.embeddings.f32() + static_cast<std::int64_t>(f) * width);
    framed[f].result->outputs.push_back(make_payload(
        payload::kind::rows, std::span(made.codes).subspan(f * groups, groups), static_cast<std::int64_t>(groups)));
  }
}

} // namespace omni::qwen3_omni
