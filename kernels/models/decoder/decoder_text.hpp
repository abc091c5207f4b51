#pragma once

#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"
#include "kernels/weights/gguf_file.hpp"

#include <filesystem>
#include <memory>

namespace omni {

/// What turns text into a decoder's ids and messages into its prompts.
struct decoder_text {
  std::unique_ptr<const text::tokenizer> tokens;
  std::unique_ptr<const text::chat_template> chat; // null if the checkpoint has none
};

/// From tokenizer.json, and the template that `find_chat_template` finds beside it. Throws `load_error`.
decoder_text load_decoder_text(const std::filesystem::path& folder);
/// From `tokenizer.*` of the metadata.
decoder_text load_decoder_text(const gguf_file& file);

} // namespace omni
