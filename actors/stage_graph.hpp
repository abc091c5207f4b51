#pragma once

#include "kernels/models/stage_model.hpp"
#include "messages/config.hpp"
#include "messages/errc.hpp"
#include "messages/stage_task.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// The chain of stages, and which part of it a request needs. Plain data.
class stage_graph {
public:
  struct stage {
    std::string name;  // "thinker", for messages to people
    bool text = false; // works on tokens and brings a tokenizer; else it is a voice stage
    std::optional<modality> final_output;
    stage_ports ports{};
    sampling_params sampling{}; // where a request says nothing
  };
  /// Stages first..last, in order.
  struct path {
    std::size_t first = 0;
    std::size_t last = 0;
    [[nodiscard]] std::size_t size() const { return last - first + 1; }
  };

  /// Errors: `invalid_request` for a chain that cannot work, in one sentence.
  static expected<stage_graph> make(std::vector<stage> stages);

  [[nodiscard]] std::size_t size() const { return stages_.size(); }
  [[nodiscard]] const stage& operator[](std::size_t at) const { return stages_[at]; }
  /// The stages that `what` goes through. Errors: `invalid_request`, param "modalities" or "input".
  [[nodiscard]] expected<path> path_of(const request& what) const;
  /// What the stage at `at` is told of a request that takes `way`.
  [[nodiscard]] stage_task task_for(std::size_t at, path way, request_id id, std::int32_t attempt, const request& what,
                                    time_us arrival) const;

private:
  [[nodiscard]] std::optional<std::size_t> source_of(modality kind) const;
  std::vector<stage> stages_;
};

} // namespace omni
