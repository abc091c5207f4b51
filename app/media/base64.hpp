#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace omni::media {

/// Standard base64 with padding (RFC 4648, section 4).
std::string to_base64(std::string_view bytes);

/// The bytes of standard base64. Padding may be missing; anything else that is not base64, line breaks included, gives
/// nothing.
std::optional<std::string> from_base64(std::string_view text);

} // namespace omni::media
