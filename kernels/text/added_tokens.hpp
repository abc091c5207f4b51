#pragma once

#include "kernels/text/marked_text.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace omni::text {

/// A token that is found in the text as it stands, before any cutting and merging.
struct added_token {
  std::int32_t id = 0;
  std::string content;      // valid UTF-8, not empty
  bool special = false;     // control token: never made from marked text, left out of text shown to people
  bool single_word = false; // only where no word character touches it
  bool lstrip = false;      // swallows white space on its left
  bool rstrip = false;      // swallows white space on its right
  bool normalized = false;  // looked for in the normalised text instead of the raw one
};

/// Finds added tokens in text: leftmost first, the longest at each place. Immutable.
class added_token_finder {
public:
  static constexpr std::size_t max_content_bytes = 1024; // bounds the work per place

  void add(const added_token& token);

  /// Calls `piece` for each stretch without token and `token` for each token found, in order. A special token is found
  /// only where none of its bytes is marked.
  void split(marked_view text, const std::function<void(marked_view)>& piece,
             const std::function<void(std::int32_t)>& token) const;

private:
  struct rule {
    std::int32_t id;
    bool special;
    bool single_word;
    bool lstrip;
    bool rstrip;
  };
  struct found {
    const rule* token;
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] std::optional<found> longest_at(marked_view text, std::size_t at) const;

  std::unordered_map<std::uint64_t, std::uint32_t> edges_; // node << 8 | byte -> node
  std::vector<std::optional<rule>> nodes_ = std::vector<std::optional<rule>>(1);
  bool first_byte_[256] = {};
};

} // namespace omni::text
