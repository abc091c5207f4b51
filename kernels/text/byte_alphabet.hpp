#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omni::text {

/// The printable stand-ins in which byte-level BPE vocabularies spell raw bytes: bytes 33..126, 161..172 and 174..255
/// are the character of the same number, the other 68 in rising order are U+0100, U+0101, ... (a space is U+0120).

/// Spells `bytes` in the alphabet.
std::string to_byte_alphabet(std::string_view bytes);

/// The bytes that `spelled` stands for; nothing when it holds a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view spelled);

} // namespace omni::text
