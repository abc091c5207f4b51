#include "kernels/text/byte_alphabet.hpp"
#include "kernels/text/detokenizer.hpp"
#include "kernels/text/normalizer.hpp"
#include "kernels/text/tokenizer.hpp"
#include "kernels/text/utf8.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace omni::text;

/// All bytes, some merges, and control tokens.
tokenizer make_tokenizer(const char* pre) {
  gguf_vocabulary vocabulary{
      .model = "gpt2", .pre = pre, .tokens = {}, .token_types = {}, .merges = {}, .bos = {}, .add_bos = false};
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    vocabulary.tokens.push_back(to_byte_alphabet({&one, 1}));
  }
  for (const char* merge : {"a b", "ab a", "a a", "aa aa", "\u0120 a", "\u0120 \u0120", "1 2", "\u00CC \u0123"}) {
    vocabulary.merges.emplace_back(merge);
    std::string joined = merge;
    joined.erase(joined.find(' '), 1);
    vocabulary.tokens.push_back(joined);
  }
  vocabulary.token_types.assign(vocabulary.tokens.size(), 1);
  for (const char* control : {"<s>", "</s>", "<s><s>"}) {
    vocabulary.tokens.emplace_back(control);
    vocabulary.token_types.push_back(3);
  }
  return tokenizer::from_gguf(std::move(vocabulary), "input");
}

void check(bool holds) {
  if (!holds) std::abort();
}

} // namespace

/// Whatever the text: decoding gives it back, streaming gives the same, and the caller's text makes no control token.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tokenizer models[] = {make_tokenizer("smollm"), make_tokenizer("llama-bpe"), make_tokenizer("default"),
                                     make_tokenizer("qwen2")};
  if (size < 2) return 0;
  const std::size_t which = data[0] % 4;
  const tokenizer& model = models[which];
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto ids = model.encode(text);
  const std::string decoded = model.decode(ids, false);
  std::string wanted = repaired_utf8(text);
  if (which == 3) { // qwen2 normalises what stands between control tokens
    check(is_valid_utf8(decoded));
  } else {
    check(decoded == wanted);
  }
  detokenizer stream(model, false);
  std::string streamed;
  for (const std::int32_t id : ids) streamed += stream.push(id);
  check(streamed + stream.flush() == decoded);
  for (const std::int32_t id : model.encode(text, specials::as_text)) check(!model.is_special(id));

  const std::size_t cut = data[1] % (text.size() + 1);
  marked_text prompt(text.substr(0, cut), true);
  prompt.append("<s>", false);
  prompt.append(text.substr(cut), true);
  int control = 0;
  for (const std::int32_t id : model.encode(prompt)) control += model.is_special(id) ? 1 : 0;
  check(control == 1);
  return 0;
}
