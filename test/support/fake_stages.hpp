#pragma once

#include "actors/stage_graph.hpp"
#include "test/support/fake_runner.hpp"

namespace omni::test {

/// A stage of the fake pipeline ("thinker", "talker" or "code2wav"), as the engine describes it to the graph.
inline stage_graph::stage fake_stage(const std::string& name, std::optional<modality> final_output = {}) {
  return {name, name == "thinker", final_output, fake_stage_model(name, {})->ports()};
}

} // namespace omni::test
