#pragma once

#include "messages/config.hpp"
#include "messages/errc.hpp"

namespace omni::cli {

/// A stage's sampling parameters, to be changed: from now on it does not take its model's own.
sampling_params& own_sampling(stage_config& stage);

/// Reads the sampler's defaults of a text stage's Hugging Face directory (generation_config.json: temperature, top_p,
/// top_k, min_p, repetition_penalty, max_new_tokens) over those that it has. A model that is a file, or has no such
/// file, changes nothing.
expected<void> read_generation_config(stage_config& stage);

} // namespace omni::cli
