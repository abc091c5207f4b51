#include "actors/stage/ar_scheduler.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <limits>

namespace omni {
namespace {

constexpr time_us start_budget_us = 200'000;
constexpr time_us reading_us = 100'000;   // per token: twice the pace of a fast reader
constexpr time_us speaking_us = 200'000;  // per token: somewhat faster than speech
constexpr std::size_t clause_tokens = 24; // what a voice needs before it can start

bool older(const sequence* a, const sequence* b) { return a->age < b->age; }

/// The choices of one request share a prompt: those after the first wait until it is in the cache.
bool waits_for_sibling(const sequence& one, bool prefix_caching, std::int32_t block_size) {
  const auto& first = *one.group.choices.front();
  return prefix_caching && one.choice > 0 && !one.admitted && !first.finished &&
         first.prompt > std::size_t(block_size) && first.computed < first.prompt;
}

failure unfit(const request& what, std::int32_t max_model_len) {
  if (what.prompt.empty())
    return {errc::invalid_request, "The prompt is empty: give at least one token.", what.prompt_param};
  return {errc::context_too_long,
          "The prompt has " + std::to_string(what.prompt.size()) + " tokens, but this model holds at most " +
              std::to_string(max_model_len) + " with the answer: shorten it.",
          what.prompt_param};
}

} // namespace

time_us due(const sequence& one) {
  const bool voice = one.group.task.for_next;
  const auto done = one.generated();
  if (done == 0 || (voice && done < clause_tokens)) return one.queued + start_budget_us;
  return one.first_token + time_us(done) * (voice ? speaking_us : reading_us);
}

ar_scheduler::ar_scheduler(ar_limits limits, const text::tokenizer* tokenizer)
    : limits_(std::move(limits)), tokenizer_(tokenizer),
      blocks_(limits_.blocks, limits_.block_size, limits_.prefix_caching) {
  OMNI_CHECK(limits_.max_num_seqs > 0 && limits_.max_num_batched_tokens >= limits_.max_num_seqs,
             "a step has room for a token of each of its sequences");
  // A sequence alone must always fit, or it could wait for blocks for ever.
  limits_.max_model_len =
      std::int32_t(std::min<std::int64_t>(limits_.max_model_len, std::int64_t(limits_.blocks) * limits_.block_size));
}

void ar_scheduler::open(stage_task task, time_us now, emissions& out) {
  const auto id = task.id;
  const auto length = std::int64_t(task.what.prompt.size());
  if (length == 0 || length >= limits_.max_model_len) {
    out.results.push_back({id, task.attempt, finish_reason::error, 0, 0, unfit(task.what, limits_.max_model_len)});
    return;
  }
  const auto [at, fresh] = groups_.try_emplace(id, std::make_unique<sequence_group>(std::move(task), now));
  OMNI_CHECK(fresh, "a request is opened once");
  auto& group = *at->second;
  const auto& what = group.task.what;
  for (std::int32_t choice = 0; choice < what.n; ++choice) {
    auto& one = *group.choices.emplace_back(std::make_unique<sequence>(group, choice, tokenizer_, now));
    one.age = next_age_++;
    one.slot = slots_.take();
    waiting_.push_back(&one);
    sequence_params params;
    params.sampling = what.sampling;
    params.sampling.seed = what.sampling.seed.value_or(0) + std::uint64_t(choice);
    params.prompt = what.prompt;
    for (const auto& medium : what.media) params.media.push_back(medium.what);
    params.hand_on = group.task.for_next && !limits_.hands_text;
    out.opened.push_back({id, one.slot, std::move(params)});
  }
  group.open = what.n;
}

void ar_scheduler::feed(request_id, std::shared_ptr<const payload>, bool, time_us) {
  OMNI_CHECK(false, "a text stage is the first of its pipeline");
}

// -- plan -------------------------------------------------------------------------------------------------------------

const batch& ar_scheduler::plan(time_us now) {
  shares_.clear();
  preempted_ = false;
  auto budget = std::size_t(limits_.max_num_batched_tokens);
  plan_decodes(budget);
  plan_prompts(budget);
  if (!preempted_) admit_waiting(budget, now);
  build_batch();
  OMNI_CHECK(shares_.empty() == !has_work(), "a scheduler with work plans some");
  return batch_;
}

void ar_scheduler::plan_decodes(std::size_t& budget) {
  // By index: making room shortens the list at its young end, which was not reached yet.
  for (std::size_t i = 0; i < running_.size() && budget > 0; ++i) {
    auto& one = *running_[i];
    if (one.uncomputed() == 1 && make_room(one)) add_share(one, 1, budget);
  }
}

void ar_scheduler::plan_prompts(std::size_t& budget) {
  for (auto* one : running_)
    if (one->uncomputed() > 1 && budget > 0) add_share(*one, std::min(one->uncomputed(), budget), budget);
}

void ar_scheduler::admit_waiting(std::size_t& budget, time_us now) {
  std::size_t next = 0;
  while (next < waiting_.size() && budget > 0 && running_.size() < std::size_t(limits_.max_num_seqs)) {
    auto& one = *waiting_[next];
    if (waits_for_sibling(one, limits_.prefix_caching, limits_.block_size)) {
      ++next;
      continue;
    }
    if (!admit(one, now)) return; // in order of arrival: nobody overtakes who waits for blocks
    waiting_.erase(waiting_.begin() + std::ptrdiff_t(next));
    add_share(one, std::min(one.uncomputed(), budget), budget);
  }
}

bool ar_scheduler::admit(sequence& one, time_us now) {
  const auto known = blocks_.match(one.tokens, one.group.marks);
  const auto watermark = running_.empty() ? 0 : std::max(1, blocks_.total() / 100);
  if (blocks_.cost(one.tokens.size(), known) > blocks_.free() - watermark) return false;
  blocks_.acquire(one.held, one.tokens.size(), known);
  one.computed = known.size() * std::size_t(limits_.block_size);
  if (limits_.prefix_caching)
    (one.admitted ? found_again_ : found_).merge({1, std::int64_t(one.tokens.size()), std::int64_t(one.computed)});
  if (!one.admitted) {
    one.cached = one.computed;
    one.timing.found_cached(std::int64_t(one.cached), 0);
    one.admitted = true;
  }
  one.timing.scheduled(in_seconds(now));
  running_.insert(std::upper_bound(running_.begin(), running_.end(), &one, older), &one);
  return true;
}

void ar_scheduler::add_share(sequence& one, std::size_t tokens, std::size_t& budget) {
  shares_.push_back({&one, tokens});
  budget -= tokens;
}

bool ar_scheduler::make_room(sequence& one) {
  while (std::size_t(blocks_.blocks_for(one.tokens.size())) > one.held.blocks.size()) {
    if (blocks_.extend(one.held)) continue;
    auto& youngest = *running_.back();
    preempt(youngest);
    if (&youngest == &one) return false;
  }
  return true;
}

void ar_scheduler::preempt(sequence& one) {
  blocks_.release(one.held);
  one.computed = 0;
  one.timing.preempted();
  std::erase(running_, &one);
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), &one, older), &one);
  preempted_ = true;
}

void ar_scheduler::build_batch() {
  batch_.items.clear();
  batch_.deadline = std::numeric_limits<time_us>::max();
  for (const auto& [one, tokens] : shares_) {
    batch_item item;
    item.slot = one->slot;
    item.tokens = std::span(one->tokens).subspan(one->computed, tokens);
    item.position = std::int32_t(one->computed);
    item.block_table = std::span(one->held.blocks).first(std::size_t(blocks_.blocks_for(one->computed + tokens)));
    item.sample = one->uncomputed() == tokens;
    batch_.items.push_back(item);
    batch_.deadline = std::min(batch_.deadline, due(*one));
  }
}

// -- update -----------------------------------------------------------------------------------------------------------

void ar_scheduler::update(const step_result& result, time_us now, emissions& out) {
  OMNI_CHECK(result.items.size() == shares_.size(), "a runner answers each item of its batch");
  step_record record(out.report, in_seconds(now));
  std::vector<std::pair<request_id, failure>> failed;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    auto& one = *shares_[i].who;
    const auto& item = result.items[i];
    if (!item.input_problem.empty()) {
      failed.emplace_back(one.group.task.id,
                          failure{errc::invalid_request, item.input_problem, one.group.task.what.prompt_param});
      continue;
    }
    for (const auto& made : item.outputs) out.chunks.push_back({one.group.task.id, made, false});
    one.computed += shares_[i].tokens;
    blocks_.publish(one.held, one.tokens, one.computed, one.group.marks);
    if (batch_.items[i].sample) accept(one, item.token, record, now, out);
  }
  record.close();
  for (const auto& [request, problem] : failed) end(request, problem, now, out);
  note_state(out);
}

void ar_scheduler::accept(sequence& one, const token_choice& chosen, step_record& record, time_us now, emissions& out) {
  one.tokens.push_back(chosen.id);
  one.unsent.push_back(chosen);
  const auto generated = std::int64_t(one.generated());
  if (generated == 1) one.first_token = now;
  record.output(one.timing, 1, in_seconds(now));
  out.report.units += 1;

  const auto& sampling = one.sampling();
  auto over = ending_after(chosen.id, sampling, limits_.eos_ids, generated, std::int64_t(one.tokens.size()),
                           limits_.max_model_len);
  text_stream::piece piece;
  if (!over || !over->by_token || sampling.include_stop_str_in_output)
    piece = one.text.push(chosen.id, generated >= sampling.min_tokens);
  auto text = std::move(piece.text);
  if (piece.stopped_by) {
    over = ending{finish_reason::stop, std::move(*piece.stopped_by), false};
  } else if (over) {
    text += one.text.flush();
  }
  if (over || !text.empty()) emit(one, std::move(text), over, out);
  if (over) finish(one, *over, record, now, out);
}

void ar_scheduler::emit(sequence& one, std::string text, const std::optional<ending>& over, emissions& out) {
  const auto& task = one.group.task;
  if (task.for_next && limits_.hands_text) {
    auto piece = text.empty() ? nullptr : std::make_shared<payload>();
    if (piece) piece->text = text;
    out.chunks.push_back({task.id, std::move(piece), over.has_value()});
  } else if (task.for_next && over) {
    out.chunks.push_back({task.id, nullptr, true});
  }
  if (!task.for_client) return;
  output piece;
  piece.request = task.id;
  piece.choice = one.choice;
  piece.kind = modality::text;
  piece.text = std::move(text);
  piece.tokens = std::exchange(one.unsent, {});
  piece.usage = {std::int32_t(one.prompt), std::int32_t(one.cached), std::int32_t(one.generated())};
  if (over) {
    piece.finish = over->reason;
    piece.stop_reason = over->stop_reason;
  }
  out.outputs.push_back(std::move(piece));
}

void ar_scheduler::finish(sequence& one, const ending& over, step_record& record, time_us now, emissions& out) {
  record.finish(one.timing, one.group.facts, to_finished_as(over.reason), in_seconds(now));
  drop(one, out);
  auto& group = one.group;
  if (one.choice == 0) group.finish = over.reason;
  if (--group.open > 0) return;
  out.report.stage_gen_time.add(in_seconds(now - group.opened), out.report.bad);
  close_group(group, std::nullopt, now, out);
}

void ar_scheduler::end(request_id request, const std::optional<failure>& problem, time_us now, emissions& out) {
  const auto at = groups_.find(request);
  if (at == groups_.end()) return;
  auto& group = *at->second;
  step_record record(out.report, in_seconds(now));
  for (const auto& one : group.choices) {
    if (one->finished) continue;
    record.finish(one->timing, group.facts, problem ? finished_as::error : finished_as::abort, in_seconds(now));
    drop(*one, out);
  }
  group.finish = problem ? finish_reason::error : finish_reason::abort;
  close_group(group, problem, now, out);
  note_state(out);
}

void ar_scheduler::drop(sequence& one, emissions& out) {
  blocks_.release(one.held);
  std::erase(running_, &one);
  std::erase(waiting_, &one);
  slots_.give_back(one.slot);
  out.closed.push_back(one.slot);
  one.finished = true;
}

void ar_scheduler::close_group(sequence_group& group, const std::optional<failure>& problem, time_us now,
                               emissions& out) {
  const auto id = group.task.id;
  stage_result result{id, group.task.attempt, group.finish, 0, 0, problem, now - group.opened};
  for (const auto& one : group.choices) {
    result.prompt_tokens += std::int64_t(one->prompt);
    result.generation_tokens += std::int64_t(one->generated());
  }
  out.results.push_back(std::move(result));
  groups_.erase(id);
}

void ar_scheduler::note_state(emissions& out) {
  auto& state = out.report.scheduler.emplace();
  state.running = std::int32_t(running_.size());
  state.waiting = std::int32_t(waiting_.size());
  state.kv_cache_usage = blocks_.usage();
  out.report.prefix_cache.merge(std::exchange(found_, {}));
  out.report.preempted_prefix_cache.merge(std::exchange(found_again_, {}));
  out.has_facts = true;
}

} // namespace omni
