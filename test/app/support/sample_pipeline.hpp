#pragma once

#include "app/openai/pipeline_facts.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace omni::test {

/// A pipeline that reads text and gives text and sound: tokens are bytes, the template prints "role: content\n" for
/// each message.
std::shared_ptr<openai::pipeline_facts> sample_pipeline();

/// Samples in -1..1 as a payload, mono at `sample_rate`.
std::shared_ptr<const payload> sound_of(const std::vector<float>& samples, std::int32_t sample_rate = 8000);

/// Decodes base64 with padding at its end only; throws when it is not that.
std::string from_base64(const std::string& text);

} // namespace omni::test
