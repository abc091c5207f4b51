#include "kernels/core/error.hpp"
#include "kernels/text/tokenizer.hpp"

#include <cstdint>
#include <cstdlib>

/// A tokenizer.json is refused with `load_error`, or text can be encoded with it and its ids decoded.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni;
  try {
    const auto model = text::tokenizer::from_json({reinterpret_cast<const char*>(data), size}, "input");
    const auto ids = model.encode("hello <s>\n  it's 12 \xC3\xA9 e\xCC\x81 \xFF", text::specials::recognised, true);
    (void)model.decode(ids, true);
    for (const std::int32_t id : ids)
      if (id < 0 || id >= model.vocab_size() || !model.id_of(model.token_content(id))) std::abort();
  } catch (const load_error&) {
  } catch (const input_error&) { // a pattern that takes too long
  }
  return 0;
}
