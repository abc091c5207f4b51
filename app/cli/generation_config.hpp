#pragma once

#include "kernels/runtime/sampling_params.hpp"
#include "messages/errc.hpp"

#include <filesystem>

namespace omni::cli {

/// Reads the sampler's defaults of a Hugging Face directory (generation_config.json: temperature, top_p, top_k, min_p,
/// repetition_penalty, max_new_tokens) over what `into` holds. A model that is a file, or has no such file, changes
/// nothing.
expected<void> read_generation_config(const std::filesystem::path& model, sampling_params& into);

} // namespace omni::cli
