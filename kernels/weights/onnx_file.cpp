#include "kernels/weights/onnx_file.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/onnx_reader.hpp"

#include <algorithm>

namespace omni {
namespace {

template <class Values>
bool contains(const Values& values, std::string_view wanted) {
  return std::find(values.begin(), values.end(), wanted) != values.end();
}

bool is_convolution(const onnx_node& node) { return node.op_type == "Conv" || node.op_type == "ConvTranspose"; }

} // namespace

const onnx_attribute* onnx_node::find_attribute(std::string_view wanted) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& x) { return x.name == wanted; });
  return found == attributes.end() ? nullptr : &*found;
}

onnx_file::onnx_file(std::string where, onnx_model model)
    : mapped_checkpoint(std::move(where)), nodes_(std::move(model.nodes)), inputs_(std::move(model.inputs)),
      outputs_(std::move(model.outputs)) {
  for (auto& owner : model.owners) keep(std::move(owner));
  for (auto& [name, values] : model.initializers) add(std::move(name), values);
}

std::shared_ptr<const onnx_file> onnx_file::parse(std::span<const std::byte> bytes, std::string where,
                                                  std::shared_ptr<const void> owner) {
  auto model = read_onnx_model(bytes, where, {});
  model.owners.push_back(std::move(owner));
  return std::shared_ptr<onnx_file>(new onnx_file(std::move(where), std::move(model)));
}

std::shared_ptr<const onnx_file> onnx_file::open(const std::filesystem::path& path) {
  const auto mapped = mapped_file::open(path);
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  auto model = read_onnx_model(mapped->bytes(), path.string(), folder);
  model.owners.push_back(mapped);
  return std::shared_ptr<onnx_file>(new onnx_file(path.string(), std::move(model)));
}

std::optional<tensor> onnx_file::find(std::string_view name) const {
  if (const auto direct = mapped_checkpoint::find(name)) return direct;
  const auto source = resolve(name);
  if (const auto resolved = mapped_checkpoint::find(source)) return resolved;
  const onnx_node* maker = producer(source);
  if (maker == nullptr || maker->op_type != "Constant") return std::nullopt;
  const onnx_attribute* value = maker->find_attribute("value");
  return value == nullptr ? std::nullopt : value->t;
}

const onnx_node* onnx_file::find_node(std::string_view name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node.name == name; });
  return found == nodes_.end() ? nullptr : &*found;
}

const onnx_node* onnx_file::producer(std::string_view value) const {
  if (value.empty()) return nullptr;
  const auto found =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return contains(node.outputs, value); });
  return found == nodes_.end() ? nullptr : &*found;
}

std::vector<const onnx_node*> onnx_file::consumers(std::string_view value) const {
  std::vector<const onnx_node*> readers;
  for (const auto& node : nodes_)
    if (!value.empty() && contains(node.inputs, value)) readers.push_back(&node);
  return readers;
}

std::string_view onnx_file::resolve(std::string_view value) const {
  constexpr int longest_chain = 16; // a damaged graph may go in circles
  for (int step = 0; step < longest_chain; ++step) {
    const onnx_node* maker = producer(value);
    if (maker == nullptr || maker->op_type != "Identity" || maker->inputs.size() != 1) return value;
    value = maker->inputs[0];
  }
  return value;
}

const onnx_node* onnx_file::find_conv_by_bias(std::string_view bias) const {
  const auto only = [&](auto matches) {
    const onnx_node* found = nullptr;
    for (const auto& node : nodes_) {
      if (!is_convolution(node) || node.inputs.size() < 3 || !matches(node.inputs[2])) continue;
      if (found != nullptr) return std::pair{static_cast<const onnx_node*>(nullptr), true};
      found = &node;
    }
    return std::pair{found, found != nullptr};
  };
  if (const auto [node, any] = only([&](std::string_view input) { return input == bias; }); any) return node;
  const auto source = resolve(bias);
  return only([&](std::string_view input) { return !input.empty() && resolve(input) == source; }).first;
}

std::optional<std::string_view> onnx_file::find_gather_table(std::string_view index) const {
  std::vector<std::string_view> same{index}; // values that equal the input, in the order they were found
  for (std::size_t i = 0; i < same.size(); ++i) {
    for (const onnx_node* node : consumers(same[i])) {
      if (node->op_type == "Gather" && node->inputs.size() == 2 && node->inputs[1] == same[i] && find(node->inputs[0]))
        return node->inputs[0];
      const bool passes_on = node->op_type == "Identity" || node->op_type == "Cast";
      if (passes_on && node->outputs.size() == 1 && !contains(same, node->outputs[0])) same.push_back(node->outputs[0]);
    }
  }
  return std::nullopt;
}

} // namespace omni
