#include "app/cli/generation_config.hpp"

#include "app/cli/text_file.hpp"
#include "app/openai/sampling_fields.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace omni::cli {

sampling_params& own_sampling(stage_config& stage) {
  auto& known = stage.default_sampling_params;
  return known ? *known : known.emplace();
}

expected<void> read_generation_config(stage_config& stage) {
  if (stage.model_stage != "thinker") return {};
  const std::filesystem::path model = stage.model;
  std::error_code error;
  const std::filesystem::path path = model / "generation_config.json";
  if (!std::filesystem::is_directory(model, error) || !std::filesystem::exists(path, error)) return {};
  const auto text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  auto parsed = openai::parse_object(*text, path.string());
  if (!parsed) return fail(errc::load_failed, parsed.error().message);
  openai::json kept;
  for (const char* name : {"temperature", "top_p", "top_k", "min_p", "repetition_penalty"})
    if (parsed->contains(name)) kept[name] = (*parsed)[name];
  if (parsed->contains("max_new_tokens")) kept["max_tokens"] = (*parsed)["max_new_tokens"];
  if (kept.is_null()) return {};
  std::optional<failure> problem;
  openai::fields from(kept, "", problem);
  openai::read_sampling(from, std::numeric_limits<std::int32_t>::max(), own_sampling(stage));
  if (problem) return fail(errc::load_failed, path.string() + " cannot be used: " + problem->message);
  return {};
}

} // namespace omni::cli
