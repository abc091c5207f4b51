#pragma once

#include "kernels/text/marked_text.hpp"

#include <cstdint>

namespace omni::text {

/// Unicode normalisation forms.
enum class normal_form : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// Whether `text` may differ from its normal form; a quick look at lead bytes that never says no wrongly.
bool may_need_normalizing(std::string_view text, normal_form form);

/// The normal form of `text` (valid UTF-8). An output byte is marked when any byte of the run that it was made from is;
/// a run begins at each ASCII character, because nothing composes across the start of one. Time is n log n in the
/// longest run of combining marks.
marked_text normalized(marked_view text, normal_form form);

} // namespace omni::text
