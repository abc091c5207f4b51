#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace omni::test {

/// The folder of reference outputs: the environment variable OMNI_GOLDEN_DIR, else ../shared/golden beside the sources.
/// Throws a sentence when it does not exist.
std::filesystem::path golden_dir();

/// Paths below `folder` (relative to golden_dir()) whose file name ends in `suffix`, sorted; not recursive.
/// Throws when there is none, so that a test over a listing cannot pass by finding nothing.
std::vector<std::filesystem::path> golden_files(const std::string& folder, const std::string& suffix);

/// Folders directly below `folder`, sorted; throws when there is none.
std::vector<std::filesystem::path> golden_folders(const std::string& folder);

/// max|a-b| / (1e-6 + rms(b)).
double relative_max(const float* a, const float* b, std::int64_t count);
/// max|a-b|.
double absolute_max(const float* a, const float* b, std::int64_t count);
/// ||a-b|| / ||b||.
double relative_l2(const float* a, const float* b, std::int64_t count);
/// 10 log10(sum b^2 / sum (a-b)^2), in dB; 300 when equal.
double signal_to_noise(const float* a, const float* b, std::int64_t count);

} // namespace omni::test
