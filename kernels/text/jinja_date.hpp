#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace omni::text::jinja {

/// `when` in the pattern of C's strftime, always in English. Unknown codes stay as they are.
std::string format_date(const std::tm& when, std::string_view pattern);

} // namespace omni::text::jinja
