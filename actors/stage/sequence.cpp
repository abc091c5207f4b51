#include "actors/stage/sequence.hpp"

#include "actors/stage/content_digest.hpp"

namespace omni {
namespace {

std::optional<std::int64_t> limit_of(const sampling_params& sampling) {
  return sampling.max_tokens >= 0 ? std::optional<std::int64_t>(sampling.max_tokens) : std::nullopt;
}

} // namespace

sequence_group::sequence_group(stage_task what, time_us now) : task(std::move(what)), facts(task.what.n), opened(now) {
  for (const auto& medium : task.what.media) marks.push_back({std::size_t(medium.begin), digest_of(*medium.what)});
}

sequence::sequence(sequence_group& owner, std::int32_t which, const text::tokenizer* tokenizer, time_us now)
    : group(owner), choice(which), tokens(owner.task.what.prompt), prompt(tokens.size()),
      text(tokenizer, owner.task.what.sampling),
      timing(in_seconds(owner.task.arrival), std::int64_t(prompt), limit_of(owner.task.what.sampling)), queued(now) {
  timing.queued(in_seconds(now));
}

const sampling_params& sequence::sampling() const { return group.task.what.sampling; }

} // namespace omni
