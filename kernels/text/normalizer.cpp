#include "kernels/text/normalizer.hpp"

#include "kernels/core/check.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <utf8proc.h>
#include <vector>

namespace omni::text {
namespace {

bool composes(normal_form form) { return form == normal_form::nfc || form == normal_form::nfkc; }

utf8proc_option_t decomposition_of(normal_form form) {
  int options = UTF8PROC_STABLE | (composes(form) ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
  if (form == normal_form::nfkc || form == normal_form::nfkd) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

/// Normalises one run. utf8proc's own function sorts combining marks by insertion, which a caller can make quadratic,
/// so the decomposition is sorted here.
void append_normalized(std::string& out, std::string_view run, normal_form form) {
  const utf8proc_option_t options = decomposition_of(form);
  std::vector<utf8proc_int32_t> codes;
  codes.reserve(run.size());
  std::array<utf8proc_int32_t, 64> parts{}; // the longest decomposition has 18
  while (!run.empty()) {
    const utf8_step step = read_utf8(run);
    run.remove_prefix(step.size);
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(step.code), parts.data(),
                                               static_cast<utf8proc_ssize_t>(parts.size()), options, nullptr);
    OMNI_CHECK(count >= 0 && count <= static_cast<utf8proc_ssize_t>(parts.size()), "a character decomposes");
    codes.insert(codes.end(), parts.begin(), parts.begin() + count);
  }
  const auto combining = [](utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; };
  for (auto from = codes.begin(); from != codes.end();) {
    const auto to = std::find_if(from, codes.end(), [&](auto code) { return combining(code) == 0; });
    if (to - from > 1) std::stable_sort(from, to, [&](auto a, auto b) { return combining(a) < combining(b); });
    from = to == codes.end() ? to : to + 1;
  }
  auto length = static_cast<utf8proc_ssize_t>(codes.size());
  if (composes(form)) length = utf8proc_normalize_utf32(codes.data(), length, options);
  for (utf8proc_ssize_t i = 0; i < length; ++i)
    append_utf8(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
}

} // namespace

bool may_need_normalizing(std::string_view text, normal_form form) {
  // Characters below U+0300 have lead bytes below 0xCC and are their own composed form.
  const unsigned char first = form == normal_form::nfc ? 0xCC : 0x80;
  return std::any_of(text.begin(), text.end(), [&](char byte) { return static_cast<unsigned char>(byte) >= first; });
}

marked_text normalized(marked_view text, normal_form form) {
  const auto is_ascii = [&](std::size_t at) { return static_cast<unsigned char>(text.text[at]) < 0x80; };
  marked_text out;
  out.reserve(text.size());
  std::string run;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && !is_ascii(end)) ++end;
    const marked_view part = text.substr(at, end - at);
    if (part.size() == 1) {
      out.append(part);
    } else {
      run.clear();
      append_normalized(run, part.text, form);
      out.append(run, part.has_mark());
    }
    at = end;
  }
  return out;
}

} // namespace omni::text
