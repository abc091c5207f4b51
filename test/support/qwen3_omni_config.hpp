#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace omni::test {

/// What config.json of Qwen3-Omni-30B-A3B-Instruct says, as far as it is read: spec/models/qwen3_omni.md section 1.
nlohmann::json real_qwen3_omni_config();

/// The same architecture in the smallest sizes; starts within milliseconds.
nlohmann::json tiny_qwen3_omni_config();

/// The same with about 0.5 billion parameters, spread over the stages as in the real one.
nlohmann::json half_billion_qwen3_omni_config();

/// Makes `folder` hold that config.json and nothing else.
void write_config(const std::filesystem::path& folder, const nlohmann::json& config);

} // namespace omni::test
