#include "app/serve/stop_signals.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace omni::serve {

stop_signals::stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  OMNI_CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0, "SIGTERM and SIGINT can be blocked");
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  finished_ = eventfd(0, EFD_CLOEXEC);
  OMNI_CHECK(signals_ >= 0 && finished_ >= 0, "two file descriptors are to be had when the program starts");
}

stop_signals::~stop_signals() {
  ::close(signals_);
  ::close(finished_);
}

int stop_signals::take() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof info) < 0) OMNI_CHECK(errno == EINTR, "a signalfd can be read");
  return int(info.ssi_signo);
}

int stop_signals::wait() { return take(); }

stop_signals::outcome stop_signals::wait_for_finish(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  std::array<pollfd, 2> watched{
      {{.fd = finished_, .events = POLLIN, .revents = 0}, {.fd = signals_, .events = POLLIN, .revents = 0}}};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) return outcome::timed_out;
    if (::poll(watched.data(), watched.size(), int(std::min<std::int64_t>(left, 60'000))) <= 0) continue;
    if (watched[1].revents != 0) {
      take();
      return outcome::signalled;
    }
    if (watched[0].revents != 0) return outcome::finished;
  }
}

void stop_signals::finish() {
  const std::uint64_t one = 1;
  OMNI_CHECK(::write(finished_, &one, sizeof one) == sizeof one, "an eventfd takes a count");
}

} // namespace omni::serve
