#include "kernels/runtime/stream_runner.hpp"

#include "kernels/core/check.hpp"

namespace omni {

stream_runner::stream_runner(runner_info facts, const backend& device, thread_pool& pool, unsigned max_threads,
                             sequence_maker make)
    : info_(std::move(facts)), device_(device), lane_(pool, max_threads), make_(std::move(make)) {}

void stream_runner::open(sequence_slot slot, const sequence_params& params) {
  OMNI_CHECK(!sequences_.contains(slot), "a sequence slot is opened once");
  sequences_.emplace(slot, make_(params));
}

void stream_runner::close(sequence_slot slot) { sequences_.erase(slot); }

step_result stream_runner::execute(const batch& work) {
  const thread_pool::lane::step step(lane_, work.deadline);
  const op_context context{device_, scratch_, lane_};
  step_result result;
  for (const auto& item : work.items) {
    const auto found = sequences_.find(item.slot);
    OMNI_CHECK(found != sequences_.end(), "a step names open sequences only");
    result.items.push_back(found->second->step(item, context));
  }
  return result;
}

} // namespace omni
