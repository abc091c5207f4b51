#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace omni {

/// A file mapped read-only into memory. Shared by everything that still points into it.
class mapped_file {
public:
  /// Maps `path`; throws `load_error` naming the file when it cannot be opened, is a folder or is empty.
  static std::shared_ptr<const mapped_file> open(const std::filesystem::path& path);
  ~mapped_file();
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  mapped_file(std::filesystem::path path, const std::byte* data, std::size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}
  std::filesystem::path path_;
  const std::byte* data_;
  std::size_t size_;
};

} // namespace omni
