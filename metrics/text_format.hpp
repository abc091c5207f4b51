#pragma once

#include "metrics/families.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The text of a page, as the Python Prometheus client writes it (exposition format 0.0.4).
namespace omni {

/// What GET /metrics answers as its Content-Type.
inline constexpr std::string_view text_format_content_type = "text/plain; version=1.0.0; charset=utf-8";

/// Names and values of a series' labels; any order.
using label_set = std::vector<std::pair<std::string, std::string>>;
/// `labels` and one more.
[[nodiscard]] label_set with(label_set labels, std::string_view name, std::string_view value);

/// The shortest digits that read back as `value`: "1.0", "0.3", "1e+06", "+Inf", "NaN". Also for `le`.
[[nodiscard]] std::string format_value(double value);
/// As above, appended.
void append_value(std::string& to, double value);

/// The two lines that begin a family.
[[nodiscard]] std::string family_head(const family& which);
/// The two lines that begin its block of `_created` lines.
[[nodiscard]] std::string created_head(const family& which);

/// All lines of one series but for their values, in order: each ends in the space before its value. A histogram has its
/// buckets, the unbounded one last, then count and sum; a summary count and sum; the others one line.
[[nodiscard]] std::vector<std::string> series_lines(const family& which, label_set labels,
                                                    std::span<const double> bounds);
/// The whole `_created` line of a series, made at `wall_s` (seconds since 1970).
[[nodiscard]] std::string created_line(const family& which, label_set labels, double wall_s);

} // namespace omni
