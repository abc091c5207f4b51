#include "actors/cores.hpp"
#include "actors/net/socket.hpp"
#include "app/cli/launch_plan.hpp"
#include "app/cli/plan.hpp"
#include "app/cli/text_file.hpp"
#include "app/http/server.hpp"
#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "app/serve/headless.hpp"
#include "app/serve/log.hpp"
#include "app/serve/stop_signals.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace omni::serve {
namespace {

constexpr const char* program_version = OMNI_VERSION;

/// How long streams that are cut off get to send their error event.
constexpr std::chrono::seconds farewell{2};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The only place that reads the environment for models.
cli::model_folders folders_of_environment() {
  cli::model_folders folders;
  folders.base = std::filesystem::current_path();
  folders.home = environment("HOME");
  const std::string own = environment("OMNI_MODELS_DIR");
  const std::string cache = environment("XDG_CACHE_HOME");
  folders.models = !own.empty()
                       ? std::filesystem::path(own)
                       : (cache.empty() ? folders.home / ".cache" : std::filesystem::path(cache)) / "omni-serve";
  return folders;
}

/// The Python Prometheus client's own switch, with its words for yes.
bool wants_created_series() {
  std::string off = environment("PROMETHEUS_DISABLE_CREATED_SERIES");
  for (char& c : off) c = char(std::tolower(static_cast<unsigned char>(c)));
  return off != "true" && off != "1" && off != "t";
}

/// A server of many streams needs more files than the usual soft limit; the hard one is the administrator's word.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    log_warning("The limit of open files could not be raised: many clients at once may be refused.");
}

expected<media::settings> media_settings(const cli::serve_options& options) {
  media::settings out;
  out.remote = options.allow_remote_media;
  if (options.allowed_local_media_path.empty()) return out;
  std::error_code problem;
  out.local_root = std::filesystem::canonical(options.allowed_local_media_path, problem);
  if (problem)
    return fail(errc::invalid_request, "--allowed-local-media-path " + options.allowed_local_media_path +
                                           " cannot be opened (" + problem.message() + "): name a folder.");
  return out;
}

expected<std::unique_ptr<openai::context>> make_context(engine& running, const cli::serve_options& options,
                                                        std::vector<std::string> names) {
  openai::pipeline_facts facts = openai::facts_of(running);
  if (!options.chat_template.empty()) {
    const auto source = cli::read_text_file(options.chat_template);
    if (!source) return tl::unexpected(source.error());
    auto own = openai::own_chat_template(*source, options.chat_template, running);
    if (!own) return tl::unexpected(own.error());
    facts.chat_template = std::move(*own);
  }
  auto media_from = media_settings(options);
  if (!media_from) return tl::unexpected(media_from.error());
  return std::unique_ptr<openai::context>(new openai::context{
      .running = running,
      .pipeline = std::make_shared<const openai::pipeline_facts>(std::move(facts)),
      .served_names = std::move(names),
      .version = program_version,
      .started_s = openai::unix_seconds(),
      .media = media::reader(std::move(*media_from)),
      .log = log_error,
  });
}

http::server_options make_server_options(const cli::serve_options& options, engine& running) {
  http::server_options out;
  out.host = options.host;
  out.port = options.port;
  out.bounds.body_bytes = options.max_body_bytes;
  out.bounds.bodies_bytes = std::max<std::size_t>(out.bounds.bodies_bytes, 2 * options.max_body_bytes);
  out.allowed_origins = options.allowed_origins;
  out.error_page = openai::error_page;
  out.name_request = openai::request_namer();
  auto keys = options.api_keys;
  for (const char* name : {"OMNI_API_KEY", "VLLM_API_KEY"})
    if (auto key = environment(name); !key.empty()) keys.push_back(std::move(key));
  if (keys.empty() && !net::is_loopback(options.host))
    log_warning("Listening on " + options.host +
                " without an API key: whoever reaches this address may use the server. Set one with --api-key.");
  out.guard = openai::key_guard(std::move(keys));
  out.answered = [&running](const http::answered_request& answer) {
    running.count({.handler = std::string(answer.pattern.empty() ? "none" : answer.pattern),
                   .method = std::string(answer.method),
                   .status = answer.status,
                   .request_bytes = std::int64_t(answer.request_bytes),
                   .response_bytes = std::int64_t(answer.response_bytes),
                   .seconds = answer.seconds});
  };
  out.log = log_error;
  return out;
}

std::string stages_text(const engine_config& config) {
  std::string text;
  for (const stage_config& stage : config.stages)
    text += (text.empty() ? "" : ", ") + std::to_string(stage.id.value) + " " + stage.model_stage + " x" +
            std::to_string(stage.num_replicas);
  return text;
}

void announce(const cli::serve_options& options, const openai::context& context, std::uint16_t port) {
  const bool v6 = options.host.find(':') != std::string::npos;
  const std::string host = v6 ? "[" + options.host + "]" : options.host;
  std::printf("omni-serve %s ready: http://%s:%d, model %s, stages %s\n", program_version, host.c_str(), port,
              context.served_names.front().c_str(), stages_text(context.running.config()).c_str());
  std::fflush(stdout);
}

/// Lets what runs finish after the first signal; a second one, or the time limit, ends it.
void drain(http::server& server, openai::context& context, stop_signals& signals, double timeout_s, int signal) {
  log_info("Stopping: running requests may finish within " + std::to_string(int(timeout_s)) +
           " s; another signal ends them now.");
  context.draining = true;
  server.drain([&signals] { signals.finish(); });
  switch (signals.wait_for_finish(std::chrono::milliseconds(std::int64_t(timeout_s * 1000)))) {
  case stop_signals::outcome::finished:
    return log_info("Stopped: all requests are finished.");
  case stop_signals::outcome::timed_out:
    context.running.stop();
    signals.wait_for_finish(farewell);
    return log_warning("Stopped: requests that were still running were ended with an error.");
  case stop_signals::outcome::signalled:
    log_warning("Stopped at once by a second signal.");
    std::_Exit(128 + signal); // nothing is left to save, and a step of a model may take long
  }
}

int print_plan(const cli::serve_options& options, const engine_config& config) {
  const unsigned threads = config.threads > 0 ? unsigned(config.threads) : cores_of_process();
  const auto on = cli::find_machine(options.plan_device, threads);
  if (!on) return complain(on.error());
  const auto text = cli::describe_costs(config, *on, options.plan_context);
  if (!text) return complain(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

int serve(const cli::serve_options& options) {
  stop_signals signals;
  raise_file_limit();
  auto plan = cli::make_launch_plan(options, folders_of_environment());
  if (!plan) return complain(plan.error());
  if (options.plan) return print_plan(options, plan->config);
  plan->config.version = program_version;
  if (options.network.headless) return serve_replicas(options, plan->config, signals);
  for (const stage_config& stage : plan->config.stages)
    log_info("Loading stage " + std::to_string(stage.id.value) + " (" + stage.model_stage + ") from " + stage.model +
             ".");
  plan->config.created_series = wants_created_series();
  auto running = engine::start(std::move(plan->config));
  if (!running) return complain(running.error());
  auto context = make_context(**running, options, std::move(plan->served_names));
  if (!context) return complain(context.error());
  http::router routes;
  openai::add_routes(**context, routes);
  auto server = http::server::listen(make_server_options(options, **running), std::move(routes));
  if (!server) return complain(server.error());
  announce(options, **context, (*server)->port());
  const int signal = signals.wait();
  drain(**server, **context, signals, options.drain_timeout_s, signal);
  server->reset(); // before the context and the engine that its handlers use
  return 0;
}

} // namespace
} // namespace omni::serve

int main(int argc, char** argv) {
  const auto parsed = omni::cli::parse_flags({argv + 1, argv + argc}, omni::serve::program_version);
  if (!parsed) return omni::serve::complain(parsed.error());
  if (const auto* exit = std::get_if<omni::cli::early_exit>(&*parsed)) {
    std::fputs(exit->text.c_str(), stdout);
    return 0;
  }
  return omni::serve::serve(std::get<omni::cli::serve_options>(*parsed));
}
