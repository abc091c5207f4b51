#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace omni::vits {

/// How a voice turns text into phonemes.
enum class phoneme_source : std::uint8_t {
  espeak, // by espeak-ng
  text,   // the characters of the text are the phonemes
};

/// What the JSON beside a Piper voice says. Layout: rhasspy/piper, `voice.onnx.json`.
struct voice_config {
  std::string where; // the file, for messages
  std::int32_t sample_rate = 0;
  phoneme_source source = phoneme_source::espeak;
  std::string espeak_voice; // "en-us"
  float noise_scale = 0.667F;
  float length_scale = 1.0F;
  float noise_w = 0.8F;
  std::int64_t symbols = 0;                                // ids are below it
  std::map<std::u32string, std::vector<std::int64_t>> ids; // of a phoneme, usually one character
  std::size_t longest_phoneme = 1;                         // characters
  std::map<char32_t, std::u32string> replacements;         // phonemes to write otherwise before ids are looked up
  std::int64_t speakers = 1;
  std::map<std::string, std::int64_t> speaker_ids; // by name
  std::int64_t default_speaker = 0;

  /// Throws `load_error` naming the file and the key.
  static voice_config load(const std::filesystem::path& path);
  static voice_config parse(std::string_view json, const std::string& where);
};

} // namespace omni::vits
