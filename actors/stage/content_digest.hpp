#pragma once

#include "kernels/runtime/media.hpp"

#include <array>
#include <cstdint>

namespace omni {

/// SHA-256 over all that a medium lets hear or see: equal for the same, and nobody can make another with the same.
std::array<std::int32_t, 8> digest_of(const media_input& medium);

} // namespace omni
