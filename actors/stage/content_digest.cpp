#include "actors/stage/content_digest.hpp"

#include "kernels/core/check.hpp"

#include <memory>
#include <openssl/evp.h>
#include <span>

namespace omni {

std::array<std::int32_t, 8> digest_of(const media_input& medium) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  const auto add = [&](const void* bytes, std::size_t size) {
    good = good && EVP_DigestUpdate(context.get(), bytes, size) == 1;
  };
  const std::array<std::int64_t, 4> shape{std::int64_t(medium.what), medium.frames, medium.height, medium.width};
  add(shape.data(), sizeof(shape));
  add(&medium.frames_per_second, sizeof(medium.frames_per_second));
  add(medium.samples.data(), std::span(medium.samples).size_bytes());
  add(medium.rgb.data(), medium.rgb.size());
  std::array<std::int32_t, 8> digest{};
  unsigned size = 0;
  good = good && EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), &size) == 1;
  OMNI_CHECK(good && size == sizeof(digest), "OpenSSL computes SHA-256");
  return digest;
}

} // namespace omni
