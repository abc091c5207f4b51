#pragma once

#include "kernels/core/thread_pool.hpp"
#include "kernels/runtime/payload.hpp"
#include "kernels/runtime/runner.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace omni {

class checkpoint;

namespace text {
class tokenizer;
class chat_template;
} // namespace text

/// Which part of which checkpoint a stage runs, and how.
struct stage_model_spec {
  std::filesystem::path model;      // .gguf file, Hugging Face directory, or Piper .onnx (its .json beside it)
  std::string stage;                // "thinker" (any text decoder), "talker", "code2wav"
  std::string dtype = "auto";       // auto: as the checkpoint stores it, 8-bit activations for quantised weights;
                                    // float32: weights and activations in F32 (slow, exact)
  std::string load_format = "auto"; // auto: the checkpoint's weights; dummy: random ones for a config.json
};

struct runner_options {
  std::int64_t kv_cache_bytes = 0; // 0: enough for max_num_seqs sequences of 1024 tokens, at most 224 MiB
  std::int32_t block_size = 16;
  std::int32_t max_num_seqs = 16;
  std::int32_t max_num_batched_tokens = 512;
  std::int32_t max_model_len = 0; // 0: the model's own
  unsigned max_threads = 0;       // 0: all of the pool
};

/// How a stage fits into a chain.
struct stage_ports {
  payload::kind reads;                  // from the stage before it; tokens: a prompt
  payload::kind hands_on;               // to the stage after it
  std::optional<payload::kind> answers; // what a client may be given: text or samples
};

/// The read-only half of a stage: weights and what the front end asks of them. Shared by the stage's replicas.
/// Immutable after loading, so any thread may use it.
class stage_model {
public:
  virtual ~stage_model() = default;
  /// A new runner with its own state. `pool` must outlive it.
  [[nodiscard]] virtual std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const = 0;
  [[nodiscard]] virtual stage_ports ports() const = 0;
  /// Text stages: tokenizer and chat template of the checkpoint; null otherwise (a template may be missing too).
  [[nodiscard]] virtual const text::tokenizer* tokenizer() const { return nullptr; }
  [[nodiscard]] virtual const text::chat_template* chat_template() const { return nullptr; }
  /// Text stages: whether prompts may bring sounds, pictures and videos (place_media).
  [[nodiscard]] virtual bool takes_media() const { return false; }
  /// Throws `input_error` for a medium that the model cannot take, whatever the prompt.
  virtual void check_media(const media_input&) const {}
  /// Text stages: a prompt whose template left one token in the place of each sound or picture, with as many tokens as
  /// it has rows in the place of each. Throws `input_error` for media that the model cannot take.
  [[nodiscard]] virtual placed_prompt place_media(std::vector<std::int32_t> prompt,
                                                  std::vector<std::shared_ptr<const media_input>> media) const;
  /// Voice stages: speakers by name, the default first; empty if the voice has no names.
  [[nodiscard]] virtual std::vector<std::string> speakers() const { return {}; }
  /// How the stage samples where a request says nothing.
  [[nodiscard]] virtual sampling_params default_sampling() const { return {}; }
  /// Hash over config and weights' names, shapes and a sample of their bytes; equal for the same checkpoint.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
};

/// The stages that a checkpoint has, in order: "thinker", "talker", "code2wav", or some of them. Reads no weights.
/// Throws `load_error`.
std::vector<std::string> stages_of(const std::filesystem::path& model);

/// Loads the part of a checkpoint that `spec` names; families are found in the registry (registry.cpp).
/// Throws `load_error` with one sentence: file, what was expected, what was found.
std::shared_ptr<const stage_model> load_stage_model(const stage_model_spec& spec);

/// Whether `spec.load_format` asks for random weights. Throws `load_error` for what is neither "auto" nor "dummy", and
/// for random weights of anything but a folder.
bool wants_dummy(const stage_model_spec& spec);

/// The weights of the Hugging Face folder `spec.model`, or random ones. Throws `load_error`.
std::shared_ptr<const checkpoint> open_weights(const stage_model_spec& spec);

} // namespace omni
