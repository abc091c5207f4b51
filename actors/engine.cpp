#include "actors/engine.hpp"

#include "actors/config_check.hpp"
#include "actors/console.hpp"
#include "actors/cores.hpp"
#include "actors/mix.hpp"
#include "actors/net/membership.hpp"
#include "actors/orchestrator.hpp"
#include "actors/process_texts.hpp"
#include "actors/request_check.hpp"
#include "actors/sink.hpp"
#include "actors/stage/replica.hpp"
#include "actors/stage_fingerprint.hpp"
#include "actors/stat_logger.hpp"
#include "kernels/core/error.hpp"
#include "messages/type_ids.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>

namespace omni {
namespace {

/// "INFO 04-19 14:07:09 [stat_logger] Engine 000: ...", as vLLM prints it.
void print_to_console(const char* level, const char* source, const std::string& sentence) {
  print_line(level, std::string("[") + source + "] " + sentence);
}

/// Asks an actor and hands on what it answers, or `otherwise` if it has ended. Waits for nothing.
template <class Answer, class Handle, class Question>
void ask(caf::actor_system& system, const Handle& whom, Question question, std::function<void(Answer)> done,
         Answer otherwise) {
  system.spawn([whom, question = std::move(question), done = std::move(done),
                otherwise = std::move(otherwise)](caf::event_based_actor* self) {
    self->request(whom, caf::infinite, question)
        .then([done](Answer& answer) { done(std::move(answer)); }, [done, otherwise](caf::error&) { done(otherwise); });
  });
}

replica_outcome stopped_outcome() { return {{}, failure{errc::shutting_down, "The engine has stopped.", {}}}; }

expected<replica_id> started(replica_outcome outcome) {
  if (outcome.problem) return tl::unexpected(std::move(*outcome.problem));
  return outcome.replicas.front().replica;
}

expected<void> removed(replica_outcome outcome) {
  if (outcome.problem) return tl::unexpected(std::move(*outcome.problem));
  return {};
}

} // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

struct engine::impl {
  struct system_config : caf::actor_system_config {
    system_config(unsigned threads, bool network) {
      add_message_types<caf::id_block::omni>();
      configure(*this, threads);
      if (network) net::load_network(*this);
    }
  };

  impl(engine_config what, stage_graph stages, std::vector<std::shared_ptr<const stage_model>> loaded, unsigned cores)
      : config(std::move(what)), graph(std::move(stages)), models(std::move(loaded)), infos(models.size()),
        pool(config.threads > 0 ? unsigned(config.threads) : cores),
        settings(std::max(2u, cores / 2), config.network.has_value()), system(settings) {}

  void spawn_actors(std::function<double()> wall_s);
  std::optional<failure> start_replicas_of_config();
  /// Lets replicas of other processes join, if the configuration says so.
  std::optional<failure> open_network();
  /// Fills `infos` of stages that start without a replica.
  std::optional<failure> probe_missing_infos();
  stage_replica_actor make_replica(stage_id stage, replica_id replica, const orchestrator_actor& owner);
  /// Sends a command and waits for the answer; the receiver never waits for a step.
  template <class Command>
  replica_outcome command(Command what);

  engine_config config;
  stage_graph graph;
  std::vector<std::shared_ptr<const stage_model>> models; // by stage
  std::vector<runner_info> infos;                         // by stage
  std::vector<std::uint64_t> fingerprints;                // by stage
  thread_pool pool;
  std::atomic<std::uint64_t> last_id{0};
  system_config settings;
  caf::actor_system system;  // before all that its actors use is gone, it waits for them
  stat_logger_actor logger;  // also without statistics: it counts the process and its HTTP server
  stat_logger_actor reports; // where the engine's own go; none without statistics
  orchestrator_actor orchestrator;
  net::head_network network; // nobody without one
};

// -- start and stop ---------------------------------------------------------------------------------------------------

expected<std::unique_ptr<engine>> engine::start(engine_config config, model_loader load,
                                                std::function<double()> wall_s) {
  if (auto good = check_config(config); !good) return tl::unexpected(good.error());
  if (config.network)
    if (auto good = net::check_head(*config.network); !good) return tl::unexpected(good.error());
  std::vector<std::shared_ptr<const stage_model>> models;
  std::vector<stage_graph::stage> stages;
  for (auto& stage : config.stages) {
    try {
      models.push_back(load({stage.model, stage.model_stage, stage.dtype, stage.load_format}));
    } catch (const load_error& problem) {
      return fail(errc::load_failed, problem.what());
    }
    const auto& model = *models.back();
    if (!stage.default_sampling_params) stage.default_sampling_params = model.default_sampling();
    stages.push_back({stage.model_stage, model.tokenizer() != nullptr, stage.final_output_type, model.ports(),
                      *stage.default_sampling_params});
  }
  auto graph = stage_graph::make(std::move(stages));
  if (!graph) return tl::unexpected(graph.error());
  std::unique_ptr<engine> made(
      new engine(std::make_unique<impl>(std::move(config), std::move(*graph), std::move(models), cores_of_process())));
  if (auto problem = made->impl_->probe_missing_infos()) return tl::unexpected(std::move(*problem));
  made->impl_->spawn_actors(std::move(wall_s));
  if (auto problem = made->impl_->start_replicas_of_config()) return tl::unexpected(std::move(*problem));
  if (auto problem = made->impl_->open_network()) return tl::unexpected(std::move(*problem));
  return made;
}

engine::engine(std::unique_ptr<impl> state) : impl_(std::move(state)) {}

engine::~engine() {
  stop();
  caf::anon_send_exit(impl_->logger, caf::exit_reason::user_shutdown);
}

void engine::impl::spawn_actors(std::function<double()> wall_s) {
  stat_logger_options stats;
  stats.statistics.model_name =
      config.served_model_name.empty() ? config.stages.front().model : config.served_model_name;
  stats.statistics.labels = config.metrics_engine_labels ? label_scheme::engine : label_scheme::stage_replica;
  stats.statistics.engines = config.log_stats;
  stats.statistics.created_series = config.created_series;
  for (const auto& info : infos) // of stages whose replicas come later
    stats.statistics.max_model_len = std::max(stats.statistics.max_model_len, info.max_model_len);
  stats.interval_s = config.log_stats_interval_s > 0 ? config.log_stats_interval_s : 10.0;
  stats.wall_s = std::move(wall_s);
  stats.process = [] { return read_process_facts(read_process_texts()); };
  stats.print = [](const log_line& line) { // idle lines are for a debug level that there is not
    if (!line.idle) print_to_console("INFO", "stat_logger", line.text);
  };
  stats.warn = [](const std::string& sentence) { print_to_console("WARNING", "stat_logger", sentence); };
  logger = system.spawn(stat_logger_behavior, std::move(stats));
  if (config.log_stats) reports = logger;

  orchestrator_options options;
  options.config = config;
  options.graph = graph;
  options.logger = reports;
  options.tell = [](const char* level, const std::string& sentence) {
    print_to_console(level, "orchestrator", sentence);
  };
  for (std::size_t at = 0; at < models.size(); ++at)
    options.fingerprints.push_back(fingerprints.emplace_back(stage_fingerprint(*models[at], config.stages[at])));
  options.make_replica = [this](stage_id stage, replica_id replica, const orchestrator_actor& owner) {
    return make_replica(stage, replica, owner);
  };
  orchestrator = system.spawn(orchestrator_behavior, std::move(options));
}

stage_replica_actor engine::impl::make_replica(stage_id stage, replica_id replica, const orchestrator_actor& owner) {
  const auto at = std::size_t(stage.value);
  replica_options options{stage, replica, config.stages[at], models[at], &pool, owner, reports};
  return system.spawn<caf::detached>(replica_behavior, std::move(options));
}

std::optional<failure> engine::impl::start_replicas_of_config() {
  start_replicas all;
  for (const auto& stage : config.stages)
    for (std::int32_t count = 0; count < stage.num_replicas; ++count) all.wanted.push_back({stage.id, std::nullopt});
  if (all.wanted.empty()) return std::nullopt;
  const auto outcome = command(std::move(all));
  for (const auto& one : outcome.replicas) infos[std::size_t(one.stage.value)] = one.info;
  return outcome.problem;
}

std::optional<failure> engine::impl::probe_missing_infos() {
  for (std::size_t at = 0; at < models.size(); ++at) {
    if (config.stages[at].num_replicas > 0) continue;
    try {
      infos[at] = models[at]->make_runner(runner_options_for(config.stages[at]), pool)->info();
    } catch (const load_error& problem) {
      return failure{errc::load_failed, problem.what(), {}};
    }
  }
  return std::nullopt;
}

std::optional<failure> engine::impl::open_network() {
  if (!config.network) return std::nullopt;
  std::random_device source;
  net::membership_options options;
  options.version = config.version;
  options.infos = infos;
  options.fingerprints = fingerprints;
  options.token = std::uint64_t(source()) << 32U | source() | 1U; // never 0
  options.owner = orchestrator;
  options.logger = reports;
  options.tell = [](const std::string& sentence) { print_to_console("INFO", "membership", sentence); };
  auto opened = net::start_membership(system, *config.network, std::move(options));
  if (!opened) return opened.error();
  network = std::move(*opened);
  print_to_console("INFO", "membership",
                   "Replicas may join at " + config.network->address + ":" + std::to_string(network.port) + ".");
  return std::nullopt;
}

template <class Command>
replica_outcome engine::impl::command(Command what) {
  replica_outcome outcome;
  caf::scoped_actor self(system);
  self->request(orchestrator, caf::infinite, std::move(what))
      .receive([&](replica_outcome& answer) { outcome = std::move(answer); },
               [&](caf::error&) { outcome = stopped_outcome(); });
  return outcome;
}

// -- requests ---------------------------------------------------------------------------------------------------------

expected<request_id> engine::submit(request what, std::shared_ptr<sink> to) {
  const bool reads = impl_->graph[0].text;
  if (auto good = check_request(what, impl_->graph, reads ? &impl_->infos[0] : nullptr); !good)
    return tl::unexpected(good.error());
  const request_id id{++impl_->last_id};
  if (!what.sampling.seed) what.sampling.seed = mix64(impl_->config.seed ^ mix64(id.value));
  auto answers = impl_->system.spawn(sink_behavior, std::move(to), awaited_answers(what));
  const auto arrival = impl_->system.clock().now().time_since_epoch();
  caf::anon_send(impl_->orchestrator,
                 omni::submit{id, std::move(what),
                              std::chrono::duration_cast<std::chrono::microseconds>(arrival).count(),
                              std::move(answers)});
  return id;
}

void engine::abort(request_id id, bool client_left) {
  caf::anon_send(impl_->orchestrator, abort_request{id, client_left});
}

void engine::drain(std::function<void()> done) {
  ask<engine_drained>(impl_->system, impl_->orchestrator, drain_engine{},
                      [done = std::move(done)](engine_drained) { done(); }, {});
}

void engine::stop() { caf::anon_send(impl_->orchestrator, stop_engine{}); }

// -- replicas ---------------------------------------------------------------------------------------------------------

expected<replica_id> engine::add_replica(stage_id stage, std::optional<replica_id> wanted) {
  return started(impl_->command(start_replicas{{{stage, wanted}}}));
}

expected<void> engine::remove_replica(stage_id stage, replica_id replica) {
  return removed(impl_->command(omni::remove_replica{stage, replica}));
}

void engine::add_replica(stage_id stage, std::optional<replica_id> wanted,
                         std::function<void(expected<replica_id>)> done) {
  ask<replica_outcome>(
      impl_->system, impl_->orchestrator, start_replicas{{{stage, wanted}}},
      [done = std::move(done)](replica_outcome outcome) { done(started(std::move(outcome))); }, stopped_outcome());
}

void engine::remove_replica(stage_id stage, replica_id replica, std::function<void(expected<void>)> done) {
  ask<replica_outcome>(
      impl_->system, impl_->orchestrator, omni::remove_replica{stage, replica},
      [done = std::move(done)](replica_outcome outcome) { done(removed(std::move(outcome))); }, stopped_outcome());
}

void engine::replicas(std::function<void(std::vector<replica_status>)> done) {
  ask<replica_list>(impl_->system, impl_->orchestrator, list_replicas{},
                    [done = std::move(done)](replica_list found) { done(std::move(found.replicas)); }, {});
}

// -- statistics and facts ---------------------------------------------------------------------------------------------

void engine::do_log_stats() { ask_for_lines(impl_->reports); }

void engine::count(http_report answer) { caf::anon_send(impl_->logger, std::move(answer)); }

void engine::metrics_text(std::function<void(std::string)> done) {
  ask<metrics_page>(impl_->system, impl_->logger, get_metrics{},
                    [done = std::move(done)](metrics_page page) { done(std::move(page.text)); }, {});
}

std::uint16_t engine::join_port() const { return impl_->network.port; }
const engine_config& engine::config() const { return impl_->config; }
const stage_model& engine::model(stage_id stage) const { return *impl_->models.at(std::size_t(stage.value)); }
const runner_info& engine::info(stage_id stage) const { return impl_->infos.at(std::size_t(stage.value)); }

} // namespace omni
