#pragma once

#include <optional>
#include <utility>

namespace omni {

/// What a sender of reports has not told yet. Two reports are under way at most; until one is acknowledged, further
/// ones are merged here, so a receiver that is slow or stuck costs neither memory nor counts nor time. Two, because the
/// acknowledgement of one often waits in the sender's mailbox behind the step that makes the next.
template <class Report>
class report_outbox {
public:
  /// The report to send now, if one may be.
  std::optional<Report> push(Report next) {
    if (under_way_ < most_under_way) {
      ++under_way_;
      return next;
    }
    if (pending_) {
      pending_->merge(std::move(next));
    } else {
      pending_.emplace(std::move(next));
    }
    return std::nullopt;
  }
  /// A report has arrived: the next one to send, if there is any.
  std::optional<Report> acknowledged() {
    if (!pending_) --under_way_;
    return std::exchange(pending_, std::nullopt);
  }

private:
  static constexpr int most_under_way = 2;
  int under_way_ = 0;
  std::optional<Report> pending_;
};

} // namespace omni
