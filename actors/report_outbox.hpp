#pragma once

#include <optional>
#include <utility>

namespace omni {

/// What a sender of reports has not told yet. One report is under way at most; until it is acknowledged, further ones
/// are merged here, so a receiver that is slow or stuck costs neither memory nor counts nor time.
template <class Report>
class report_outbox {
public:
  /// The report to send now, if one may be.
  std::optional<Report> push(Report next) {
    if (!under_way_) {
      under_way_ = true;
      return next;
    }
    if (pending_) {
      pending_->merge(std::move(next));
    } else {
      pending_.emplace(std::move(next));
    }
    return std::nullopt;
  }
  /// The report under way has arrived: the next one to send, if there is any.
  std::optional<Report> acknowledged() {
    under_way_ = pending_.has_value();
    return std::exchange(pending_, std::nullopt);
  }

private:
  bool under_way_ = false;
  std::optional<Report> pending_;
};

} // namespace omni
