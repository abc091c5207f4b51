#pragma once

#include "app/openai/fields.hpp"
#include "kernels/runtime/sampling_params.hpp"

#include <cstdint>

namespace omni::openai {

/// Reads the sampler fields that are present (vLLM's names) over what `into` holds, checking types and ranges. Token
/// ids must be below `vocab_size`. Used for requests and for `default_sampling_params` of a deploy YAML.
void read_sampling(fields& from, std::int32_t vocab_size, sampling_params& into);

} // namespace omni::openai
