#pragma once

#include "kernels/weights/checkpoint.hpp"

#include <span>

namespace omni {

/// A safetensors checkpoint: one file, or a Hugging Face folder with model.safetensors, or with
/// model.safetensors.index.json and the shards it lists. Layout: huggingface/safetensors `README.md`.
class safetensors_file final : public mapped_checkpoint {
public:
  /// Maps a .safetensors file or a folder. Throws `load_error`.
  static std::shared_ptr<const safetensors_file> open(const std::filesystem::path& path);
  /// Reads one file that is already in memory; `owner` keeps `bytes` alive. Throws `load_error`.
  static std::shared_ptr<const safetensors_file> parse(std::span<const std::byte> bytes, std::string where,
                                                       std::shared_ptr<const void> owner = {});

private:
  using mapped_checkpoint::mapped_checkpoint;
  static std::shared_ptr<const safetensors_file> open_shards(const std::filesystem::path& folder,
                                                             const std::filesystem::path& index);
};

} // namespace omni
