#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omni::test {

/// Writes ONNX models: initializers of F32 and nodes with integer attributes. Layout: onnx `onnx.proto`.
class onnx_writer {
public:
  using ints = std::vector<std::int64_t>;
  struct attribute {
    std::string name;
    ints values; // one: an integer, unless `list`
    bool list = true;
  };

  void input(std::string_view name) { field(graph_, 11, message().bytes(1, name)); }
  void output(std::string_view name) { field(graph_, 12, message().bytes(1, name)); }

  void initializer(std::string_view name, const ints& dims, std::span<const float> values) {
    message tensor;
    for (const auto extent : dims) tensor.number(1, static_cast<std::uint64_t>(extent));
    tensor.number(2, 1).bytes(8, name);
    tensor.bytes(9, std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
    field(graph_, 5, tensor);
  }

  void node(std::string_view op, std::string_view name, const std::vector<std::string>& inputs, std::string_view output,
            const std::vector<attribute>& attributes = {}) {
    message out;
    for (const auto& each : inputs) out.bytes(1, each);
    out.bytes(2, output).bytes(3, name).bytes(4, op);
    for (const auto& each : attributes) {
      message a;
      a.bytes(1, each.name);
      for (const auto value : each.values) a.number(each.list ? 8 : 3, static_cast<std::uint64_t>(value));
      a.number(20, each.list ? 7 : 2);
      out.bytes(5, a.text);
    }
    field(graph_, 1, out);
  }

  [[nodiscard]] std::string text() const { return message().number(1, 8).bytes(7, graph_.text).text; }

private:
  struct message {
    std::string text;
    message& varint(std::uint64_t value) {
      for (; value > 127; value >>= 7) text += static_cast<char>(value | 0x80);
      text += static_cast<char>(value);
      return *this;
    }
    message& number(std::uint64_t id, std::uint64_t value) { return varint(id << 3).varint(value); }
    message& bytes(std::uint64_t id, std::string_view value) {
      varint(id << 3 | 2).varint(value.size());
      text += value;
      return *this;
    }
  };
  static void field(message& to, std::uint64_t id, const message& what) { to.bytes(id, what.text); }

  message graph_;
};

} // namespace omni::test
