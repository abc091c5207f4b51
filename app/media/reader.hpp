#pragma once

#include "app/media/address.hpp"
#include "app/media/fetch.hpp"
#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::media {

/// Where media may come from. data: URLs always may.
struct settings {
  std::optional<std::filesystem::path> local_root; // file:// URLs below this folder
  bool remote = false;                             // http:// and https:// URLs
  address_policy allowed_address = is_public_address;
  limits bounds;
};

/// A medium of a request, as it came.
struct source {
  media_input::kind what = media_input::kind::audio;
  std::string url;   // data:, file:, http: or https:; unless there is `data`
  std::string data;  // base64
  std::string field; // that brought it, for error messages: "messages[0].content[1].image_url"
};

/// Fetches and decodes media. Any thread; calls take as long as the sources do.
class reader {
public:
  explicit reader(settings with);

  /// What went wrong with which source; `busy`: nothing is wrong with it, but too much decoded media is in use.
  struct problem {
    std::string field;
    std::string what;
    bool busy = false;
  };
  using all = std::vector<std::shared_ptr<const media_input>>;

  /// The media of one request, in the order of `sources`. Their memory counts against `decoded_bytes_in_all` until the
  /// last user lets go of them. Gives up when `cancelled` becomes true.
  [[nodiscard]] tl::expected<all, problem> read(const std::vector<source>& sources,
                                                const std::atomic<bool>& cancelled) const;
  [[nodiscard]] const settings& with() const { return settings_; }

private:
  [[nodiscard]] outcome<media_input> decoded(const source& from, std::size_t most_bytes,
                                             const std::atomic<bool>& cancelled) const;
  [[nodiscard]] outcome<std::string> bytes_of(const source& from, const std::atomic<bool>& cancelled) const;
  [[nodiscard]] std::shared_ptr<const media_input> counted(media_input made) const;

  settings settings_;
  std::shared_ptr<std::atomic<std::size_t>> in_use_ = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace omni::media
