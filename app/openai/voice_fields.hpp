#pragma once

#include "app/openai/fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::openai {

/// How sound goes out. pcm: samples only, 16 bit little-endian.
enum class sound_format : std::uint8_t { wav, pcm };

/// The speaker that the field `name` asks for (a string, or {"id": string}; any case), spelled as the model spells it;
/// empty for the default voice. Nothing if absent or refused: an unknown name is refused with the names that exist.
std::optional<std::string> read_speaker(fields& from, std::string_view name, const std::vector<std::string>& speakers);

/// The format that the field `name` asks for: wav, pcm, or pcm16 (the same as pcm).
std::optional<sound_format> read_sound_format(fields& from, std::string_view name);

} // namespace omni::openai
