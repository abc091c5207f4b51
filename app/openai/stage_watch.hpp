#pragma once

#include "app/openai/json.hpp"
#include "app/openai/pipeline_facts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace omni::openai {

/// The stage statistics that `return_stage_metrics` asks for, as far as one request's outputs tell them: times are
/// those at which outputs reached the front end, so they hold what a stage waited for too.
class stage_watch {
public:
  stage_watch(const pipeline_facts& pipeline, std::int32_t prompt_tokens, std::int64_t start_us);

  void on_output(const output& piece, std::int64_t now_us);
  /// `metrics` of the event that carries `piece`: its stage's counts, and at the end of a modality all snapshots so
  /// far.
  [[nodiscard]] json event_metrics(const output& piece) const;
  /// `metrics` of a whole answer.
  [[nodiscard]] json answer_metrics() const;

private:
  struct stage {
    std::optional<stage_id> id;
    bool seen = false;
    std::int64_t first_us = 0;
    std::int64_t last_us = 0;
    std::int64_t outputs = 0;
    std::int32_t tokens_in = 0;
    std::int32_t tokens_out = 0;
    std::int64_t samples = 0;
    std::int32_t sample_rate = 0;
    std::optional<finish_reason> finish;
    std::vector<double> gaps_ms; // between tokens (text) or packets (sound)
  };
  [[nodiscard]] const stage& of(modality kind) const { return kind == modality::text ? text_ : audio_; }
  [[nodiscard]] json snapshot(const stage& which, modality kind) const;
  [[nodiscard]] json snapshots() const;

  const pipeline_facts& pipeline_;
  std::int64_t start_us_;
  stage text_;
  stage audio_;
};

} // namespace omni::openai
