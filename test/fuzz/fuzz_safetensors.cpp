#include "kernels/core/error.hpp"
#include "kernels/weights/safetensors_file.hpp"
#include "test/fuzz/read_values.hpp"

#include <cstdint>

/// A file is refused with `load_error` or every tensor of it can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni;
  try {
    fuzz::read_values(*safetensors_file::parse(std::as_bytes(std::span(data, size)), "input"));
  } catch (const load_error&) {}
  return 0;
}
