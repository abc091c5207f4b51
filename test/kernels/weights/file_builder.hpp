#pragma once

#include "kernels/core/error.hpp"
#include "kernels/weights/checkpoint.hpp"
#include "kernels/weights/convert.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace omni::test {

/// Bytes of a file under construction.
struct file_builder {
  std::string text;

  template <class T>
  file_builder& number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  file_builder& raw(std::string_view bytes) {
    text.append(bytes);
    return *this;
  }
  /// A GGUF string: 8 bytes of length, then the bytes.
  file_builder& string(std::string_view bytes) { return number<std::uint64_t>(bytes.size()).raw(bytes); }
  file_builder& pad(std::size_t alignment) {
    text.resize((text.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
};

/// The same bytes in a block of exactly that size, so that the address sanitizer sees a read past their end.
inline std::vector<std::byte> exact_bytes(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// Runs `action`, which must throw a `load_error`, and returns its message after checking that it is one sentence about
/// `where`.
template <class Action>
std::string refusal(const std::string& where, Action action) {
  try {
    action();
  } catch (const load_error& problem) {
    const std::string message = problem.what();
    EXPECT_NE(message.find(where), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with('.')) << message;
    EXPECT_EQ(message.find(". "), std::string::npos) << message;
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << message;
    return message;
  }
  ADD_FAILURE() << "accepted";
  return "";
}

/// Reads every value, so that a view that leaves its file is seen.
inline void read_all(const checkpoint& file) {
  for (const auto& name : file.names()) {
    const auto view = file.find(name);
    ASSERT_TRUE(view) << name;
    std::vector<float> values(static_cast<std::size_t>(view->values()));
    read_f32(*view, values);
  }
}

/// Gives `Format::parse` every prefix of a good file, which it must refuse, and every change of one byte, which it may
/// accept if all values can still be read.
template <class Format>
void expect_robust(const std::string& good) {
  read_all(*Format::parse(exact_bytes(good), "good"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto bytes = exact_bytes(std::string_view(good).substr(0, length));
    SCOPED_TRACE(length);
    refusal("cut", [&] { Format::parse(bytes, "cut"); });
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      auto bytes = exact_bytes(good);
      bytes[at] ^= static_cast<std::byte>(change);
      SCOPED_TRACE(at);
      try {
        read_all(*Format::parse(bytes, "changed"));
      } catch (const load_error&) {}
    }
  }
}

/// A folder of its own for one test, removed at the end.
class temporary_folder {
public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "omni-weights-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("Cannot make a folder like " + name + ".");
    path_ = name;
  }
  ~temporary_folder() { std::filesystem::remove_all(path_); }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file, making folders on the way, and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    const auto path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path;
  }

private:
  std::filesystem::path path_;
};

} // namespace omni::test
