#include "test/support/golden_case.hpp"

#include "kernels/core/error.hpp"
#include "kernels/weights/convert.hpp"
#include "test/support/golden.hpp"

#include <cstring>
#include <fstream>

namespace omni::test {
namespace {

tensor wanted(const safetensors_file& file, const std::string& name) {
  const auto found = file.find(name);
  if (!found) throw load_error(file.where() + ": expected a tensor '" + name + "', found none of that name.");
  return *found;
}

template <class T>
std::vector<T> copy(const safetensors_file& file, const std::string& name, dtype type) {
  const auto view = wanted(file, name);
  if (view.type != type)
    throw load_error(file.where() + ": expected tensor '" + name + "' of type " + std::string(info(type).name) +
                     ", found " + std::string(info(view.type).name) + ".");
  std::vector<T> values(static_cast<std::size_t>(view.values()));
  if (!values.empty()) std::memcpy(values.data(), view.data, values.size() * sizeof(T));
  return values;
}

} // namespace

golden_case::golden_case(const std::filesystem::path& path) : name_(path.stem().string()) {
  auto beside = path;
  tensors_ = safetensors_file::open(beside.replace_extension(".safetensors"));
  std::ifstream text(beside.replace_extension(".json"));
  if (!text) throw load_error("Cannot open " + beside.string() + ".");
  json_ = nlohmann::json::parse(text);
}

shape golden_case::extents(const std::string& tensor_name) const { return wanted(*tensors_, tensor_name).extents; }

std::vector<float> golden_case::f32(const std::string& tensor_name) const {
  return copy<float>(*tensors_, tensor_name, dtype::f32);
}

std::vector<std::int32_t> golden_case::i32(const std::string& tensor_name) const {
  return copy<std::int32_t>(*tensors_, tensor_name, dtype::i32);
}

std::vector<std::uint8_t> golden_case::u8(const std::string& tensor_name) const {
  return copy<std::uint8_t>(*tensors_, tensor_name, dtype::u8);
}

std::vector<golden_case> golden_cases(const std::string& folder, const std::string& prefix) {
  std::vector<golden_case> cases;
  for (const auto& path : golden_files(folder, ".safetensors"))
    if (path.filename().string().starts_with(prefix)) cases.emplace_back(path);
  if (cases.empty()) throw load_error("No case " + prefix + "* in " + (golden_dir() / folder).string() + ".");
  return cases;
}

} // namespace omni::test
