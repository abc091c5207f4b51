#include "app/openai/stage_watch.hpp"

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

namespace omni::openai {
namespace {

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

} // namespace

stage_watch::stage_watch(const pipeline_facts& pipeline, std::int32_t prompt_tokens, std::int64_t start_us)
    : pipeline_(pipeline), start_us_(start_us) {
  text_.id = pipeline.text_output;
  text_.tokens_in = prompt_tokens;
  audio_.id = pipeline.audio_output;
}

void stage_watch::on_output(const output& piece, std::int64_t now_us) {
  stage& which = piece.kind == modality::text ? text_ : audio_;
  const auto units = piece.kind == modality::text           ? std::int64_t(piece.tokens.size())
                     : piece.audio && piece.audio->rows > 0 ? 1
                                                            : 0;
  if (units > 0) {
    // k tokens in one piece came in k equal gaps; the first one has no gap before it.
    for (std::int64_t i = which.seen ? 0 : 1; i < units; ++i)
      which.gaps_ms.push_back(which.seen ? double(now_us - which.last_us) / 1000.0 / double(units) : 0.0);
    if (!which.seen) which.first_us = now_us;
    which.seen = true;
    which.last_us = now_us;
    which.outputs += units;
  }
  if (piece.kind == modality::text) {
    which.tokens_out = std::max(which.tokens_out, piece.usage.completion_tokens);
  } else if (piece.audio) {
    which.samples += piece.audio->rows;
    which.sample_rate = piece.audio->sample_rate;
  }
  if (piece.finish) which.finish = piece.finish;
}

json stage_watch::snapshot(const stage& which, modality kind) const {
  const bool text = kind == modality::text;
  const double first_ms = which.seen ? double(which.first_us - start_us_) / 1000.0 : 0.0;
  json out;
  out["stage_name"] = pipeline_.stage_names[std::size_t(which.id->value)];
  out["stage_id"] = which.id->value;
  out["final_output_type"] = text ? "text" : "audio";
  out["finish_reason"] = which.finish ? json(to_string(*which.finish)) : json();
  out["num_tokens_in"] = which.tokens_in;
  out["num_tokens_out"] = which.tokens_out;
  out["stage_gen_time_ms"] = which.seen ? double(which.last_us - start_us_) / 1000.0 : 0.0;
  out["postprocess_time_ms"] = 0.0;
  out["output_unit_type"] = text ? "text" : "audio";
  out["output_unit_count"] = which.outputs;
  out["serving_time_to_first_output_ms"] = first_ms;
  out["image_time_to_first_output_ms"] = nullptr;
  out["time_per_output_unit_ms"] = mean(which.gaps_ms);
  out["inter_output_latency_ms"] = mean(which.gaps_ms);
  out["inter_output_latencies_ms"] = which.gaps_ms;
  out["vllm_ttft_ms"] = text ? json(first_ms) : json();
  out["vllm_tpot_ms"] = text ? json(mean(which.gaps_ms)) : json();
  out["vllm_itl_ms"] = text ? json(mean(which.gaps_ms)) : json();
  out["vllm_itls_ms"] = text ? json(which.gaps_ms) : json::array();
  out["audio_frames"] = which.samples;
  out["audio_sample_rate"] = which.sample_rate > 0 ? json(which.sample_rate) : json();
  out["audio_duration_s"] = which.sample_rate > 0 ? double(which.samples) / which.sample_rate : 0.0;
  out["image_pixels"] = 0;
  out["denoise_step_latency_ms"] = nullptr;
  return out;
}

json stage_watch::snapshots() const {
  json all = json::object();
  for (const modality kind : {modality::text, modality::audio})
    if (of(kind).seen && of(kind).id) all[std::to_string(of(kind).id->value)] = snapshot(of(kind), kind);
  return all;
}

json stage_watch::event_metrics(const output& piece) const {
  const stage& which = of(piece.kind);
  json out;
  if (piece.finish)
    out["stage_metrics"] = snapshots(); // per-token lists in every event would grow with the square of the answer
  out["stage_id"] = which.id ? json(which.id->value) : json();
  out["final_output_type"] = piece.kind == modality::text ? "text" : "audio";
  out["num_tokens_in"] = which.tokens_in;
  out["num_tokens_out"] = which.tokens_out;
  return out;
}

json stage_watch::answer_metrics() const {
  json out;
  out["stage_metrics"] = snapshots();
  const bool sound = audio_.seen;
  out["stage_id"] = of(sound ? modality::audio : modality::text).id
                        ? json(of(sound ? modality::audio : modality::text).id->value)
                        : json();
  out["final_output_type"] = sound ? "audio" : "text";
  out["num_tokens_in"] = text_.tokens_in;
  out["num_tokens_out"] = text_.tokens_out;
  return out;
}

} // namespace omni::openai
