#include "metrics/exporter.hpp"

#include "metrics/playback.hpp"

#include <algorithm>
#include <cmath>

namespace omni {
namespace {

// More than any model drafts; each costs a series.
constexpr std::int32_t most_speculative_tokens = 256;
// More than any pipeline has; the index after it must still be a number.
constexpr std::int32_t last_engine = 999'999;

std::string named(stage_id stage, replica_id replica) {
  return "stage " + std::to_string(stage.value) + " replica " + std::to_string(replica.value);
}

bool has_sensible_sizes(const cache_facts& x) {
  constexpr std::int32_t most_block_size = 1 << 20;
  constexpr std::int64_t most_blocks = std::int64_t{1} << 40;
  return x.block_size >= 0 && x.block_size <= most_block_size && x.num_gpu_blocks >= 0 &&
         x.num_gpu_blocks <= most_blocks;
}

std::optional<failure> check_facts(const register_engine& who) {
  const std::int32_t wanted = who.engine.value_or(0);
  if (who.stage.value < 0 || who.replica.value < 0 || wanted < 0 || wanted > last_engine)
    return failure{errc::invalid_request,
                   "Cannot register " + named(who.stage, who.replica) + " as engine " + std::to_string(wanted) +
                       ": stages and replicas count from 0, engines from 0 to " + std::to_string(last_engine) + ".",
                   {}};
  if (who.speculative_tokens < 0 || who.speculative_tokens > most_speculative_tokens)
    return failure{errc::invalid_request,
                   "Cannot register " + named(who.stage, who.replica) + ": it drafts " +
                       std::to_string(who.speculative_tokens) + " tokens, expected 0 to " +
                       std::to_string(most_speculative_tokens) + ".",
                   {}};
  if (who.cache && !has_sensible_sizes(*who.cache))
    return failure{errc::invalid_request,
                   "Cannot register " + named(who.stage, who.replica) + ": a cache of " +
                       std::to_string(who.cache->num_gpu_blocks) + " blocks of " +
                       std::to_string(who.cache->block_size) + " tokens cannot be.",
                   {}};
  return std::nullopt;
}

// As Python prints them, for consumers that compare texts.
std::string python_bool(bool value) { return value ? "True" : "False"; }

} // namespace

exporter::exporter(common_labels labels, std::int32_t max_model_len, metric_registry& registry, bad_value_series& bad,
                   double wall_s)
    : labels_(std::move(labels)), max_model_len_(max_model_len), registry_(registry), bad_(bad), lazy_(registry) {
  if (labels_.scheme == label_scheme::stage_replica) open_pipeline(wall_s);
}

expected<std::vector<std::int32_t>> exporter::assign_indexes(std::span<const register_engine> engines) const {
  auto taken = by_index_; // what it would be after the call
  std::vector<std::int32_t> indexes;
  for (const register_engine& who : engines) {
    if (const auto problem = check_facts(who)) return tl::unexpected(*problem);
    const replica_key key{who.stage, who.replica};
    const auto known = std::find_if(taken.begin(), taken.end(), [&](const auto& entry) { return entry.second == key; });
    if (known != taken.end()) {
      if (who.engine.value_or(known->first) != known->first)
        return fail(errc::replica_conflict, "Cannot register " + named(who.stage, who.replica) + " as engine " +
                                                std::to_string(*who.engine) + ": it is engine " +
                                                std::to_string(known->first) + ", and an index never changes.");
      indexes.push_back(known->first);
      continue;
    }
    const std::int32_t next = taken.empty() ? 0 : taken.rbegin()->first + 1;
    const auto [place, fresh] = taken.emplace(who.engine.value_or(next), key);
    if (!fresh)
      return fail(errc::replica_conflict, "Cannot register " + named(who.stage, who.replica) + " as engine " +
                                              std::to_string(place->first) + ": that index belongs to " +
                                              named(place->second.first, place->second.second) +
                                              " for good; leave the index out to get a free one.");
    indexes.push_back(place->first);
  }
  return indexes;
}

expected<std::vector<std::int32_t>> exporter::add_engines(std::span<const register_engine> engines, double wall_s) {
  auto indexes = assign_indexes(engines);
  if (!indexes || engines.empty()) return indexes;
  std::vector<engine_series*> fresh;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const replica_key key{engines[i].stage, engines[i].replica};
    auto& place = engines_[key];
    if (place) {
      if (place->departed) place->set_sleep(0);
      place->departed = false;
      continue;
    }
    place = std::make_unique<engine_series>();
    place->facts = engines[i];
    place->facts.engine = (*indexes)[i];
    place->facts.cache.reset(); // set when it is published
    by_index_.emplace((*indexes)[i], key);
    fresh.push_back(place.get());
  }
  if (!fresh.empty()) {
    if (rejections_.empty()) {
      const auto longest =
          std::ranges::max_element(fresh, {}, [](const engine_series* one) { return one->facts.max_model_len; });
      open_engine_families((*longest)->facts.max_model_len, wall_s);
    }
    if (std::any_of(fresh.begin(), fresh.end(), [](const auto* one) { return one->facts.speculative_tokens > 0; }))
      registry_.open(family_group::speculation);
    bind_series(fresh, labels_, request_bounds_, registry_, wall_s);
  }
  for (const register_engine& who : engines)
    if (who.cache) publish_cache(*series_of(who.stage, who.replica), *who.cache, wall_s);
  return indexes;
}

void exporter::open_engine_families(std::int32_t max_model_len, double wall_s) {
  const double longest = std::max(max_model_len, max_model_len_);
  for (const double bound : bucket_bounds(bucket_list::request_tokens))
    if (bound <= longest) request_bounds_.push_back(bound);
  registry_.open(family_group::engine);
  bad_value_counts bad{};
  for (std::size_t i = 0; i < rejection_kinds; ++i) {
    const label_set all = with(labels_.of_model(), "reason", rejection_labels[i]);
    rejections_.emplace_back(registry_.counter(family_id::admission_rejections, all, wall_s));
    rejections_.back().add(unbooked_[i], bad);
  }
  bad_.add(bad);
}

void exporter::publish_cache(engine_series& engine, const cache_facts& facts, double wall_s) {
  const auto labels_for = [&](const cache_facts& x) {
    label_set all =
        labels_.of_engine(family_id::cache_config_info, engine.facts.stage, engine.facts.replica, *engine.facts.engine);
    all.emplace_back("block_size", std::to_string(x.block_size));
    all.emplace_back("cache_dtype", x.cache_dtype);
    all.emplace_back("enable_prefix_caching", python_bool(x.enable_prefix_caching));
    all.emplace_back("gpu_memory_utilization", format_value(x.gpu_memory_utilization));
    all.emplace_back("kv_cache_size_tokens", std::to_string(x.num_gpu_blocks * x.block_size));
    all.emplace_back("num_gpu_blocks", std::to_string(x.num_gpu_blocks));
    return all;
  };
  registry_.open(family_group::cache_config);
  // A replica that came back with another cache: the old description no longer holds.
  if (engine.facts.cache) lazy_.gauge(family_id::cache_config_info, labels_for(*engine.facts.cache), wall_s).Set(0);
  engine.facts.cache = facts;
  lazy_.gauge(family_id::cache_config_info, labels_for(facts), wall_s).Set(1);
}

const engine_series* exporter::find(stage_id stage, replica_id replica) const {
  const auto found = engines_.find({stage, replica});
  return found == engines_.end() ? nullptr : found->second.get();
}

engine_series* exporter::series_of(stage_id stage, replica_id replica) {
  const auto found = engines_.find({stage, replica});
  return found == engines_.end() ? nullptr : found->second.get();
}

bool exporter::record(const engine_report& report, double wall_s) {
  bad_value_counts bad = report.bad;
  engine_series* engine = series_of(report.stage, report.replica);
  if (engine == nullptr) {
    ++bad[std::size_t(bad_value::unknown_engine)];
  } else {
    // The last word of a replica that has left must not bring its load back.
    if (report.scheduler && !engine->departed) engine->set_load(*report.scheduler, bad);
    count_engine(*engine, report, bad);
    count_requests(*engine, report, bad);
    if (pipeline_) count_omni(*engine, report, wall_s, bad);
  }
  bad_.add(bad);
  return engine != nullptr;
}

void exporter::count_engine(engine_series& to, const engine_report& report, bad_value_counts& bad) {
  to.prefix_queries.add(report.prefix_cache.queries, bad);
  to.prefix_hits.add(report.prefix_cache.hits, bad);
  to.external_queries.add(report.external_prefix_cache.queries, bad);
  to.external_hits.add(report.external_prefix_cache.hits, bad);
  to.mm_queries.add(report.mm_cache.queries, bad);
  to.mm_hits.add(report.mm_cache.hits, bad);
  to.cached_by_source[0].add(report.prefix_cache.hits, bad);
  for (std::size_t i = 0; i < report.external_hits_by_tier.size(); ++i)
    to.cached_by_source[i + 1].add(report.external_hits_by_tier[i], bad);

  // As doubles: sums of counts from another process must not overflow.
  const auto computed = double(checked(report.prompt.computed, bad));
  const auto local = double(checked(report.prompt.local_cached, bad));
  const auto external = double(checked(report.prompt.external_cached, bad));
  to.prompt_tokens.add(computed + local + external, bad);
  to.prompt_tokens_cached.add(local + external, bad);
  to.prompt_by_source[0].add(computed, bad);
  to.prompt_by_source[1].add(local, bad);
  to.prompt_by_source[2].add(external, bad);
  to.generation_tokens.add(report.generation_tokens, bad);
  to.preemptions.add(report.preemptions, bad);
  if (report.work) {
    to.flops.add(report.work->flops, bad);
    to.read_bytes.add(report.work->read_bytes, bad);
    to.write_bytes.add(report.work->write_bytes, bad);
  }
  if (report.speculation && !to.spec_counts.empty()) {
    to.spec_counts[0].add(report.speculation->drafts, bad);
    to.spec_counts[1].add(report.speculation->draft_tokens, bad);
    to.spec_counts[2].add(report.speculation->accepted_tokens, bad);
    const auto& accepted = report.speculation->accepted_at;
    for (std::size_t i = 0; i < std::min(accepted.size(), to.spec_accepted_at.size()); ++i)
      to.spec_accepted_at[i].add(accepted[i], bad);
  }
}

void exporter::count_requests(engine_series& to, const engine_report& report, bad_value_counts& bad) {
  to.iteration.add(report.iteration_tokens, bad);
  to.first_token.add(report.time_to_first_token, bad);
  to.inter_token.add(report.inter_token_latency, bad);
  to.params_n.add(report.groups.n, bad);
  to.max_generation.add(report.groups.longest_generation, bad);
  const finished_totals& ended = report.finished;
  for (std::size_t i = 0; i < ended.by_reason.size(); ++i) to.success[i].add(ended.by_reason[i], bad);
  to.request_prompt.add(ended.prompt_tokens, bad);
  to.request_generation.add(ended.generation_tokens, bad);
  to.params_max_tokens.add(ended.max_tokens, bad);
  to.prefill_computed.add(ended.prefill_computed_tokens, bad);
  to.request_preemptions.add(ended.preemptions, bad);
  to.e2e.add(ended.e2e_latency, bad);
  to.queue.add(ended.queued_time, bad);
  to.prefill.add(ended.prefill_time, bad);
  to.decode.add(ended.decode_time, bad);
  to.inference.add(ended.inference_time, bad);
  to.time_per_output_token.add(ended.time_per_output_token, bad);
}

void exporter::count_omni(const engine_series& of, const engine_report& report, double wall_s, bad_value_counts& bad) {
  using id = family_id;
  const std::string stage = std::to_string(report.stage.value);
  // Autoregressive and voice stages alike: the other type that the page knows is diffusion.
  lazy_.add(id::omni_stage_gen_time, with(with(labels_.of_model(), "stage", stage), "stage_type", "llm"),
            report.stage_gen_time, wall_s, bad);

  const audio_totals& audio = report.audio;
  const label_set own =
      labels_.of_engine(id::omni_audio_ttfp, report.stage, report.replica, of.facts.engine.value_or(0));
  lazy_.add(id::omni_audio_ttfp, own, audio.ttfp, wall_s, bad);
  lazy_.add(id::omni_audio_duration, own, audio.duration, wall_s, bad);
  lazy_.add(id::omni_audio_rtf, own, audio.rtf, wall_s, bad);
  lazy_.add(id::omni_audio_frames, own, audio.frames, wall_s, bad);
  lazy_.add(id::omni_audio_underrun, own, audio.underrun, wall_s, bad);
  const std::string threshold_ms = std::to_string(std::lround(continuity_threshold_s * 1000));
  lazy_.add(id::omni_audio_continuity_ok, with(own, "threshold_ms", threshold_ms), audio.continuity_ok, wall_s, bad);
  lazy_.add(id::omni_audio_skipped, with(own, "reason", "no_audio_data"), audio.skipped, wall_s, bad);

  for (const transfer_totals& edge : report.transfers) {
    if (find(edge.from_stage, edge.from_replica) == nullptr || find(edge.to_stage, edge.to_replica) == nullptr) {
      ++bad[std::size_t(bad_value::unknown_engine)]; // each new pair would be series for good
      continue;
    }
    label_set ends = labels_.of_model();
    ends.emplace_back("from_stage", std::to_string(edge.from_stage.value));
    ends.emplace_back("from_replica", std::to_string(edge.from_replica.value));
    ends.emplace_back("to_stage", std::to_string(edge.to_stage.value));
    ends.emplace_back("to_replica", std::to_string(edge.to_replica.value));
    lazy_.add(id::omni_transfer_size, ends, edge.size, wall_s, bad);
    lazy_.add(id::omni_transfer_tx, ends, edge.tx, wall_s, bad);
    lazy_.add(id::omni_transfer_rx, ends, edge.rx, wall_s, bad);
    lazy_.add(id::omni_transfer_in_flight, ends, edge.in_flight, wall_s, bad);
  }
}

} // namespace omni
