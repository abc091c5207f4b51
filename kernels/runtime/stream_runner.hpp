#pragma once

#include "kernels/core/thread_pool.hpp"
#include "kernels/core/workspace.hpp"
#include "kernels/ops/backend.hpp"
#include "kernels/runtime/runner.hpp"

#include <functional>
#include <map>
#include <memory>

namespace omni {

/// One open sequence of a stage that turns one stream into another (text into frames, frames into sound).
/// Holds all of its state; a step does a bounded piece of work, so that the sequences of a replica take turns.
class stream_sequence {
public:
  virtual ~stream_sequence() = default;
  /// Takes what arrived for it, if anything, and computes the next piece. See `item_result` for the answer.
  virtual item_result step(const batch_item& item, const op_context& context) = 0;
};

/// Runs stages made of `stream_sequence`s.
class stream_runner final : public runner {
public:
  /// Makes a sequence; throws `input_error` for an unknown speaker.
  using sequence_maker = std::function<std::unique_ptr<stream_sequence>(const sequence_params&)>;

  stream_runner(runner_info facts, const backend& device, thread_pool& pool, unsigned max_threads, sequence_maker make);

  [[nodiscard]] const runner_info& info() const override { return info_; }
  void open(sequence_slot slot, const sequence_params& params) override;
  void close(sequence_slot slot) override;
  step_result execute(const batch& work) override;

private:
  runner_info info_;
  const backend& device_;
  thread_pool::lane lane_;
  workspace scratch_;
  sequence_maker make_;
  std::map<sequence_slot, std::unique_ptr<stream_sequence>> sequences_;
};

} // namespace omni
