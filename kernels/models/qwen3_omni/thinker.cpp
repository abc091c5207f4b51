#include "kernels/models/qwen3_omni/thinker.hpp"

namespace omni::qwen3_omni {

std::shared_ptr<const decoder_model> load_thinker_decoder(const std::filesystem::path& folder,
                                                          const model_config& config,
                                                          std::shared_ptr<const checkpoint> file, bool as_f32) {
  return decoder_model::load(
      decoder_source{std::move(file), {"thinker.model", "thinker.lm_head"}, config.thinker, load_decoder_text(folder)},
      as_f32);
}

} // namespace omni::qwen3_omni
