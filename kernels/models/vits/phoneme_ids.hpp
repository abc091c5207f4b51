#pragma once

#include "kernels/models/vits/voice_config.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace omni::vits {

/// The ids of a sentence as the voice was trained: begin, then each phoneme's ids, with a pad after the begin and after
/// every phoneme, then end. Phonemes that the voice does not know are left out; empty when it knows none but spaces and
/// marks.
std::vector<std::int64_t> phoneme_ids(const voice_config& voice, std::u32string_view phonemes);

/// Pieces of at most `most` phonemes, cut between words where there is a space, since attention costs the square of a
/// sentence's length.
std::vector<std::u32string_view> split_phonemes(std::u32string_view phonemes, std::size_t most);

} // namespace omni::vits
