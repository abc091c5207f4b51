#include "kernels/core/error.hpp"
#include "kernels/weights/gguf_file.hpp"
#include "test/fuzz/read_values.hpp"

#include <cstdint>

/// A file is refused with `load_error` or every tensor and every key of it can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni;
  try {
    const auto file = gguf_file::parse(std::as_bytes(std::span(data, size)), "input");
    fuzz::read_values(*file);
    const auto& metadata = file->metadata();
    (void)metadata.find_string("general.architecture");
    (void)metadata.find_strings("tokenizer.ggml.tokens");
    (void)metadata.find_ints("tokenizer.ggml.token_type");
    (void)metadata.find_floats("tokenizer.ggml.scores");
    (void)metadata.find_int("llama.block_count");
    (void)metadata.find_float("llama.rope.freq_base");
    (void)metadata.find_bool("tokenizer.ggml.add_bos_token");
  } catch (const load_error&) {}
  return 0;
}
