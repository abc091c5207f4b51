#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/utf8.hpp"

#include <cstdint>
#include <cstdlib>

/// A template is refused with `load_error`, or it renders to valid marked text, or it ends in `input_error`; always
/// soon.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni;
  static const auto variables = nlohmann::ordered_json::parse(R"({
    "messages": [{"role": "system", "content": " Be <b>kind</b>. "},
                 {"role": "user", "content": [{"type": "text", "text": "h\u00e9llo"}, {"type": "image"}]},
                 {"role": "assistant", "content": "<think>x</think>yes", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "add_generation_prompt": true, "n": null, "i": 3, "s": "a,b,c"})");
  try {
    const auto parsed =
        text::chat_template::parse({reinterpret_cast<const char*>(data), size}, "input", {{"bos_token", "<s>"}});
    const text::marked_text prompt = parsed.render(variables, std::tm{});
    if (prompt.marks().size() != prompt.text().size()) std::abort();
    if (text::is_valid_utf8({reinterpret_cast<const char*>(data), size}) && !text::is_valid_utf8(prompt.text()))
      std::abort();
  } catch (const load_error&) {
  } catch (const input_error&) {}
  return 0;
}
