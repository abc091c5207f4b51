#include "kernels/core/error.hpp"
#include "kernels/weights/onnx_file.hpp"
#include "test/fuzz/read_values.hpp"

#include <cstdint>

/// A file is refused with `load_error` or every tensor of it can be read and every query answered.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni;
  try {
    const auto file = onnx_file::parse(std::as_bytes(std::span(data, size)), "input");
    fuzz::read_values(*file);
    for (const auto& input : file->inputs()) (void)file->find_gather_table(input);
    for (const auto& node : file->nodes()) {
      for (const auto& input : node.inputs) {
        (void)file->find(input);
        (void)file->find_conv_by_bias(input);
      }
    }
  } catch (const load_error&) {}
  return 0;
}
