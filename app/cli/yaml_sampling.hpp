#pragma once

#include "kernels/runtime/sampling_params.hpp"
#include "messages/errc.hpp"

#include <optional>
#include <string>
#include <yaml-cpp/node/node.h>

namespace omni::cli {

/// Reads `default_sampling_params` of a stage over what `into` holds: the sampler fields of a request, checked as
/// there, but for logit_bias (its token ids cannot be checked before the model is loaded).
void read_yaml_sampling(const YAML::Node& from, const std::string& where, std::optional<failure>& problem,
                        sampling_params& into);

} // namespace omni::cli
