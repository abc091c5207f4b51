#include "kernels/weights/safetensors_header.hpp"

#include "kernels/weights/reject.hpp"

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace omni {
namespace {

using nlohmann::json;

std::optional<dtype> dtype_of(std::string_view name) {
  for (const auto type : {dtype::f32, dtype::f16, dtype::bf16, dtype::f64, dtype::i64, dtype::i32, dtype::i16,
                          dtype::i8, dtype::u8, dtype::boolean})
    if (info(type).name == name) return type;
  return std::nullopt;
}

/// Takes the header's JSON as a stream of events, so that nesting, repeated keys and other types than expected are seen
/// where they appear and nothing is stored that is not a tensor.
class header_events final : public nlohmann::json_sax<json> {
public:
  explicit header_events(const std::string& where) : where_(where) {}
  std::vector<tensor_entry> take_tensors() { return std::move(tensors_); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(number_integer_t value) override { unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { unexpected(shown(text)); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == place::shape)
      tensors_.back().extents.push_back(value);
    else if (place_ == place::offsets && offsets_++ < 2)
      (offsets_ == 1 ? tensors_.back().begin : tensors_.back().end) = value;
    else
      unexpected(std::to_string(value));
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == place::metadata) return true;
    if (place_ != place::type) unexpected("a string");
    const auto known = dtype_of(value);
    if (!known)
      reject(where_, "tensor " + shown(tensors_.back().name) + " has dtype " + shown(value) +
                         ", expected F64, F32, F16, BF16, I64, I32, I16, I8, U8 or BOOL");
    tensors_.back().type = *known;
    place_ = place::tensor;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == place::start)
      place_ = place::names;
    else if (place_ == place::name_read)
      place_ = in_metadata_ ? place::metadata : place::tensor;
    else
      unexpected("an object");
    return true;
  }

  bool key(string_t& value) override {
    if (place_ == place::names) {
      in_metadata_ = value == "__metadata__";
      place_ = place::name_read;
      if (!in_metadata_) begin_tensor(value);
    } else if (place_ == place::tensor) {
      begin_field(value);
    }
    return true;
  }

  bool end_object() override {
    if (place_ == place::tensor && !(has_type_ && has_shape_ && has_offsets_))
      reject_damaged(where_, "expected dtype, shape and data_offsets of tensor " + shown(tensors_.back().name) +
                                 ", found only some of them");
    place_ = place_ == place::names ? place::end : place::names;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == place::before_shape)
      place_ = place::shape;
    else if (place_ == place::before_offsets)
      place_ = place::offsets;
    else
      unexpected("an array");
    return true;
  }

  bool end_array() override {
    if (place_ == place::offsets && offsets_ != 2) unexpected("another number of offsets than two");
    place_ = place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    reject_damaged(where_, "expected JSON in the header, found an error at its byte " + std::to_string(position));
  }

private:
  /// What the next event belongs to.
  enum class place {
    start,
    names,
    name_read,
    metadata,
    tensor,
    type,
    before_shape,
    shape,
    before_offsets,
    offsets,
    end
  };

  [[noreturn]] void unexpected(const std::string& found) const {
    const std::string whose =
        tensors_.empty() ? "the header" : "the header at or after tensor " + shown(tensors_.back().name);
    reject_damaged(where_,
                   "expected a table of tensors with dtype, shape and data_offsets, found " + found + " in " + whose);
  }

  void begin_tensor(const std::string& name) {
    tensors_.emplace_back().name = name;
    has_type_ = has_shape_ = has_offsets_ = false;
    offsets_ = 0;
  }

  void begin_field(const std::string& name) {
    bool* seen = nullptr;
    if (name == "dtype") seen = &has_type_, place_ = place::type;
    if (name == "shape") seen = &has_shape_, place_ = place::before_shape;
    if (name == "data_offsets") seen = &has_offsets_, place_ = place::before_offsets;
    if (seen == nullptr || *seen) unexpected("a second or unknown field " + shown(name));
    *seen = true;
  }

  const std::string& where_;
  std::vector<tensor_entry> tensors_;
  place place_ = place::start;
  bool in_metadata_ = false;
  bool has_type_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offsets_ = 0; // read so far
};

void check_places(const safetensors_content& content, const std::string& where) {
  for (const auto& entry : content.tensors) {
    const auto needed = checked_bytes(where, entry);
    if (entry.begin > entry.end || entry.end > content.data.size())
      reject_damaged(where, "tensor " + shown(entry.name) + " lies at bytes " + std::to_string(entry.begin) + " to " +
                                std::to_string(entry.end) + ", but the file has " +
                                std::to_string(content.data.size()) + " bytes of tensors");
    if (entry.end - entry.begin != needed)
      reject_damaged(where, "expected " + std::to_string(needed) + " bytes for the shape of tensor " +
                                shown(entry.name) + ", found " + std::to_string(entry.end - entry.begin));
  }
  std::uint64_t covered = 0;
  for (const tensor_entry* entry : in_file_order(where, content.tensors)) {
    if (entry->begin != covered) reject_damaged(where, "a gap lies before the bytes of tensor " + shown(entry->name));
    covered = entry->end;
  }
  if (covered != content.data.size())
    reject_damaged(where, "expected " + std::to_string(covered) + " bytes of tensors, found " +
                              std::to_string(content.data.size()));
}

} // namespace

safetensors_content read_safetensors_header(std::span<const std::byte> bytes, const std::string& where) {
  constexpr std::uint64_t longest_header = 100'000'000;
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    reject_damaged(where, "expected the length of a safetensors header, found only " + std::to_string(bytes.size()) +
                              " bytes");
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto rest = bytes.subspan(sizeof length);
  if (length > longest_header || length > rest.size())
    reject_damaged(where, "expected a safetensors header of at most " +
                              std::to_string(std::min<std::uint64_t>(longest_header, rest.size())) +
                              " bytes, found a length of " + std::to_string(length));
  header_events events(where);
  const auto* text = reinterpret_cast<const char*>(rest.data());
  json::sax_parse(text, text + length, &events);
  safetensors_content content{events.take_tensors(), rest.subspan(length)};
  check_places(content, where);
  return content;
}

} // namespace omni
