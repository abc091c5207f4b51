#pragma once

#include "kernels/runtime/sampling_params.hpp"
#include "kernels/text/detokenizer.hpp"
#include "kernels/text/stop_matcher.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace omni {

/// Makes text of one sequence's tokens as they come: whole characters only, and never a part of what may still become a
/// stop string. A stop string counts only if it lies wholly behind the first `min_tokens` tokens.
class text_stream {
public:
  struct piece {
    std::string text;
    std::optional<std::string> stopped_by; // this stop string ended the sequence
  };

  /// `tokenizer` must outlive this; null: there is no text.
  text_stream(const text::tokenizer* tokenizer, const sampling_params& sampling);

  /// The text that `token` adds. Nothing may follow a stop.
  piece push(std::int32_t token, bool may_stop);
  /// What was held back; the sequence has ended otherwise than by a stop string.
  std::string flush();

private:
  std::optional<text::detokenizer> tokens_;
  text::stop_matcher stops_;
  const std::vector<std::string>& stop_strings_; // the request's
};

} // namespace omni
