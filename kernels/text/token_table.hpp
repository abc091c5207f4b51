#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace omni::text {

/// The tokens of a vocabulary by id, and those spelled in the byte alphabet by their bytes. Immutable; pointers into it
/// stay valid when it is moved.
class token_table {
public:
  static constexpr std::int32_t none = -1;

  struct token {
    std::string bytes;    // what it stands for in decoded text
    bool exists = false;  // ids may have gaps
    bool spelled = false; // its content is `bytes` in the byte alphabet, so BPE can make it
    bool special = false;
  };
  token_table() = default;
  /// `tokens[id]`; no two spelled ones may have the same bytes.
  explicit token_table(const std::vector<token>& tokens);

  /// One more than the largest id.
  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(flags_.size()); }
  [[nodiscard]] bool holds(std::int32_t id) const { return id >= 0 && id < size() && (flag(id) & exists_bit) != 0; }
  /// The bytes of token `id`, empty for an id that the table does not hold.
  [[nodiscard]] std::string_view bytes(std::int32_t id) const;
  [[nodiscard]] bool is_special(std::int32_t id) const { return holds(id) && (flag(id) & special_bit) != 0; }
  [[nodiscard]] bool is_spelled(std::int32_t id) const { return holds(id) && (flag(id) & spelled_bit) != 0; }
  /// The spelled token with these bytes, or `none`.
  [[nodiscard]] std::int32_t find(std::string_view bytes) const;

private:
  static constexpr std::uint8_t exists_bit = 1;
  static constexpr std::uint8_t spelled_bit = 2;
  static constexpr std::uint8_t special_bit = 4;
  struct slot {
    std::uint32_t hash;
    std::int32_t id; // none: free
  };
  [[nodiscard]] std::uint8_t flag(std::int32_t id) const { return flags_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t slot_of(std::string_view bytes, std::uint32_t hash) const;

  std::vector<char> blob_;
  std::vector<std::size_t> begin_; // of each token in blob_, and the end of the last
  std::vector<std::uint8_t> flags_;
  std::vector<slot> index_; // open addressing, a power of two, at most half full
};

} // namespace omni::text
