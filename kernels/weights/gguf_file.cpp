#include "kernels/weights/gguf_file.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/gguf_reader.hpp"
#include "kernels/weights/reject.hpp"

#include <cstdio>

namespace omni {
namespace {

constexpr int_range part_numbers{0, 65535};

/// "-00001-of-00003.gguf"
std::string part_suffix(std::int64_t number, std::int64_t parts) {
  char text[32];
  std::snprintf(text, sizeof text, "-%05d-of-%05d.gguf", static_cast<int>(number), static_cast<int>(parts));
  return text;
}

std::int64_t parts_of(const gguf_metadata& metadata) {
  return metadata.find_int("split.count", part_numbers).value_or(1);
}

} // namespace

gguf_file::gguf_file(std::string where, const gguf_part& first)
    : mapped_checkpoint(std::move(where)), metadata_(first.metadata) {}

void gguf_file::add_part(const gguf_part& part, std::shared_ptr<const void> owner) {
  keep(std::move(owner));
  for (const auto& entry : part.tensors) add(entry.name, view_of(entry, part.data.data() + entry.begin));
}

std::shared_ptr<const gguf_file> gguf_file::parse(std::span<const std::byte> bytes, std::string where,
                                                  std::shared_ptr<const void> owner) {
  const auto part = read_gguf_part(bytes, where);
  if (parts_of(part.metadata) > 1)
    reject(where, "this is one part of a split model; give the path of the first part instead");
  std::shared_ptr<gguf_file> file(new gguf_file(std::move(where), part));
  file->add_part(part, std::move(owner));
  return file;
}

std::shared_ptr<const gguf_file> gguf_file::open(const std::filesystem::path& path) {
  const auto mapped = mapped_file::open(path);
  const auto part = read_gguf_part(mapped->bytes(), path.string());
  std::shared_ptr<gguf_file> file(new gguf_file(path.string(), part));
  file->add_part(part, mapped);
  if (const auto parts = parts_of(part.metadata); parts > 1) file->open_other_parts(path, parts);
  return file;
}

void gguf_file::open_other_parts(const std::filesystem::path& first, std::int64_t parts) {
  const auto name = first.filename().string();
  const auto suffix = part_suffix(1, parts);
  if (metadata_.get_int("split.no", part_numbers) != 0 || !name.ends_with(suffix))
    reject(where(), "expected the first of " + std::to_string(parts) + " parts, named ..." + suffix +
                        ", found another part or another name; give the path of the first part");
  for (std::int64_t number = 2; number <= parts; ++number) {
    const auto path = first.parent_path() / (name.substr(0, name.size() - suffix.size()) + part_suffix(number, parts));
    const auto mapped = mapped_file::open(path);
    const auto part = read_gguf_part(mapped->bytes(), path.string());
    if (parts_of(part.metadata) != parts || part.metadata.get_int("split.no", part_numbers) != number - 1)
      reject(path.string(), "expected part " + std::to_string(number) + " of " + std::to_string(parts) +
                                ", found a part of another number or another model; fetch all parts again");
    add_part(part, mapped);
  }
  const auto total = metadata_.find_int("split.tensors.count");
  if (total && *total != static_cast<std::int64_t>(size()))
    reject(where(), "expected " + std::to_string(*total) + " tensors in all parts, found " + std::to_string(size()) +
                        "; fetch all parts again");
}

} // namespace omni
