#include "app/cli/serve_options.hpp"

#include "app/cli/nearest.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

namespace omni::cli {
namespace {

constexpr std::int32_t max_int = std::numeric_limits<std::int32_t>::max();

/// "*", or scheme and host, as browsers send it.
const CLI::Validator origin(
    [](const std::string& given) {
      const bool good = given == "*" ||
                        (given.find("://") != std::string::npos && given.find_first_of("[]\" ,") == std::string::npos);
      return good ? std::string() : "'" + given + "' is not an origin such as http://localhost:3000";
    },
    "ORIGIN");

/// What an unset shell variable gives is not a value.
const CLI::Validator not_empty(
    [](const std::string& given) { return given.empty() ? std::string("an empty value says nothing") : std::string(); },
    "");

/// A number of seconds; CLI::Range lets NaN pass.
CLI::Validator seconds_from(double least) {
  constexpr double most = 1e6;
  return {[=](const std::string& given) {
            double value = 0;
            const bool good = CLI::detail::lexical_cast(given, value) && value >= least && value <= most;
            return good ? std::string() : "'" + given + "' is not a number of seconds in the range given in --help";
          },
          "SECONDS in [" + CLI::detail::to_string(least) + " - 1e6]"};
}

/// Keeps what was given apart from what was not, which CLI11 does not.
template <class T>
CLI::Option* add(CLI::App& app, const std::string& names, std::optional<T>& into, const std::string& help) {
  return app.add_option_function<T>(
      names, [&into](const T& value) { into = value; }, help);
}

void add_model_flags(CLI::App& app, serve_options& into) {
  const std::string group = "Model";
  app.add_option(
         "model,--model", into.model,
         "Checkpoint to serve: FILE.gguf or a Hugging Face directory (text, Qwen3-Omni), VOICE.onnx (speech). Without it "
         "the default pipeline smollm2-piper is served")
      ->check(not_empty)
      ->group(group);
  app.add_option("--deploy-config", into.deploy_config,
                 "Pipeline: a YAML file, or a built-in name (smollm2-piper, piper, qwen3-omni, qwen3-omni-thinker)")
      ->check(not_empty)
      ->group(group);
  app.add_option("--stage-overrides", into.stage_overrides,
                 R"(Changes to stages of the pipeline, as JSON: {"1": {"num_replicas": 2}})")
      ->group(group);
  app.add_option("--served-model-name", into.served_model_names,
                 "Name that clients may use for the model (repeatable; the first is in the answers)")
      ->allow_extra_args(false)
      ->check(not_empty)
      ->group(group);
  app.add_option("--chat-template", into.chat_template,
                 "File with a Jinja chat template to use instead of the checkpoint's")
      ->check(not_empty)
      ->group(group);
  add(app, "--dtype", into.dtype, "auto: as the checkpoint stores it; float32: exact and slow")
      ->check(CLI::IsMember({"auto", "float32"}))
      ->group(group);
  add(app, "--load-format", into.load_format,
      "auto: the checkpoint's weights; dummy: random weights for a directory that needs only a config.json, for sizing "
      "and load tests (docs/sizing.md)")
      ->check(CLI::IsMember({"auto", "dummy"}))
      ->group(group);
  add(app, "--max-model-len", into.max_model_len,
      "Most tokens of prompt and answer together (default: the checkpoint's own)")
      ->check(CLI::Range(1, max_int))
      ->group(group);
  app.add_flag_callback(
         "--omni", [] {}, "Accepted for compatibility: every pipeline is served this way")
      ->group(group);
}

void add_server_flags(CLI::App& app, serve_options& into) {
  const std::string group = "Server";
  app.add_option("--host", into.host, "Address to listen on")->check(not_empty)->capture_default_str()->group(group);
  app.add_option("--port", into.port, "Port to listen on; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->group(group);
  app.add_option("--api-key", into.api_keys,
                 "Key that clients must send for /v1 (repeatable; also from OMNI_API_KEY or VLLM_API_KEY)")
      ->allow_extra_args(false)
      ->check(not_empty)
      ->group(group);
  app.add_option("--allowed-origins", into.allowed_origins,
                 "Web page (origin) whose scripts may read answers (repeatable; * allows all)")
      ->allow_extra_args(false)
      ->check(origin)
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-body-bytes", into.max_body_bytes, "Largest request body")
      ->check(CLI::Range(std::uint64_t{1024}, std::uint64_t{1} << 40U))
      ->capture_default_str()
      ->group(group);
  app.add_option("--allowed-local-media-path", into.allowed_local_media_path,
                 "Folder whose files clients may name in file:// URLs of sounds, pictures and videos (default: none)")
      ->check(CLI::ExistingDirectory)
      ->group(group);
  app.add_flag("--allow-remote-media", into.allow_remote_media,
               "Fetch http:// and https:// URLs of sounds, pictures and videos, from public addresses only")
      ->group(group);
  app.add_option("--drain-timeout", into.drain_timeout_s, "Seconds that running requests get to finish after SIGTERM")
      ->check(seconds_from(0))
      ->capture_default_str()
      ->group(group);
}

void add_plan_flags(CLI::App& app, serve_options& into) {
  const std::string group = "Planning (docs/sizing.md)";
  app.add_flag("--plan", into.plan,
               "Load and serve nothing: print what each stage takes and needs at least on a device, and how many "
               "streams fit")
      ->group(group);
  app.add_option("--plan-device", into.plan_device,
                 "Device of the plan: h200, h100, a100, l40s, cpu (this machine, timed; the default), or "
                 "GB/S,TFLOP/S,GIB")
      ->check(not_empty)
      ->group(group);
  add(app, "--plan-context", into.plan_context,
      "Tokens of a stream in the plan (default: as many as each stage takes, and steps without keys and values)")
      ->check(CLI::Range(1, max_int))
      ->group(group);
}

void add_engine_flags(CLI::App& app, serve_options& into) {
  const std::string group = "Scheduling and memory";
  add(app, "--max-num-seqs", into.max_num_seqs, "Sequences that one step of a stage works on (default 16)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  add(app, "--max-num-batched-tokens", into.max_num_batched_tokens,
      "Tokens that one step of a text stage works on (default 512)")
      ->check(CLI::Range(1, max_int))
      ->group(group);
  add(app, "--max-num-queued-reqs", into.max_num_queued_reqs,
      "Requests admitted at once, running or waiting; one more is answered 429 (default 256)")
      ->check(CLI::Range(1, 1'000'000))
      ->group(group);
  add(app, "--block-size", into.block_size, "Tokens per KV cache block, a multiple of 16 (default 16)")
      ->check(CLI::Range(16, 1024))
      ->group(group);
  add(app, "--kv-cache-memory-bytes", into.kv_cache_memory_bytes,
      "KV cache of each replica of a text stage (default: enough for max-num-seqs times 1024 tokens, at most 224 MiB)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 46U))
      ->group(group);
  app.add_flag_callback(
         "--enable-prefix-caching", [&into] { into.enable_prefix_caching = true; },
         "Share KV blocks of equal prompt beginnings (the default)")
      ->group(group);
  app.add_flag_callback(
         "--no-enable-prefix-caching", [&into] { into.enable_prefix_caching = false; }, "Compute every prompt anew")
      ->group(group);
  add(app, "--omni-lb-policy", into.omni_lb_policy,
      "Which replica of a stage gets a request (default least-queue-length: the one with the fewest sequences, or with "
      "one more if it had more of the prompt's beginning before)")
      ->check(CLI::IsMember({"random", "round-robin", "least-queue-length"}))
      ->group(group);
  add(app, "--seed", into.seed, "Seed of requests that bring none (default 0)")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  add(app, "--threads", into.threads, "Compute threads (default: the cores this process may use)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
}

void add_statistics_flags(CLI::App& app, serve_options& into) {
  const std::string group = "Statistics";
  app.add_flag_callback(
         "--disable-log-stats", [&into] { into.log_stats = false; }, "Keep no statistics and print none")
      ->group(group);
  app.add_flag_callback(
         "--log-stats", [&into] { into.log_stats = true; }, "Keep statistics and print them (the default)")
      ->group(group);
  add(app, "--metrics-labels", into.metrics_labels,
      "How /metrics tells engines apart: by stage and replica (stage, the default), or by number as plain vLLM "
      "(engine)")
      ->check(CLI::IsMember({"stage", "engine"}))
      ->group(group);
  add(app, "--log-stats-interval", into.log_stats_interval_s, "Seconds between console lines (default 10)")
      ->check(seconds_from(0.1))
      ->group(group);
  app.add_flag_callback(
         "--log-request-timing", [&into] { into.log_request_timing = true; },
         "Print a line for each request that ends: where its time went")
      ->group(group);
}

void add_network_flags(CLI::App& app, network_options& into) {
  const std::string group = "Several processes (docs/deploy)";
  app.add_flag("--headless", into.headless, "Serve no clients: run replicas of one stage for a head in another process")
      ->group(group);
  add(app, "--stage-id", into.stage_id,
      "Headless: the stage of the replicas. Head: the only stage that it runs itself; replicas of the others join")
      ->check(CLI::Range(0, 1023))
      ->group(group);
  add(app, "--replica-id", into.replica_id, "Id of the (first) replica; without it the head gives the lowest free one")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  app.add_option("--omni-dp-size-local", into.replicas, "Replicas in this process; they share the weights")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group(group);
  add(app, "--omni-master-address", into.master_address,
      "Head: address on which replicas may join. Headless: address of the head (default 127.0.0.1)")
      ->group(group);
  add(app, "--omni-master-port", into.master_port, "Port of the same; 0 on the head takes a free one")
      ->check(CLI::Range(0, 65535))
      ->group(group);
  app.add_option("--omni-replica-address", into.replica_address,
                 "Address where processes of other stages reach this one (default: as the head sees it)")
      ->group(group);
  app.add_option("--omni-replica-port", into.replica_port, "Port of the same; 0 takes a free one")
      ->check(CLI::Range(0, 65535))
      ->group(group);
  app.add_option("--omni-tls-cert", into.tls_cert, "PEM file: certificate of this process, signed by the authority")
      ->group(group);
  app.add_option("--omni-tls-key", into.tls_key, "PEM file: its private key")->group(group);
  app.add_option("--omni-tls-ca", into.tls_ca, "PEM file: the authority; who shows its certificate may take part")
      ->group(group);
  app.add_flag("--insecure", into.insecure,
               "Let processes of other machines take part without TLS: only in a network that you trust")
      ->group(group);
  add(app, "--omni-dispatch-timeout", into.dispatch_timeout_s,
      "Seconds that a request waits for a stage without replicas, then 503 (default 10)")
      ->check(seconds_from(0))
      ->group(group);
}

/// What does not go together, in a sentence.
std::optional<std::string> contradiction(const network_options& given) {
  if (given.headless && !given.stage_id) return "--headless needs --stage-id: the stage whose replicas are to run.";
  if (given.headless && given.master_port.value_or(0) == 0)
    return "--headless needs --omni-master-port: the port on which the head lets replicas join.";
  if (!given.headless &&
      (given.replica_id || given.replicas != 1 || !given.replica_address.empty() || given.replica_port != 0))
    return "--replica-id, --omni-dp-size-local, --omni-replica-address and --omni-replica-port are for --headless.";
  if (given.stage_id && !given.any())
    return "--stage-id needs --omni-master-port, so that replicas of the other stages can join.";
  const bool secured = !given.tls_cert.empty() || !given.tls_key.empty() || !given.tls_ca.empty() || given.insecure;
  if (secured && !given.any())
    return "TLS files and --insecure are about --omni-master-address: give that, or leave them out.";
  return std::nullopt;
}

/// One sentence of what CLI11 says.
std::string sentence(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (const auto* extra = dynamic_cast<const CLI::ExtrasError*>(&error); extra != nullptr) {
    std::vector<std::string> known;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const auto at = text.rfind("--");
    const std::string given = at == std::string::npos ? "" : text.substr(at, text.find_first_of("= ", at) - at);
    if (const auto near = nearest(given, known); near) text += " (did you mean " + *near + "?)";
  }
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text + "; omni-serve --help lists all flags.";
}

} // namespace

expected<std::variant<serve_options, early_exit>> parse_flags(const std::vector<std::string>& arguments,
                                                              const std::string& version) {
  serve_options into;
  CLI::App app("Serves text and speech models through OpenAI's HTTP interface.", "omni-serve");
  app.set_version_flag("--version", "omni-serve " + version);
  app.get_formatter()->column_width(36);
  add_model_flags(app, into);
  add_plan_flags(app, into);
  add_server_flags(app, into);
  add_engine_flags(app, into);
  add_statistics_flags(app, into);
  add_network_flags(app, into.network);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend()); // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return early_exit{app.help()};
  } catch (const CLI::CallForVersion& wanted) {
    return early_exit{std::string(wanted.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(errc::invalid_request, sentence(error, app));
  }
  if (app.count("--log-stats") > 0 && app.count("--disable-log-stats") > 0)
    return fail(errc::invalid_request, "--log-stats and --disable-log-stats exclude each other: leave one out.");
  if (into.log_request_timing && app.count("--disable-log-stats") > 0)
    return fail(errc::invalid_request,
                "--log-request-timing and --disable-log-stats exclude each other: the lines come from the statistics.");
  if (const auto problem = contradiction(into.network)) return fail(errc::invalid_request, *problem);
  if (!into.plan && (!into.plan_device.empty() || into.plan_context))
    return fail(errc::invalid_request, "--plan-device and --plan-context are for --plan: add it, or leave them out.");
  return into;
}

} // namespace omni::cli
