#pragma once

#include "actors/stage/ending.hpp"
#include "actors/stage/scheduler.hpp"
#include "actors/stage/sequence.hpp"
#include "actors/stage/slot_pool.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace omni {

/// What an autoregressive stage can hold and do in one step.
struct ar_limits {
  std::int32_t blocks = 0;                   // KV blocks
  std::int32_t block_size = 16;              // tokens
  std::int32_t max_model_len = 0;            // tokens; a sequence that reaches it ends
  std::int32_t max_num_seqs = 16;            // sequences in one step
  std::int32_t max_num_batched_tokens = 512; // tokens in one step; >= max_num_seqs
  bool prefix_caching = true;
  bool hands_text = true; // to the next stage: what the tokens say; else what the runner makes for it
  std::vector<std::int32_t> eos_ids;
};

/// Continuous batching over paged KV blocks. Each step first decodes, one token per running sequence, then continues
/// prompts, then admits waiting sequences in order of arrival, all within the token budget.
///
/// A sequence is admitted when the blocks of all its tokens are free and some remain for those that run (the
/// watermark), so prompts never run out of blocks halfway; decoding may. Then the youngest sequence gives its blocks
/// up, waits, and later computes its tokens anew; what was generated stays, so its output is the same.
class ar_scheduler final : public scheduler {
public:
  /// `tokenizer` makes text of tokens and must outlive this; null: the stage has no text.
  ar_scheduler(ar_limits limits, const text::tokenizer* tokenizer);

  void open(stage_task task, time_us now, emissions& out) override;
  void feed(request_id request, std::shared_ptr<const payload> input, bool end, time_us now) override;
  void end(request_id request, const std::optional<failure>& problem, time_us now, emissions& out) override;
  [[nodiscard]] bool has_work() const override { return !running_.empty() || !waiting_.empty(); }
  const batch& plan(time_us now) override;
  void update(const step_result& result, time_us now, emissions& out) override;

  [[nodiscard]] const block_manager& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

private:
  struct share {
    sequence* who;
    std::size_t tokens;
  };

  void plan_decodes(std::size_t& budget);
  void plan_prompts(std::size_t& budget);
  void admit_waiting(std::size_t& budget, time_us now);
  bool admit(sequence& one, time_us now);
  void add_share(sequence& one, std::size_t tokens, std::size_t& budget);
  void build_batch();
  /// Makes room for one more token of `one`; false if that cost `one` its own blocks.
  bool make_room(sequence& one);
  void preempt(sequence& one);

  void accept(sequence& one, const token_choice& chosen, step_record& record, time_us now, emissions& out);
  void emit(sequence& one, std::string text, const std::optional<ending>& over, emissions& out);
  void finish(sequence& one, const ending& over, step_record& record, time_us now, emissions& out);
  /// Lets go of what a sequence holds outside its group.
  void drop(sequence& one, emissions& out);
  void close_group(sequence_group& group, const std::optional<failure>& problem, time_us now, emissions& out);
  void note_state(emissions& out);

  ar_limits limits_;
  const text::tokenizer* tokenizer_;
  block_manager blocks_;
  slot_pool slots_;
  std::int64_t next_age_ = 0;
  std::unordered_map<request_id, std::unique_ptr<sequence_group>> groups_;
  std::vector<sequence*> running_; // oldest first
  std::vector<sequence*> waiting_; // oldest first
  std::vector<share> shares_;      // of the planned step
  batch batch_;
  bool preempted_ = false;   // somebody was, in the planned step
  cache_counts found_;       // in the prefix cache, since the last report
  cache_counts found_again_; // ... by sequences that resume
};

/// When the next token of a sequence is due, for the order of lanes: see thread_pool. Nothing yet: a start budget after
/// it was queued. Then the listener's pace: a reader takes `reading_us` per token; a voice speaks slower still, but
/// only once it has a first clause of `clause_tokens`, so those are urgent.
time_us due(const sequence& one);

} // namespace omni
