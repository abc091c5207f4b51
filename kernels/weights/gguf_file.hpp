#pragma once

#include "kernels/weights/checkpoint.hpp"
#include "kernels/weights/gguf_metadata.hpp"

namespace omni {

struct gguf_part;

/// A GGUF checkpoint, version 2 or 3, in one file or split into NAME-00001-of-0000N.gguf. Layout: ggml `docs/gguf.md`.
/// Shapes are row-major: what the file calls [in, out] is [out, in] here.
class gguf_file final : public mapped_checkpoint {
public:
  /// Maps the file; for the first of several parts also the others, which lie beside it. Throws `load_error`.
  static std::shared_ptr<const gguf_file> open(const std::filesystem::path& path);
  /// Reads an unsplit file that is already in memory; `owner` keeps `bytes` alive. Throws `load_error`.
  static std::shared_ptr<const gguf_file> parse(std::span<const std::byte> bytes, std::string where,
                                                std::shared_ptr<const void> owner = {});

  /// Of the first part.
  [[nodiscard]] const gguf_metadata& metadata() const { return metadata_; }

private:
  gguf_file(std::string where, const gguf_part& first);
  void add_part(const gguf_part& part, std::shared_ptr<const void> owner);
  void open_other_parts(const std::filesystem::path& first, std::int64_t parts);

  gguf_metadata metadata_;
};

} // namespace omni
