#include "actors/stage_graph.hpp"

#include <algorithm>

namespace omni {
namespace {

const char* name_of(payload::kind kind) {
  switch (kind) {
  case payload::kind::text:
    return "text";
  case payload::kind::tokens:
    return "tokens";
  case payload::kind::rows:
    return "frames";
  case payload::kind::samples:
    return "sound";
  }
  return "nothing";
}

std::string name_of(const std::vector<stage_graph::stage>& stages, std::size_t at) {
  return "Stage " + std::to_string(at) + " (" + stages[at].name + ")";
}

/// Whether the stage at `at` gets what it reads and can answer with what it should.
expected<void> check_stage(const std::vector<stage_graph::stage>& stages, std::size_t at) {
  const auto& one = stages[at];
  if (at > 0 && one.text)
    return fail(errc::invalid_request,
                name_of(stages, at) + " works on text, but only the first stage may: reorder the stages.");
  if (at == 0 && !one.text && one.ports.reads != payload::kind::text)
    return fail(errc::invalid_request, name_of(stages, at) + " reads " + name_of(one.ports.reads) +
                                           ", so it cannot be the first stage: put the stage that makes them before "
                                           "it.");
  if (at > 0 && one.ports.reads != stages[at - 1].ports.hands_on)
    return fail(errc::invalid_request, name_of(stages, at) + " reads " + name_of(one.ports.reads) + ", but " +
                                           name_of(stages, at - 1) + " hands on " +
                                           name_of(stages[at - 1].ports.hands_on) + ": reorder the stages.");
  if (!one.final_output) return {};
  const auto wanted = *one.final_output == modality::text ? payload::kind::text : payload::kind::samples;
  if (one.ports.answers == wanted) return {};
  return fail(errc::invalid_request, name_of(stages, at) + " cannot answer with " +
                                         (wanted == payload::kind::text ? "text" : "audio") +
                                         ": set final_output_type at a stage that makes it.");
}

} // namespace

expected<stage_graph> stage_graph::make(std::vector<stage> stages) {
  if (stages.empty()) return fail(errc::invalid_request, "A pipeline needs at least one stage: give its stages.");
  for (std::size_t at = 0; at < stages.size(); ++at)
    if (auto good = check_stage(stages, at); !good) return tl::unexpected(good.error());
  if (std::ranges::none_of(stages, [](const stage& one) { return one.final_output.has_value(); }))
    return fail(errc::invalid_request,
                "No stage has a final_output_type, so nothing would be answered: set it for the last stage.");
  stage_graph graph;
  graph.stages_ = std::move(stages);
  return graph;
}

std::optional<std::size_t> stage_graph::source_of(modality kind) const {
  for (std::size_t at = 0; at < stages_.size(); ++at)
    if (stages_[at].final_output == kind) return at;
  return std::nullopt;
}

expected<stage_graph::path> stage_graph::path_of(const request& what) const {
  path way;
  if (what.prompt.empty()) {
    while (way.first < size() && stages_[way.first].text) ++way.first;
    if (way.first == size())
      return fail(errc::invalid_request, "This model does not speak: it has no voice stage.", "input");
    if (stages_[way.first].ports.reads != payload::kind::text)
      return fail(errc::invalid_request,
                  "This model speaks only what it says itself, no given text: send a chat request for audio.", "input");
    if (what.want_text)
      return fail(errc::invalid_request, "A speech request has no text to answer: ask for audio alone.", "input");
  } else if (!stages_.front().text) {
    return fail(errc::invalid_request, "This model has no text stage: send a speech request.", what.prompt_param);
  }
  if (!what.want_text && !what.want_audio)
    return fail(errc::invalid_request, "Nothing is asked for: name text, audio or both.", "modalities");
  way.last = way.first;
  for (const auto kind : {modality::text, modality::audio}) {
    if (!(kind == modality::text ? what.want_text : what.want_audio)) continue;
    const auto source = source_of(kind);
    if (!source)
      return fail(errc::invalid_request,
                  std::string("This model does not make ") + (kind == modality::text ? "text" : "audio") +
                      ": ask for another modality.",
                  "modalities");
    way.last = std::max(way.last, *source);
  }
  return way;
}

stage_task stage_graph::task_for(std::size_t at, path way, request_id id, std::int32_t attempt, const request& what,
                                 time_us arrival) const {
  stage_task task{id, attempt, {}, arrival, false, at < way.last};
  const auto final = stages_[at].final_output;
  task.for_client = (final == modality::text && what.want_text) || (final == modality::audio && what.want_audio);
  // The input travels only to the stage that reads it.
  task.what.name = what.name;
  task.what.sampling = what.sampling;
  if (!stages_[at].text) {
    const bool own = at < what.stage_sampling.size() && what.stage_sampling[at];
    task.what.sampling = own ? *what.stage_sampling[at] : stages_[at].sampling;
    if (!task.what.sampling.seed) task.what.sampling.seed = what.sampling.seed;
  }
  task.what.n = what.n;
  task.what.want_text = what.want_text;
  task.what.want_audio = what.want_audio;
  task.what.voice = what.voice;
  task.what.prompt_param = what.prompt_param;
  if (at == way.first) {
    task.what.prompt = what.prompt;
    task.what.media = what.media;
    task.what.text = what.text;
  }
  return task;
}

} // namespace omni
