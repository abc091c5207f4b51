#include "kernels/weights/gguf_reader.hpp"

#include "kernels/weights/reject.hpp"

#include <bit>
#include <cstring>
#include <optional>

namespace omni {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers copy little-endian numbers");

using value_type = gguf_metadata::value_type;

constexpr std::size_t longest_key = 65535;
constexpr std::size_t longest_tensor_name = 64;
constexpr int deepest_array = 4;

/// Bytes of a value of fixed size; nothing for strings, arrays and unknown types.
std::optional<std::uint64_t> fixed_size(value_type type) {
  switch (type) {
  case value_type::u8:
  case value_type::i8:
  case value_type::boolean:
    return 1;
  case value_type::u16:
  case value_type::i16:
    return 2;
  case value_type::u32:
  case value_type::i32:
  case value_type::f32:
    return 4;
  case value_type::u64:
  case value_type::i64:
  case value_type::f64:
    return 8;
  default:
    return std::nullopt;
  }
}

/// Numbers of ggml's `enum ggml_type`.
std::optional<dtype> dtype_of(std::uint32_t number) {
  switch (number) {
  case 0:
    return dtype::f32;
  case 1:
    return dtype::f16;
  case 2:
    return dtype::q4_0;
  case 3:
    return dtype::q4_1;
  case 6:
    return dtype::q5_0;
  case 7:
    return dtype::q5_1;
  case 8:
    return dtype::q8_0;
  case 12:
    return dtype::q4_k;
  case 13:
    return dtype::q5_k;
  case 14:
    return dtype::q6_k;
  case 24:
    return dtype::i8;
  case 25:
    return dtype::i16;
  case 26:
    return dtype::i32;
  case 27:
    return dtype::i64;
  case 28:
    return dtype::f64;
  case 30:
    return dtype::bf16;
  default:
    return std::nullopt;
  }
}

/// Reads one file from front to back; every step checks what is left before it moves.
class part_reader {
public:
  part_reader(std::span<const std::byte> bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  gguf_part read() {
    read_magic_and_version();
    const auto tensors = number<std::uint64_t>("the number of tensors");
    const auto pairs = number<std::uint64_t>("the number of keys");
    // The smallest tensor takes 32 bytes of the table, the smallest pair 13.
    if (tensors > left() / 32 || pairs > left() / 13)
      reject_damaged(where_, "the header announces " + std::to_string(tensors) + " tensors and " +
                                 std::to_string(pairs) + " keys, more than " + std::to_string(bytes_.size()) +
                                 " bytes can hold");
    gguf_part part{gguf_metadata(where_), {}, {}};
    for (std::uint64_t i = 0; i < pairs; ++i) read_pair(part.metadata);
    part.tensors.reserve(tensors);
    for (std::uint64_t i = 0; i < tensors; ++i) part.tensors.push_back(read_tensor());
    place_tensors(part);
    return part;
  }

private:
  [[nodiscard]] std::uint64_t left() const { return bytes_.size() - at_; }

  std::span<const std::byte> take(std::uint64_t count, const char* what) {
    if (count > left())
      reject_damaged(where_, std::string("the file ends inside of ") + what + ": " + std::to_string(count) +
                                 " bytes are needed at byte " + std::to_string(at_) + ", " + std::to_string(left()) +
                                 " are left");
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  template <class T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
    return value;
  }

  std::string_view string(const char* what, std::uint64_t longest) {
    const auto length = number<std::uint64_t>(what);
    if (length > longest)
      reject_damaged(where_, std::string("expected ") + what + " of at most " + std::to_string(longest) +
                                 " bytes, found " + std::to_string(length) + " at byte " + std::to_string(at_));
    const auto text = take(length, what);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  void read_magic_and_version() {
    const auto magic = take(std::min<std::uint64_t>(4, left()), "the first four bytes");
    const std::string_view text(reinterpret_cast<const char*>(magic.data()), magic.size());
    if (text != "GGUF") reject(where_, "expected a GGUF file that begins with 'GGUF', found " + shown(text));
    const auto version = number<std::uint32_t>("the version");
    if (version != 2 && version != 3)
      reject(where_, "expected GGUF version 2 or 3 in little-endian order, found " + std::to_string(version) +
                         "; convert the model again with a current converter");
  }

  void read_pair(gguf_metadata& metadata) {
    const auto key = string("a key", longest_key);
    const auto type = static_cast<value_type>(number<std::uint32_t>("the type of a value"));
    gguf_metadata::value value{type, false, 1, {}};
    if (type == value_type::array) {
      value.is_array = true;
      value.type = static_cast<value_type>(number<std::uint32_t>("the type of an array"));
      value.count = number<std::uint64_t>("the length of an array");
    }
    const auto begin = at_;
    skip(key, value.type, value.count, 1);
    value.bytes = bytes_.subspan(begin, at_ - begin);
    metadata.add(key, value);
  }

  /// Moves past `count` values, checking each.
  void skip(std::string_view key, value_type type, std::uint64_t count, int depth) {
    if (const auto size = fixed_size(type)) {
      std::uint64_t bytes = 0;
      if (__builtin_mul_overflow(count, *size, &bytes)) bytes = UINT64_MAX;
      take(bytes, "the value of a key");
    } else if (type == value_type::string) {
      for (std::uint64_t i = 0; i < count; ++i) string("a text value", UINT64_MAX);
    } else if (type == value_type::array && depth < deepest_array) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto inner = static_cast<value_type>(number<std::uint32_t>("the type of an array"));
        const auto length = number<std::uint64_t>("the length of an array");
        skip(key, inner, length, depth + 1);
      }
    } else {
      reject_damaged(where_, "expected the value of key " + shown(key) +
                                 " to have one of the types 0 to 12 and arrays nested at most " +
                                 std::to_string(deepest_array) + " deep, found type " +
                                 std::to_string(static_cast<std::uint32_t>(type)));
    }
  }

  tensor_entry read_tensor() {
    tensor_entry entry;
    entry.name = string("a tensor name", longest_tensor_name);
    const auto axes = number<std::uint32_t>("a tensor's number of axes");
    if (axes < 1 || axes > 4)
      reject_damaged(where_,
                     "expected tensor " + shown(entry.name) + " to have 1 to 4 axes, found " + std::to_string(axes));
    entry.extents.resize(axes);
    for (std::uint32_t axis = 0; axis < axes; ++axis) { // the file's first axis is the fastest
      const auto extent = number<std::uint64_t>("the shape of a tensor");
      if (extent == 0) reject_damaged(where_, "tensor " + shown(entry.name) + " has an empty axis");
      entry.extents[axes - 1 - axis] = extent;
    }
    const auto type = number<std::uint32_t>("the type of a tensor");
    const auto known = dtype_of(type);
    if (!known)
      reject(
          where_,
          "tensor " + shown(entry.name) + " has GGML type " + std::to_string(type) +
              ", expected F32, F16, BF16, F64, I8 to I64, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K or Q6_K; use a file "
              "quantised to one of these");
    entry.type = *known;
    entry.begin = number<std::uint64_t>("the place of a tensor");
    return entry;
  }

  void place_tensors(gguf_part& part) {
    const auto alignment = static_cast<std::uint64_t>(
        part.metadata.find_int("general.alignment", {1, std::int64_t{1} << 20}).value_or(32));
    if (!std::has_single_bit(alignment))
      reject_damaged(where_, "expected general.alignment to be a power of two, found " + std::to_string(alignment));
    if (part.tensors.empty()) return; // then nothing need follow the table, not even the padding
    take((alignment - at_ % alignment) % alignment, "the padding before the tensors");
    part.data = bytes_.subspan(at_);
    for (auto& entry : part.tensors) {
      const auto bytes = checked_bytes(where_, entry);
      if (entry.begin % alignment != 0)
        reject_damaged(where_, "expected tensor " + shown(entry.name) + " at a multiple of " +
                                   std::to_string(alignment) + " bytes, found it at " + std::to_string(entry.begin));
      if (entry.begin > part.data.size() || bytes > part.data.size() - entry.begin)
        reject_damaged(where_, "tensor " + shown(entry.name) + " takes " + std::to_string(bytes) + " bytes at " +
                                   std::to_string(entry.begin) + ", but the file has only " +
                                   std::to_string(part.data.size()) + " bytes of tensors");
      entry.end = entry.begin + bytes;
    }
    in_file_order(where_, part.tensors);
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  std::uint64_t at_ = 0;
};

} // namespace

gguf_part read_gguf_part(std::span<const std::byte> bytes, const std::string& where) {
  return part_reader(bytes, where).read();
}

} // namespace omni
