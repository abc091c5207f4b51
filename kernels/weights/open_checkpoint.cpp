#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/checkpoint.hpp"
#include "kernels/weights/gguf_file.hpp"
#include "kernels/weights/onnx_file.hpp"
#include "kernels/weights/reject.hpp"
#include "kernels/weights/safetensors_file.hpp"

#include <cstring>

namespace omni {

std::shared_ptr<const checkpoint> open_checkpoint(const std::filesystem::path& path) {
  std::error_code unreadable; // then the reader says why
  if (std::filesystem::is_directory(path, unreadable)) return safetensors_file::open(path);
  const auto extension = path.extension();
  if (extension == ".gguf") return gguf_file::open(path);
  if (extension == ".safetensors") return safetensors_file::open(path);
  if (extension == ".onnx") return onnx_file::open(path);
  const auto file = mapped_file::open(path);
  const auto bytes = file->bytes();
  if (bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0) return gguf_file::open(path);
  if (bytes.size() > 8 && static_cast<char>(bytes[8]) == '{') return safetensors_file::open(path);
  reject(path.string(),
         "expected a .gguf, .safetensors or .onnx file or a folder with model.safetensors, found neither that "
         "ending nor such content");
}

} // namespace omni
