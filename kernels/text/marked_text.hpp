#pragma once

#include <string>
#include <string_view>

namespace omni::text {

/// A look at text and at the marks of its bytes.
struct marked_view {
  std::string_view text;
  std::string_view marks; // as long as `text`; 1 where the byte came from the caller, else 0

  [[nodiscard]] std::size_t size() const { return text.size(); }
  [[nodiscard]] bool empty() const { return text.empty(); }
  [[nodiscard]] marked_view substr(std::size_t at, std::size_t count = std::string_view::npos) const {
    return {text.substr(at, count), marks.substr(at, count)};
  }
  /// Whether any byte came from the caller.
  [[nodiscard]] bool has_mark() const { return marks.find('\1') != std::string_view::npos; }
};

/// Text in which every byte knows whether it came from the caller of the engine (a message's content) or from the
/// operator (the chat template). Only the latter may become special tokens, whatever the caller writes.
class marked_text {
public:
  marked_text() = default;
  marked_text(std::string text, bool from_caller)
      : text_(std::move(text)), marks_(text_.size(), static_cast<char>(from_caller)) {}
  explicit marked_text(marked_view other) : text_(other.text), marks_(other.marks) {}

  void append(std::string_view bytes, bool from_caller) {
    text_ += bytes;
    marks_.append(bytes.size(), static_cast<char>(from_caller));
  }
  void append(marked_view other) {
    text_ += other.text;
    marks_ += other.marks;
  }
  void reserve(std::size_t bytes) {
    text_.reserve(bytes);
    marks_.reserve(bytes);
  }

  [[nodiscard]] marked_view view() const { return {text_, marks_}; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& marks() const { return marks_; }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] bool empty() const { return text_.empty(); }

private:
  std::string text_;
  std::string marks_;
};

} // namespace omni::text
