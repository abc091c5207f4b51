#include "kernels/text/stop_matcher.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <utility>

namespace omni::text {

stop_matcher::stop_matcher(std::vector<std::string> stops, bool include_stop) : include_stop_(include_stop) {
  for (std::size_t at = 0; at < stops.size(); ++at) {
    if (stops[at].empty()) continue;
    pattern made{std::move(stops[at]), {}, static_cast<std::int32_t>(at)};
    made.fallback.assign(made.text.size(), 0);
    for (std::size_t i = 1, length = 0; i < made.text.size(); ++i) {
      while (length > 0 && made.text[i] != made.text[length]) length = made.fallback[length - 1];
      if (made.text[i] == made.text[length]) ++length;
      made.fallback[i] = length;
    }
    stops_.push_back(std::move(made));
  }
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const pattern& a, const pattern& b) { return a.text.size() > b.text.size(); });
}

/// Whether `byte` completes the stop string.
bool stop_matcher::advance(pattern& stop, char byte) {
  while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.fallback[stop.matched - 1];
  if (stop.text[stop.matched] == byte) ++stop.matched;
  return stop.matched == stop.text.size();
}

stop_matcher::result stop_matcher::push(std::string_view piece) {
  OMNI_CHECK(!stopped_, "nothing follows a stop string");
  if (stops_.empty()) return {std::string(piece)};
  for (std::size_t at = 0; at < piece.size(); ++at) {
    const pattern* complete = nullptr;
    for (pattern& stop : stops_)
      if (advance(stop, piece[at]) && complete == nullptr) complete = &stop;
    if (complete == nullptr) continue;
    stopped_ = true;
    held_.append(piece.substr(0, at + 1));
    if (!include_stop_) held_.resize(held_.size() - complete->text.size());
    return {std::exchange(held_, {}), true, complete->index};
  }
  held_ += piece;
  std::size_t keep = 0;
  for (const pattern& stop : stops_) keep = std::max(keep, stop.matched);
  result safe{held_.substr(0, held_.size() - keep)};
  held_.erase(0, held_.size() - keep);
  return safe;
}

std::string stop_matcher::flush() { return std::exchange(held_, {}); }

} // namespace omni::text
