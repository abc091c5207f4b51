#include "kernels/weights/onnx_reader.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/protobuf_reader.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/tensor_layout.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_set>

namespace omni {
namespace {

namespace fs = std::filesystem;

/// Nodes, attributes and initializers of one file together; each costs far more memory than the two bytes it may take.
constexpr std::size_t most_parts = 1'000'000;

/// Numbers of `TensorProto.DataType`.
std::optional<dtype> dtype_of(std::int64_t number) {
  switch (number) {
  case 1:
    return dtype::f32;
  case 2:
    return dtype::u8;
  case 3:
    return dtype::i8;
  case 5:
    return dtype::i16;
  case 6:
    return dtype::i32;
  case 7:
    return dtype::i64;
  case 9:
    return dtype::boolean;
  case 10:
    return dtype::f16;
  case 11:
    return dtype::f64;
  case 16:
    return dtype::bf16;
  default:
    return std::nullopt;
  }
}

/// A TensorProto's fields as they lie in the file.
struct tensor_fields {
  tensor_entry entry;
  std::int64_t data_type = 0;
  bool external = false;
  std::vector<std::span<const std::byte>> data; // raw_data, or pieces of float_data or double_data
  std::vector<std::int64_t> numbers;            // int32_data and int64_data
  std::string_view location;                    // of external data
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

class model_reader {
public:
  model_reader(const std::string& where, const fs::path& folder) : where_(where), folder_(folder) {}

  onnx_model read(std::span<const std::byte> bytes) {
    bool has_graph = false;
    for (protobuf_reader message(bytes, where_); message.next();) {
      if (message.field() != 7) continue; // ModelProto.graph
      if (has_graph) reject_damaged(where_, "expected one ONNX graph, found two");
      has_graph = true;
      read_graph(message.message());
    }
    if (!has_graph) reject_damaged(where_, "expected an ONNX model with a graph, found none");
    drop_inputs_with_values();
    return std::move(model_);
  }

private:
  void read_graph(protobuf_reader graph) {
    while (graph.next()) {
      switch (graph.field()) {
      case 1:
        read_node(graph.message());
        break;
      case 5: {
        auto fields = read_tensor_fields(graph.message());
        if (fields.entry.name.empty()) reject_damaged(where_, "an ONNX initializer has no name");
        count_part();
        const auto values = values_of(fields);
        model_.initializers.emplace_back(std::move(fields.entry.name), values);
        break;
      }
      case 11:
        model_.inputs.push_back(read_value_name(graph.message()));
        break;
      case 12:
        model_.outputs.push_back(read_value_name(graph.message()));
        break;
      default:
        break;
      }
    }
  }

  void read_node(protobuf_reader message) {
    count_part();
    auto& node = model_.nodes.emplace_back();
    while (message.next()) {
      switch (message.field()) {
      case 1:
        node.inputs.push_back(message.string());
        break;
      case 2:
        node.outputs.push_back(message.string());
        break;
      case 3:
        node.name = message.string();
        break;
      case 4:
        node.op_type = message.string();
        break;
      case 5:
        node.attributes.push_back(read_attribute(message.message()));
        break;
      default:
        break;
      }
    }
  }

  onnx_attribute read_attribute(protobuf_reader message) {
    count_part();
    onnx_attribute attribute;
    while (message.next()) {
      switch (message.field()) {
      case 1:
        attribute.name = message.string();
        break;
      case 2:
        attribute.f = message.float32();
        break;
      case 3:
        attribute.i = message.int64();
        break;
      case 4:
        attribute.s = message.string();
        break;
      case 5:
        attribute.t = values_of(read_tensor_fields(message.message()));
        break;
      case 7:
        read_floats(message, attribute.floats);
        break;
      case 8:
        message.each_int64([&](std::int64_t value) { attribute.ints.push_back(value); });
        break;
      default:
        break;
      }
    }
    return attribute;
  }

  void read_floats(const protobuf_reader& field, std::vector<float>& floats) {
    if (!field.is_bytes()) return floats.push_back(field.float32());
    const auto packed = field.bytes();
    if (packed.size() % sizeof(float) != 0)
      reject_damaged(where_, "expected packed floats, found " + std::to_string(packed.size()) + " bytes");
    const auto before = floats.size();
    floats.resize(before + packed.size() / sizeof(float));
    if (!packed.empty()) std::memcpy(floats.data() + before, packed.data(), packed.size());
  }

  static std::string_view read_value_name(protobuf_reader message) {
    std::string_view name;
    while (message.next())
      if (message.field() == 1) name = message.string();
    return name;
  }

  tensor_fields read_tensor_fields(protobuf_reader message) {
    tensor_fields fields;
    while (message.next()) {
      switch (message.field()) {
      case 1:
        message.each_int64(
            [&](std::int64_t extent) { fields.entry.extents.push_back(static_cast<std::uint64_t>(extent)); });
        break;
      case 2:
        fields.data_type = message.int64();
        break;
      case 4:
      case 10:
        fields.data.push_back(message.raw_numbers());
        break;
      case 5:
      case 7:
        message.each_int64([&](std::int64_t value) { fields.numbers.push_back(value); });
        break;
      case 8:
        fields.entry.name = std::string(message.string());
        break;
      case 9:
        fields.data.push_back(message.bytes());
        break;
      case 13:
        read_external(message.message(), fields);
        break;
      case 14:
        fields.external = message.int64() == 1;
        break;
      default:
        break;
      }
    }
    return fields;
  }

  void read_external(protobuf_reader message, tensor_fields& fields) {
    std::string_view key;
    std::string_view value;
    while (message.next()) {
      if (message.field() == 1) key = message.string();
      if (message.field() == 2) value = message.string();
    }
    if (key == "location") fields.location = value;
    if (key == "offset") fields.offset = parse_size(value);
    if (key == "length") fields.length = parse_size(value);
  }

  std::uint64_t parse_size(std::string_view text) {
    std::uint64_t size = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (problem != std::errc() || end != text.data() + text.size())
      reject_damaged(where_, "expected an offset or length of external data, found " + shown(text));
    return size;
  }

  tensor values_of(tensor_fields& fields) {
    auto& entry = fields.entry;
    const auto known = dtype_of(fields.data_type);
    if (!known)
      reject(where_, "tensor " + shown(entry.name) + " has ONNX data type " + std::to_string(fields.data_type) +
                         ", expected a float or a signed integer type");
    entry.type = *known;
    const auto needed = checked_bytes(where_, entry);
    std::span<const std::byte> data;
    if (fields.external)
      data = external_data(fields, needed);
    else if (!fields.numbers.empty())
      data = narrow(fields, needed);
    else if (fields.data.size() == 1)
      data = fields.data[0];
    else
      data = join(fields, needed);
    if (data.size() != needed)
      reject_damaged(where_, "expected " + std::to_string(needed) + " bytes for the shape of tensor " +
                                 shown(entry.name) + ", found " + std::to_string(data.size()));
    return view_of(entry, data.data());
  }
  tensor values_of(tensor_fields&& fields) { return values_of(fields); }

  /// Memory of our own for numbers that do not lie in the file as an array.
  std::byte* own(std::uint64_t bytes) {
    auto memory = std::make_shared<std::vector<std::byte>>(bytes);
    model_.owners.push_back(memory);
    return memory->data();
  }

  std::span<const std::byte> join(const tensor_fields& fields, std::uint64_t needed) {
    std::uint64_t total = 0;
    for (const auto& piece : fields.data) total += piece.size();
    if (total != needed || needed == 0) return {static_cast<const std::byte*>(nullptr), total};
    std::byte* const memory = own(needed);
    std::byte* to = memory;
    for (const auto& piece : fields.data) to = std::copy(piece.begin(), piece.end(), to);
    return {memory, needed};
  }

  /// int32_data and int64_data hold one varint for each value of every narrower type (halves as their bits).
  std::span<const std::byte> narrow(const tensor_fields& fields, std::uint64_t needed) {
    const auto width = static_cast<std::size_t>(info(fields.entry.type).block_bytes);
    const bool integral = fields.entry.type != dtype::f32 && fields.entry.type != dtype::f64;
    if (!integral || !fields.data.empty() || fields.numbers.size() * width != needed)
      reject_damaged(where_, "expected " + std::to_string(needed / width) + " values of tensor " +
                                 shown(fields.entry.name) + ", found " + std::to_string(fields.numbers.size()) +
                                 " or others of another type");
    std::byte* const memory = own(needed);
    for (std::size_t i = 0; i < fields.numbers.size(); ++i) std::memcpy(memory + i * width, &fields.numbers[i], width);
    return {memory, needed};
  }

  std::span<const std::byte> external_data(const tensor_fields& fields, std::uint64_t needed) {
    const auto& file = external_file(fields);
    const auto bytes = file.bytes();
    const auto length = fields.length.value_or(needed);
    if (fields.offset > bytes.size() || length > bytes.size() - fields.offset)
      reject_damaged(file.path().string(), "tensor " + shown(fields.entry.name) + " takes " + std::to_string(length) +
                                               " bytes at " + std::to_string(fields.offset) +
                                               ", but the file has only " + std::to_string(bytes.size()));
    return bytes.subspan(fields.offset, length);
  }

  /// Maps the file once. A file outside of the model's folder is refused, also one reached through links.
  const mapped_file& external_file(const tensor_fields& fields) {
    const auto known = files_.find(fields.location);
    if (known != files_.end()) return *known->second;
    const fs::path relative(fields.location);
    const bool climbs = std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (folder_.empty() || relative.empty() || relative.is_absolute() || climbs ||
        fields.location.find('\0') != std::string_view::npos)
      reject(where_, "expected the data of tensor " + shown(fields.entry.name) +
                         " in a file of the model's folder, found " + shown(fields.location));
    std::error_code problem;
    const auto folder = fs::canonical(folder_, problem);
    const auto path = problem ? fs::path() : fs::weakly_canonical(folder_ / relative, problem);
    const auto common = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (problem || common.first != folder.end())
      reject(where_, "expected the data of tensor " + shown(fields.entry.name) +
                         " in a file of the model's folder, found a link out of it, " + shown(fields.location));
    auto mapped = mapped_file::open(path);
    model_.owners.push_back(mapped);
    return *files_.emplace(fields.location, std::move(mapped)).first->second;
  }

  void drop_inputs_with_values() {
    std::unordered_set<std::string_view> valued;
    for (const auto& [name, values] : model_.initializers) valued.insert(name);
    std::erase_if(model_.inputs, [&](std::string_view name) { return valued.contains(name); });
  }

  void count_part() {
    if (++parts_ > most_parts)
      reject(where_,
             "expected at most " + std::to_string(most_parts) + " nodes, attributes and initializers, found more");
  }

  const std::string& where_;
  const fs::path& folder_;
  onnx_model model_;
  std::map<std::string_view, std::shared_ptr<const mapped_file>> files_;
  std::size_t parts_ = 0;
};

} // namespace

onnx_model read_onnx_model(std::span<const std::byte> bytes, const std::string& where,
                           const std::filesystem::path& folder) {
  return model_reader(where, folder).read(bytes);
}

} // namespace omni
