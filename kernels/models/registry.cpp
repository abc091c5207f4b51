#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/models/vits/voice.hpp"
#include "kernels/weights/reject.hpp"

#include <string_view>

namespace omni {
namespace {

using load_function = std::shared_ptr<const stage_model> (*)(const stage_model_spec&);

/// Which family serves a stage.
struct family {
  std::string_view stage;
  load_function load;
};

constexpr family families[] = {
    {"thinker",
     [](const stage_model_spec& spec) -> std::shared_ptr<const stage_model> { return decoder_model::load(spec); }},
    {"talker", vits::load_talker},
    {"code2wav", vits::load_code2wav},
};

} // namespace

std::shared_ptr<const stage_model> load_stage_model(const stage_model_spec& spec) {
  std::string known;
  for (const auto& each : families) {
    if (each.stage == spec.stage) return each.load(spec);
    known += (known.empty() ? "" : ", ") + std::string(each.stage);
  }
  reject(spec.model.string(), "no model runs a stage " + shown(spec.stage) + "; there are " + known);
}

} // namespace omni
