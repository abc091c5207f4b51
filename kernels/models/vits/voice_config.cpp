#include "kernels/models/vits/voice_config.hpp"

#include "kernels/text/utf8.hpp"
#include "kernels/weights/hf_config.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <cmath>

namespace omni::vits {
namespace {

constexpr int_range sample_rates{1000, 384000};
constexpr int_range symbol_counts{1, 65536};
constexpr int_range speaker_counts{1, 65536};
constexpr std::size_t most_ids = 8; // of one phoneme

std::u32string characters(std::string_view utf8, const std::string& where) {
  std::u32string found;
  while (!utf8.empty()) {
    const auto step = text::read_utf8(utf8);
    if (step.what != text::utf8_step::kind::whole) reject(where, "a phoneme is no valid UTF-8");
    found += step.code;
    utf8.remove_prefix(step.size);
  }
  return found;
}

float scale_of(const hf_config& inference, std::string_view key, double fallback) {
  const double value = inference.float_or(key, fallback);
  if (!(value >= 0 && value <= 100))
    reject(inference.where(), "inference." + std::string(key) + " must be a number from 0 to 100");
  return static_cast<float>(value);
}

phoneme_source source_of(const hf_config& root) {
  const auto type = root.string_or("phoneme_type", "espeak");
  if (type == "espeak") return phoneme_source::espeak;
  if (type == "text") return phoneme_source::text;
  reject(root.where(),
         "phoneme_type is " + shown(type) + ", only \"espeak\" and \"text\" can be spoken: take another voice");
}

void read_phonemes(const hf_config& root, voice_config& voice) {
  const auto map = root.child("phoneme_id_map");
  std::int64_t highest = 0;
  for (const auto& key : map.keys()) {
    const auto phoneme = characters(key, voice.where);
    if (phoneme.empty()) continue;
    auto ids = map.ints(key, {0, symbol_counts.high - 1});
    if (ids.size() > most_ids)
      reject(voice.where, "phoneme_id_map." + shown(key) + " has " + std::to_string(ids.size()) +
                              " ids, more than the " + std::to_string(most_ids) + " of any voice");
    for (const auto id : ids) highest = std::max(highest, id);
    voice.longest_phoneme = std::max(voice.longest_phoneme, phoneme.size());
    voice.ids[phoneme] = std::move(ids);
  }
  voice.symbols = root.int_or("num_symbols", highest + 1, symbol_counts);
  if (highest >= voice.symbols)
    reject(voice.where, "phoneme_id_map has the id " + std::to_string(highest) + ", but num_symbols is " +
                            std::to_string(voice.symbols));
  for (const char32_t required : {U'_', U'^', U'$'})
    if (voice.ids[std::u32string(1, required)].empty())
      reject(voice.where, std::string("phoneme_id_map has no id for \"") + static_cast<char>(required) +
                              "\", which every voice needs");
  if (const auto replacements = root.find_child("phoneme_map"))
    for (const auto& key : replacements->keys()) {
      const auto from = characters(key, voice.where);
      if (from.size() != 1) reject(voice.where, "phoneme_map." + shown(key) + " must be a single character");
      std::u32string to;
      for (const auto& part : replacements->strings(key)) to += characters(part, voice.where);
      voice.replacements[from.front()] = to;
    }
}

void read_speakers(const hf_config& root, voice_config& voice) {
  voice.speakers = root.int_or("num_speakers", 1, speaker_counts);
  const int_range known{0, voice.speakers - 1};
  if (const auto names = root.find_child("speaker_id_map"))
    for (const auto& name : names->keys()) voice.speaker_ids[name] = names->required_int(name, known);
  voice.default_speaker = root.int_or("default_speaker_id", 0, known);
}

voice_config read(const hf_config& root) {
  voice_config voice;
  voice.where = root.where();
  voice.sample_rate = static_cast<std::int32_t>(root.child("audio").required_int("sample_rate", sample_rates));
  voice.source = source_of(root);
  if (voice.source == phoneme_source::espeak) voice.espeak_voice = root.child("espeak").required_string("voice");
  if (const auto inference = root.find_child("inference")) {
    voice.noise_scale = scale_of(*inference, "noise_scale", voice.noise_scale);
    voice.length_scale = scale_of(*inference, "length_scale", voice.length_scale);
    voice.noise_w = scale_of(*inference, "noise_w", voice.noise_w);
  }
  read_phonemes(root, voice);
  read_speakers(root, voice);
  return voice;
}

} // namespace

voice_config voice_config::load(const std::filesystem::path& path) { return read(hf_config::load(path)); }

voice_config voice_config::parse(std::string_view json, const std::string& where) {
  return read(hf_config::parse(json, where));
}

} // namespace omni::vits
