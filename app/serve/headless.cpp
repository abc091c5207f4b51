#include "app/serve/headless.hpp"

#include "actors/net/replica_process.hpp"
#include "app/serve/log.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <utility>

namespace omni::serve {
namespace {

using ending = std::pair<net::host_end, std::string>;

replica_process_options options_of(const cli::serve_options& given, const engine_config& config) {
  replica_process_options made;
  made.stage = {*given.network.stage_id};
  made.replicas = given.network.replicas;
  if (given.network.replica_id) made.wanted = replica_id{*given.network.replica_id};
  made.head = *config.network;
  made.address = given.network.replica_address;
  made.port = given.network.replica_port;
  made.version = config.version;
  made.tell = [](const std::string& sentence) { log_info(sentence); };
  return made;
}

int status_of(const ending& how) {
  if (how.first == net::host_end::left) {
    log_info("Stopped: " + how.second);
    return 0;
  }
  return complain({how.first == net::host_end::refused ? errc::replica_conflict : errc::replica_lost, how.second, {}});
}

int leave(replica_process& running, std::future<ending>& ended, stop_signals& signals, double timeout_s) {
  log_info("Leaving: running requests may finish within " + std::to_string(int(timeout_s)) +
           " s; another signal ends them now.");
  running.leave();
  switch (signals.wait_for_finish(std::chrono::milliseconds(std::int64_t(timeout_s * 1000)))) {
  case stop_signals::outcome::finished:
    return status_of(ended.get());
  case stop_signals::outcome::timed_out:
    log_warning("Stopped: requests that were still running are cut off.");
    break;
  case stop_signals::outcome::signalled:
    log_warning("Stopped at once by a second signal.");
    std::_Exit(128 + SIGTERM);
  }
  std::_Exit(0); // a step of a model may take long, and the head notices by itself
}

} // namespace

int serve_replicas(const cli::serve_options& options, const engine_config& config, stop_signals& signals) {
  std::promise<ending> promise;
  auto ended = promise.get_future();
  auto how = options_of(options, config);
  how.ended = [&](net::host_end end, const std::string& why) {
    promise.set_value({end, why});
    signals.finish();
  };
  const auto& stage = config.stages[std::size_t(how.stage.value)];
  log_info("Loading stage " + std::to_string(stage.id.value) + " (" + stage.model_stage + ") from " + stage.model +
           ".");
  auto running = replica_process::start(config, std::move(how));
  if (!running) return complain(running.error());
  std::printf("omni-serve %s: replicas of stage %d (%s) x%d for the head at %s:%d\n", config.version.c_str(),
              int(stage.id.value), stage.model_stage.c_str(), int(options.network.replicas),
              config.network->address.c_str(), int(config.network->port));
  std::fflush(stdout);
  constexpr auto for_ever = std::chrono::hours(24 * 365 * 100);
  if (signals.wait_for_finish(for_ever) == stop_signals::outcome::finished) return status_of(ended.get());
  return leave(**running, ended, signals, options.drain_timeout_s);
}

} // namespace omni::serve
