#include "app/cli/model_location.hpp"

namespace omni::cli {

expected<std::filesystem::path> locate_model(const std::string& named, const std::filesystem::path& base,
                                             const std::filesystem::path& models_dir,
                                             const std::filesystem::path& home) {
  namespace fs = std::filesystem;
  constexpr std::string_view cache = "cache://";
  const bool cached = named.starts_with(cache);
  fs::path path = cached                    ? models_dir / named.substr(cache.size())
                  : named.starts_with("~/") ? home / named.substr(2)
                                            : base / named;
  path = path.lexically_normal();
  std::error_code error;
  if (fs::exists(path, error)) return path;
  if (cached)
    return fail(
        errc::load_failed,
        "The model " + path.string() +
            " is missing: app/fetch_models.sh fetches the default models (OMNI_MODELS_DIR names another folder).",
        "model");
  return fail(errc::load_failed,
              "There is no model at " + path.string() +
                  ": give a .gguf file, a Hugging Face directory or a Piper voice (.onnx).",
              "model");
}

} // namespace omni::cli
