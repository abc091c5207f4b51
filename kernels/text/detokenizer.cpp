#include "kernels/text/detokenizer.hpp"

#include "kernels/text/utf8.hpp"

#include <utility>

namespace omni::text {

std::string detokenizer::push(std::int32_t id) {
  std::string out;
  if (skip_special_ && model_->is_special(id)) return out;
  const std::string_view bytes = model_->token_bytes(id);
  if (pending_.empty()) {
    pending_ = bytes.substr(append_whole_characters(out, bytes));
  } else {
    pending_ += bytes;
    pending_.erase(0, append_whole_characters(out, pending_));
  }
  return out;
}

std::string detokenizer::flush() { return repaired_utf8(std::exchange(pending_, {})); }

} // namespace omni::text
