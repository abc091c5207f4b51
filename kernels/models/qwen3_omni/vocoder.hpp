#pragma once

#include "kernels/layers/conv_stack.hpp"
#include "kernels/layers/observer.hpp"
#include "kernels/models/decoder/decoder_stack.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace omni::qwen3_omni {

/// code2wav: frames of codes to samples. The mean of the codes' embeddings, a transformer over a window of the past,
/// two upsampling stages and a decoder of transposed convolutions and residual units. Always in F32: sines of bfloat16
/// would be heard. Read-only after loading.
class vocoder {
public:
  /// Throws `load_error`.
  vocoder(const code2wav_config& config, const checkpoint& file);
  vocoder(const vocoder&) = delete;
  vocoder& operator=(const vocoder&) = delete;

  [[nodiscard]] const code2wav_config& config() const { return config_; }
  /// Additions and multiplications of the convolutions that one frame costs.
  [[nodiscard]] std::int64_t flops_per_frame() const { return flops_per_frame_; }

  class stream;

private:
  /// What one track gets, with the reference's name for it.
  struct named_track {
    track_id id;
    std::string name;
  };
  [[nodiscard]] std::vector<float> read(const std::string& name, const shape& extents) const;
  const float* keep(std::vector<float> values);
  const conv_weights* keep(conv_weights w);
  track_id add_conv(const std::string& module, track_id in, std::int64_t out, std::int64_t taps, std::int64_t dilation,
                    track_id residual = no_track);
  track_id add_transposed(const std::string& module, track_id in, std::int64_t out, std::int64_t kernel,
                          std::int64_t stride);
  track_id add_snake(const std::string& module, track_id in);
  track_id add_gelu(track_id in);
  track_id add_convnext(const std::string& module, track_id in);
  track_id add_block(const std::string& module, track_id in, std::int64_t rate);
  void name(track_id id, std::string what) { names_.push_back({id, std::move(what)}); }

  code2wav_config config_;
  const checkpoint* file_ = nullptr; // while loading
  decoder_weights transformer_weights_;
  decoder_stack transformer_;
  std::vector<float> embedding_;   // [groups * codebook, hidden]
  std::deque<conv_weights> convs_; // their addresses are held by the stack
  std::deque<depthwise_weights> depthwise_;
  std::deque<std::vector<float>> values_;
  conv_to_mono_weights output_;
  conv_stack layers_;
  track_id frames_ = no_track;
  track_id last_ = no_track; // what the output layer reads
  std::vector<named_track> names_;
  std::int64_t rate_ = 1; // rows per frame of what is added next
  std::int64_t flops_per_frame_ = 0;
};

/// The sound of one request. What it gives out does not depend on how the frames are cut into calls. After n frames it
/// has given n * samples_per_frame less what the next frame may still change, which at the end is never given: the
/// reference drops it too.
class vocoder::stream {
public:
  /// The model must outlive the stream.
  explicit stream(const vocoder& model);

  /// Takes frames [count, groups], each code below `codebook`. Appends the samples that are certain now.
  void decode(std::span<const std::int32_t> codes, std::vector<float>& samples, const op_context& context);
  /// Shows `observer` the rows of inner tensors as they are made, by the reference's names ("transformer.0",
  /// "decoder.1"). The stream must stay where it is.
  void observe(tensor_observer observer);

private:
  void decode_piece(std::span<const std::int32_t> codes, std::vector<float>& samples, const op_context& context);
  /// The transformer's output [rows, hidden] f32 of the next frames; scratch memory of the caller's scope.
  tensor transform(std::span<const std::int32_t> codes, std::int64_t rows, const op_context& context);
  void take_samples(std::vector<float>& samples, const op_context& context);
  void show(const char* what, const tensor& value) const;

  const vocoder& model_;
  kv_cache cache_; // of the last frames: its blocks are used in turn
  std::vector<std::int32_t> block_table_;
  std::int64_t frames_done_ = 0;
  conv_stack::stream layers_;
  std::int64_t samples_done_ = 0;
  tensor_observer observer_;
};

} // namespace omni::qwen3_omni
