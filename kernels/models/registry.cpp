#include "kernels/core/error.hpp"
#include "kernels/models/decoder/decoder_cost.hpp"
#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/qwen3_omni/code2wav.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"
#include "kernels/models/qwen3_omni/omni_cost.hpp"
#include "kernels/models/qwen3_omni/talker.hpp"
#include "kernels/models/qwen3_omni/thinker.hpp"
#include "kernels/models/vits/voice.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/safetensors_file.hpp"

#include <string_view>

namespace omni {
namespace {

using load_function = std::shared_ptr<const stage_model> (*)(const stage_model_spec&);
using cost_function = stage_cost (*)(const stage_model_spec&, const cost_question&);

/// Which family serves a stage of which checkpoints.
struct family {
  std::string_view stage;
  bool (*serves)(const std::filesystem::path& model);
  load_function load;
  cost_function cost;
};

bool any_other(const std::filesystem::path&) { return true; }

/// The first that serves a stage and a checkpoint is taken.
constexpr family families[] = {
    {"thinker", qwen3_omni::is_checkpoint, qwen3_omni::load_thinker, qwen3_omni::cost_of_thinker},
    {"talker", qwen3_omni::is_checkpoint, qwen3_omni::load_talker, qwen3_omni::cost_of_talker},
    {"code2wav", qwen3_omni::is_checkpoint, qwen3_omni::load_code2wav, qwen3_omni::cost_of_code2wav},
    {"thinker", any_other,
     [](const stage_model_spec& spec) -> std::shared_ptr<const stage_model> { return decoder_model::load(spec); },
     cost_of_decoder_stage},
    {"talker", any_other, vits::load_talker, vits::cost_of_voice},
    {"code2wav", any_other, vits::load_code2wav, vits::cost_of_voice},
};

const family& family_of(const stage_model_spec& spec) {
  std::string known;
  for (const auto& each : families) {
    if (each.stage == spec.stage && each.serves(spec.model)) return each;
    if (known.find(each.stage) != std::string::npos) continue;
    known += (known.empty() ? "" : ", ") + std::string(each.stage);
  }
  reject(spec.model.string(), "no model runs a stage " + shown(spec.stage) + "; there are " + known);
}

} // namespace

placed_prompt stage_model::place_media(std::vector<std::int32_t> prompt,
                                       std::vector<std::shared_ptr<const media_input>> media) const {
  if (!media.empty())
    throw input_error("messages", "This model reads text only: leave sounds, pictures and videos out.");
  return {std::move(prompt), {}};
}

std::vector<std::string> stages_of(const std::filesystem::path& model) {
  if (model.extension() == ".onnx") return {"talker", "code2wav"};
  if (qwen3_omni::is_checkpoint(model) && qwen3_omni::load_config(model, true).talker)
    return {"thinker", "talker", "code2wav"};
  return {"thinker"};
}

bool wants_dummy(const stage_model_spec& spec) {
  if (spec.load_format == "auto") return false;
  if (spec.load_format != "dummy")
    reject(spec.model.string(), "load_format is " + shown(spec.load_format) + ", expected auto or dummy");
  std::error_code unreadable;
  if (!std::filesystem::is_directory(spec.model, unreadable))
    reject(spec.model.string(),
           "load_format dummy needs a Hugging Face directory, of which it reads config.json; a file brings its own "
           "weights, so leave load_format out");
  return true;
}

std::shared_ptr<const checkpoint> open_weights(const stage_model_spec& spec) {
  if (wants_dummy(spec)) return dummy_checkpoint::open(spec.model);
  return safetensors_file::open(spec.model);
}

std::shared_ptr<const stage_model> load_stage_model(const stage_model_spec& spec) {
  (void)wants_dummy(spec); // before any family that knows nothing of it
  return family_of(spec).load(spec);
}

stage_cost cost_of_stage(const stage_model_spec& spec, const cost_question& question) {
  return family_of(spec).cost(spec, question);
}

} // namespace omni
