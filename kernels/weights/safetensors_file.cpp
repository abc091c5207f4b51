#include "kernels/weights/safetensors_file.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/hf_config.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/safetensors_header.hpp"

namespace omni {
namespace {

std::shared_ptr<const safetensors_file> open_one(const std::filesystem::path& path) {
  const auto mapped = mapped_file::open(path);
  return safetensors_file::parse(mapped->bytes(), path.string(), mapped);
}

} // namespace

std::shared_ptr<const safetensors_file> safetensors_file::parse(std::span<const std::byte> bytes, std::string where,
                                                                std::shared_ptr<const void> owner) {
  const auto content = read_safetensors_header(bytes, where);
  std::shared_ptr<safetensors_file> file(new safetensors_file(std::move(where)));
  file->keep(std::move(owner));
  for (const auto& entry : content.tensors) file->add(entry.name, view_of(entry, content.data.data() + entry.begin));
  return file;
}

std::shared_ptr<const safetensors_file> safetensors_file::open(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code unreadable; // then mapping says why
  if (!fs::is_directory(path, unreadable)) return open_one(path);
  if (const auto single = path / "model.safetensors"; fs::exists(single, unreadable)) return open_one(single);
  const auto index = path / "model.safetensors.index.json";
  if (!fs::exists(index, unreadable))
    reject(path.string(), "expected model.safetensors or model.safetensors.index.json in this folder, found neither");
  return open_shards(path, index);
}

std::shared_ptr<const safetensors_file> safetensors_file::open_shards(const std::filesystem::path& folder,
                                                                      const std::filesystem::path& index) {
  const auto weight_map = hf_config::load(index).child("weight_map");
  std::shared_ptr<safetensors_file> all(new safetensors_file(folder.string()));
  std::map<std::string, std::shared_ptr<const safetensors_file>> shards;
  for (const auto& name : weight_map.keys()) {
    const auto shard_name = weight_map.required_string(name);
    if (shard_name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos ||
        !shard_name.ends_with(".safetensors"))
      reject(index.string(), "expected a .safetensors file of the same folder for tensor " + shown(name) + ", found " +
                                 shown(shard_name));
    auto& shard = shards[shard_name];
    if (!shard) {
      shard = open_one(folder / shard_name);
      all->keep(shard);
    }
    const auto view = shard->find(name);
    if (!view)
      reject(shard->where(),
             "expected tensor " + shown(name) + ", which the index lists for this file, found none of that name");
    all->add(name, *view);
  }
  return all;
}

} // namespace omni
