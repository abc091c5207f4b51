#include "kernels/models/vits/voice_graph.hpp"

#include "kernels/weights/convert.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni::vits {
namespace {

// Far above any voice; they keep sums of sizes from overflowing.
constexpr std::int64_t most_channels = 1 << 12;
constexpr std::int64_t most_taps = 1 << 8;

/// "[192, any, 1]": 0 stands for any.
std::string text_of(std::initializer_list<std::int64_t> extents) {
  std::string text;
  for (const auto extent : extents) {
    text += text.empty() ? "[" : ", ";
    text += extent > 0 ? std::to_string(extent) : "any";
  }
  return text + "]";
}

/// "dec.ups.0" is exported from the scope "/dec/ups.0".
std::string address_of(const std::string& module) {
  std::string address = "/";
  for (std::size_t i = 0; i < module.size(); ++i) {
    const bool index_follows = i + 1 < module.size() && module[i + 1] >= '0' && module[i + 1] <= '9';
    address += module[i] == '.' && !index_follows ? '/' : module[i];
  }
  return address;
}

std::int64_t first_int(const onnx_node& node, std::string_view name, std::size_t at, std::int64_t fallback) {
  const auto* attribute = node.find_attribute(name);
  return attribute != nullptr && attribute->ints.size() > at ? attribute->ints[at] : fallback;
}

bool is_convolution(const onnx_node& node) { return node.op_type == "Conv" || node.op_type == "ConvTranspose"; }

} // namespace

voice_graph::voice_graph(std::shared_ptr<const onnx_file> file) : file_(std::move(file)) {}

void voice_graph::reject(const std::string& problem) const { omni::reject(where(), problem); }

const onnx_node* voice_graph::find_conv_node(const std::string& module) const {
  if (const auto* node = file_->find_conv_by_bias(module + ".bias")) return node;
  for (const auto* node : file_->consumers(module + ".weight"))
    if (is_convolution(*node) && node->inputs.size() >= 2 && node->inputs[1] == module + ".weight") return node;
  for (const char* op : {"/Conv", "/ConvTranspose"})
    if (const auto* node = file_->find_node(address_of(module) + op); node != nullptr && is_convolution(*node))
      return node;
  return nullptr;
}

bool voice_graph::has_conv(const std::string& module) const { return find_conv_node(module) != nullptr; }

std::int64_t voice_graph::count_convs(const std::string& before, const std::string& after) const {
  constexpr std::int64_t most = 256;
  std::int64_t count = 0;
  while (count < most && has_conv(before + std::to_string(count) + after)) ++count;
  return count;
}

conv_source voice_graph::conv(const std::string& module) const {
  const auto* node = find_conv_node(module);
  if (node == nullptr)
    reject("the graph has no convolution \"" + module + "\", which a Piper voice must have: is it a Piper voice?");
  return read(*node, module);
}

conv_source voice_graph::last_conv(const std::string& module) const {
  if (const auto* node = find_conv_node(module)) return read(*node, module);
  const auto& nodes = file_->nodes();
  const auto last = std::find_if(nodes.rbegin(), nodes.rend(), [](const auto& node) { return node.op_type == "Conv"; });
  if (last == nodes.rend()) reject("the graph has no convolution: is it a Piper voice?");
  return read(*last, module);
}

conv_source voice_graph::read(const onnx_node& node, const std::string& module) const {
  const auto weight = node.inputs.size() >= 2 ? file_->find(node.inputs[1]) : std::nullopt;
  if (!weight) reject("the weight of \"" + module + "\" is not stored in the file");
  if (weight->extents.rank() != 3 || weight->values() == 0)
    reject("the weight of \"" + module + "\" is " + to_string(weight->extents) + ", three axes were expected");
  if (std::max((*weight)[0], (*weight)[1]) > most_channels || (*weight)[2] > most_taps)
    reject("the weight of \"" + module + "\" is " + to_string(weight->extents) + ", larger than any voice's");
  if (is_block_quantised(weight->type)) reject("the weight of \"" + module + "\" is not stored as plain numbers");
  conv_source source;
  source.module = module;
  source.extents = weight->extents;
  source.weight.resize(static_cast<std::size_t>(weight->values()));
  read_f32(*weight, source.weight);
  source.stride = first_int(node, "strides", 0, 1);
  source.dilation = first_int(node, "dilations", 0, 1);
  source.pad_left = first_int(node, "pads", 0, 0);
  source.pad_right = first_int(node, "pads", 1, 0);
  if (const auto* group = node.find_attribute("group")) source.groups = group->i;
  if (source.stride < 1 || source.dilation < 1 || source.groups < 1 || source.pad_left < 0 || source.pad_right < 0 ||
      std::max({source.stride, source.dilation, source.groups, source.pad_left, source.pad_right}) > most_channels)
    reject("stride, dilation, group or pads of \"" + module + "\" are out of range");
  if (node.inputs.size() < 3 || node.inputs[2].empty()) return source;
  const auto bias = file_->find(node.inputs[2]);
  const auto out = node.op_type == "Conv" ? source.extents[0] : source.extents[1] * source.groups;
  if (!bias || bias->values() != out)
    reject("the bias of \"" + module + "\" must be stored and have " + std::to_string(out) + " values");
  source.bias.resize(static_cast<std::size_t>(out));
  read_f32(*bias, source.bias);
  return source;
}

std::vector<float> voice_graph::values(const std::string& name, std::int64_t count) const {
  const auto found = file_->find(name);
  if (!found) reject("the tensor \"" + name + "\" is missing");
  if (found->values() != count || is_block_quantised(found->type))
    reject("the tensor \"" + name + "\" is " + to_string(found->extents) + ", " + std::to_string(count) +
           " plain numbers were expected");
  std::vector<float> numbers(static_cast<std::size_t>(count));
  read_f32(*found, numbers);
  return numbers;
}

std::optional<tensor> voice_graph::find_table(std::string_view index, const std::string& name) const {
  const auto read_by_input = file_->find_gather_table(index);
  auto table = read_by_input ? file_->find(*read_by_input) : file_->find(name);
  if (!table) return std::nullopt;
  if (table->extents.rank() != 2 || table->values() == 0 || table->columns() > most_channels ||
      table->rows() > (1 << 20) || is_block_quantised(table->type))
    reject("the table \"" + name + "\" is " + to_string(table->extents) + ", rows of numbers were expected");
  return table;
}

conv_weights pack_same(const voice_graph& graph, const conv_source& source, std::int64_t out, std::int64_t in) {
  const auto& have = source.extents;
  if ((out > 0 && have[0] != out) || (in > 0 && have[1] != in) || source.groups != 1 || source.stride != 1)
    graph.reject("the weight of \"" + source.module + "\" is " + to_string(have) + ", expected " +
                 text_of({out, in, 0}) + " with stride 1 and one group");
  if (source.dilation * (have[2] - 1) > most_channels)
    graph.reject("the convolution \"" + source.module + "\" reaches further than any voice's");
  return pack_conv(source.weight, source.bias, have, source.dilation);
}

conv_weights load_same(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t in,
                       std::int64_t kernel) {
  const auto source = graph.conv(module);
  if (kernel > 0 && source.extents[2] != kernel)
    graph.reject("the weight of \"" + module + "\" is " + to_string(source.extents) + ", expected " +
                 text_of({out, in, kernel}));
  return pack_same(graph, source, out, in);
}

conv_weights load_1x1(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t in) {
  return load_same(graph, module, out, in, 1);
}

norm_weights load_norm(const voice_graph& graph, const std::string& module, std::int64_t channels) {
  return {graph.values(module + ".gamma", channels), graph.values(module + ".beta", channels)};
}

} // namespace omni::vits
