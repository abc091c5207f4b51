#pragma once

#include "kernels/runtime/media.hpp"

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace omni::media {

/// A value, or what is wrong with the medium: the rest of a sentence that begins with the name of the field that
/// brought it, without its full stop: "is not base64".
template <class T>
using outcome = tl::expected<T, std::string>;

inline tl::unexpected<std::string> wrong(std::string what) { return tl::unexpected<std::string>(std::move(what)); }

/// "256 MiB", rounded to the nearest.
inline std::string mebibytes(std::size_t bytes) {
  return std::to_string((bytes + (std::size_t{1} << 19U)) >> 20U) + " MiB";
}

} // namespace omni::media
