#include "messages/caf.hpp"

#include "actors/net/replica_process.hpp"

#include "actors/config_check.hpp"
#include "actors/cores.hpp"
#include "actors/net/membership.hpp"
#include "actors/stage_fingerprint.hpp"
#include "kernels/core/error.hpp"

#include <random>

namespace omni {
namespace {

std::uint64_t random_identity() {
  std::random_device source;
  return (std::uint64_t(source()) << 32U | source()) | 1U; // never 0
}

/// Peers come from where the head is, or from anywhere if it is on another machine.
std::string listening_address(const replica_process_options& options) {
  if (!options.address.empty()) return options.address;
  return net::is_loopback(options.head.address) ? "127.0.0.1" : "0.0.0.0";
}

expected<net::replica_host_options> connect_options(const replica_process_options& options) {
  const auto& head = options.head;
  if (auto good = net::check_exposure(head, head.address, "--omni-master-address"); !good)
    return tl::unexpected(good.error());
  const auto address = listening_address(options);
  if (auto good = net::check_exposure(head, address, "--omni-replica-address"); !good)
    return tl::unexpected(good.error());
  auto tls = net::tls_context::make(head);
  if (!tls) return tl::unexpected(tls.error());
  auto listening = net::listen_on(address, options.port);
  if (!listening) return tl::unexpected(listening.error());
  net::replica_host_options made;
  made.head = head;
  made.tls = std::move(*tls);
  made.listening = std::move(*listening);
  made.address = options.address;
  made.version = options.version;
  made.identity = random_identity();
  made.replicas = options.replicas;
  made.wanted = options.wanted;
  made.tell = options.tell;
  made.ended = options.ended;
  return made;
}

} // namespace

struct replica_process::impl {
  struct system_config : caf::actor_system_config {
    system_config() {
      add_message_types<caf::id_block::omni>();
      configure(*this, 2);
      net::load_network(*this);
    }
  };
  impl(std::int32_t threads) : pool(threads > 0 ? unsigned(threads) : cores_of_process()), system(settings) {}

  thread_pool pool;
  system_config settings;
  caf::actor_system system; // before the pool is gone, it waits for its actors
  caf::actor host;
};

expected<std::unique_ptr<replica_process>>
replica_process::start(const engine_config& config, replica_process_options options, const model_loader& load) {
  if (auto good = check_config(config); !good) return tl::unexpected(good.error());
  if (options.stage.value < 0 || std::size_t(options.stage.value) >= config.stages.size())
    return fail(errc::invalid_request, "There is no stage " + std::to_string(options.stage.value) +
                                           ": the pipeline has stages 0 to " +
                                           std::to_string(config.stages.size() - 1) + ".");
  const auto& stage = config.stages[std::size_t(options.stage.value)];
  auto made = connect_options(options);
  if (!made) return tl::unexpected(made.error());
  std::unique_ptr<replica_process> process(new replica_process(std::make_unique<impl>(config.threads)));
  made->config = stage;
  made->pool = &process->impl_->pool;
  made->log_stats = config.log_stats;
  try {
    made->model = load({stage.model, stage.model_stage, stage.dtype, stage.load_format});
    made->info = made->model->make_runner(runner_options_for(stage), process->impl_->pool)->info();
  } catch (const load_error& problem) {
    return fail(errc::load_failed, problem.what());
  }
  made->fingerprint = stage_fingerprint(*made->model, stage);
  auto shared = std::make_shared<net::replica_host_options>(std::move(*made));
  process->impl_->host = process->impl_->system.middleman().spawn_broker(net::replica_host_behavior, shared);
  return process;
}

replica_process::replica_process(std::unique_ptr<impl> state) : impl_(std::move(state)) {}

replica_process::~replica_process() { caf::anon_send_exit(impl_->host, caf::exit_reason::kill); }

void replica_process::leave() { caf::anon_send(impl_->host, net::leave_now{}); }

} // namespace omni
