#pragma once

#include "kernels/models/decoder/decoder_config.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace omni::qwen3_omni {

/// Encoder of sound: log-mel frames to rows of the thinker's width.
struct audio_config {
  std::int64_t mels = 0;
  std::int64_t chunk_frames = 0;  // frames that convolutions see at once
  std::int64_t window_chunks = 0; // chunks whose tokens see each other
  std::int64_t channels = 0;      // of the convolutions
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t out = 0; // width of a row

  [[nodiscard]] std::int64_t window_frames() const { return window_chunks * chunk_frames; }
  /// Rows that `frames` mel frames make; see `audio_encoder`.
  [[nodiscard]] std::int64_t rows_of(std::int64_t frames) const;
};

/// Encoder of pictures: patches of pixels to rows of the thinker's width.
struct vision_config {
  std::int64_t patch = 0;          // pixels along a side
  std::int64_t temporal_patch = 0; // frames
  std::int64_t merge = 0;          // patches along a side that make one row
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  std::int64_t out = 0;
  std::int64_t position_side = 0;      // of the square table of learned positions
  std::vector<std::int64_t> deepstack; // layers whose output goes to the thinker too, in order
  std::int64_t min_pixels = 0;         // of a resized picture
  std::int64_t max_pixels = 0;

  [[nodiscard]] std::int64_t patch_values() const { return 3 * temporal_patch * patch * patch; }
  [[nodiscard]] std::int64_t rows_per_patches() const { return merge * merge; }
};

/// Special tokens of the text vocabulary.
struct token_ids {
  std::int32_t im_start = 0, system = 0, user = 0, assistant = 0;
  std::int32_t audio_pad = 0, image_pad = 0, video_pad = 0;
  std::int32_t tts_pad = 0, tts_bos = 0, tts_eos = 0;

  [[nodiscard]] bool is_media(std::int32_t id) const { return id == audio_pad || id == image_pad || id == video_pad; }
};

/// The talker: text and what was heard and seen to codes, one frame of `code_groups` codes at a time.
struct talker_config {
  decoder_config decoder;   // vocab: that of the first code, with special codes
  decoder_config predictor; // of the other codes; vocab: codes of a group
  std::int64_t code_groups = 0;
  std::int64_t projection_width = 0; // inner width of the two projections
  std::int32_t pad = 0, bos = 0, eos = 0, nothink = 0, think_bos = 0, think_eos = 0;
  std::map<std::string, std::int32_t> speakers; // lower-case name -> code
};

/// code2wav: frames of codes to samples.
struct code2wav_config {
  decoder_config transformer;
  std::int64_t codebook = 0; // codes of a group
  std::int64_t groups = 0;
  std::vector<std::int64_t> upsampling; // before the decoder
  std::vector<std::int64_t> rates;      // of the decoder's blocks
  std::int64_t width = 0;               // of the decoder's first block

  [[nodiscard]] std::int64_t samples_per_frame() const;
};

/// config.json and preprocessor_config.json of a Qwen3-Omni checkpoint.
struct model_config {
  std::string where; // config.json, for messages
  token_ids tokens;
  double positions_per_second = 0; // of the time of a video
  decoder_config thinker;
  audio_config audio;
  vision_config vision;
  std::optional<talker_config> talker; // absent: the checkpoint does not speak
  std::optional<code2wav_config> code2wav;
};

constexpr std::int32_t sample_rate_in = 16000; // Hz, of what is heard
constexpr std::int32_t sample_rate_out = 24000;

/// Who speaks where nobody is named, if the checkpoint has that speaker.
inline constexpr const char* usual_speaker = "ethan";

/// The `model_type` of config.json.
inline constexpr const char* model_type = "qwen3_omni_moe";

/// Whether `path` is a folder whose config.json says that it holds a Qwen3-Omni checkpoint.
bool is_checkpoint(const std::filesystem::path& path);

/// Reads a checkpoint folder. A missing key is an error: the reference's defaults are those of no published model.
/// `config_alone`: config.json may be all there is; the limits of pictures then are those of the published checkpoint.
/// Throws `load_error`.
model_config load_config(const std::filesystem::path& folder, bool config_alone = false);

} // namespace omni::qwen3_omni
