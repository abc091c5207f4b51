#include "app/media/reader.hpp"

#include "app/media/base64.hpp"
#include "app/media/frame_list.hpp"
#include "app/media/local_file.hpp"
#include "app/media/picture.hpp"
#include "app/media/sound.hpp"
#include "app/media/video.hpp"

#include <algorithm>
#include <string_view>

namespace omni::media {
namespace {

constexpr std::string_view frames_type = "video/jpeg";

/// A data: URL in its parts.
struct data_url {
  std::string_view type; // "image/png"
  std::string_view text; // base64
};

/// Schemes and codings of URLs are the same in any case.
bool begins_with(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char wanted, char c) {
           return wanted == (c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c);
         });
}

outcome<data_url> parts_of(std::string_view url) {
  const std::size_t comma = url.find(',');
  if (comma == std::string_view::npos) return wrong("is a data: URL without a comma before its data");
  constexpr std::string_view scheme = "data:", coding = ";base64";
  std::string_view head = url.substr(scheme.size(), comma - scheme.size());
  const auto last = head.substr(head.size() - std::min(head.size(), coding.size()));
  if (!begins_with(last, coding)) return wrong("is a data: URL without ;base64; send its data as base64");
  head.remove_suffix(coding.size());
  return data_url{head.substr(0, head.find(';')), url.substr(comma + 1)};
}

outcome<std::string> decoded_base64(std::string_view text, std::size_t most_bytes) {
  if (text.size() / 4 * 3 > most_bytes)
    return wrong("holds more than " + mebibytes(most_bytes) + "; send a smaller file");
  auto bytes = from_base64(text);
  if (!bytes) return wrong("is not base64: send the file's bytes as standard base64 without line breaks");
  if (bytes->empty()) return wrong("is empty; send the file's bytes as base64");
  return std::move(*bytes);
}

std::size_t size_of(const media_input& made) { return made.samples.size() * sizeof(float) + made.rgb.size(); }

} // namespace

reader::reader(settings with) : settings_(std::move(with)) {}

outcome<std::string> reader::bytes_of(const source& from, const std::atomic<bool>& cancelled) const {
  const std::size_t most = settings_.bounds.medium_bytes;
  if (!from.data.empty()) return decoded_base64(from.data, most);
  if (begins_with(from.url, "data:")) {
    const auto parts = parts_of(from.url);
    if (!parts) return wrong(parts.error());
    return decoded_base64(parts->text, most);
  }
  if (begins_with(from.url, "file://")) {
    if (!settings_.local_root)
      return wrong("names a file, but this server reads none: its operator allows a folder with "
                   "--allowed-local-media-path; send the medium as a data: URL");
    return read_local_file(from.url, *settings_.local_root, most);
  }
  if (!begins_with(from.url, "http://") && !begins_with(from.url, "https://"))
    return wrong("is not a URL that is known here; send a data:, http:, https: or file: URL");
  if (!settings_.remote)
    return wrong("leads to another machine, but this server fetches nothing: its operator allows it with "
                 "--allow-remote-media; send the medium as a data: URL");
  return fetch(from.url, settings_.bounds, settings_.allowed_address, cancelled);
}

outcome<media_input> reader::decoded(const source& from, std::size_t most_bytes,
                                     const std::atomic<bool>& cancelled) const {
  if (from.what == media_input::kind::video && begins_with(from.url, "data:")) {
    const auto parts = parts_of(from.url);
    if (parts && parts->type == frames_type) return decode_frame_list(parts->text, settings_.bounds, most_bytes);
  }
  const auto bytes = bytes_of(from, cancelled);
  if (!bytes) return wrong(bytes.error());
  switch (from.what) {
  case media_input::kind::audio:
    return decode_sound(*bytes, settings_.bounds, most_bytes);
  case media_input::kind::image:
    return decode_picture(*bytes, settings_.bounds, most_bytes);
  case media_input::kind::video:
    return decode_video(*bytes, settings_.bounds, most_bytes, cancelled);
  }
  return wrong("is of no kind that is known here");
}

std::shared_ptr<const media_input> reader::counted(media_input made) const {
  const std::size_t bytes = size_of(made);
  if (in_use_->fetch_add(bytes) + bytes > settings_.bounds.decoded_bytes_in_all) {
    in_use_->fetch_sub(bytes);
    return nullptr;
  }
  return {new media_input(std::move(made)), [in_use = in_use_, bytes](const media_input* done) {
            delete done;
            in_use->fetch_sub(bytes);
          }};
}

tl::expected<reader::all, reader::problem> reader::read(const std::vector<source>& sources,
                                                        const std::atomic<bool>& cancelled) const {
  if (const std::size_t most = settings_.bounds.media_per_request; sources.size() > most)
    return tl::unexpected(
        problem{sources[most].field, "is one more than the " + std::to_string(most) +
                                         " sounds, pictures and videos that one request may bring; leave some out"});
  all made;
  std::size_t left = settings_.bounds.decoded_bytes;
  for (const source& each : sources) {
    if (cancelled) return tl::unexpected(problem{each.field, "was not read: the client is gone"});
    auto one = decoded(each, left, cancelled);
    if (!one) return tl::unexpected(problem{each.field, std::move(one.error())});
    left -= std::min(left, size_of(*one));
    auto kept = counted(std::move(*one));
    if (kept == nullptr)
      return tl::unexpected(
          problem{each.field, "finds this server busy with the media of other requests; try again later", true});
    made.push_back(std::move(kept));
  }
  return made;
}

} // namespace omni::media
