#include "app/media/video_file.hpp"

#include <algorithm>
#include <cstring>

namespace omni::media {
namespace {

constexpr int io_buffer_bytes = 64 * 1024;
constexpr int decoder_threads = 2;
// Of all that FFmpeg reads, what clients send.
constexpr const char* containers = "mov,mp4,matroska,webm,avi,mjpeg";
constexpr const char* codecs =
    "h264,hevc,vp8,vp9,av1,libdav1d,libaom-av1,mpeg4,mpeg2video,mpeg1video,mjpeg,png,msmpeg4";

int open_nothing(AVFormatContext* /*format*/, AVIOContext** /*io*/, const char* /*url*/, int /*flags*/,
                 AVDictionary** /*options*/) {
  return AVERROR(EPERM);
}

struct codec_holder {
  const libav& lib;
  AVCodecContext* context = nullptr;
  AVFrame* frame = nullptr;
  explicit codec_holder(const libav& of) : lib(of) {}
  codec_holder(const codec_holder&) = delete;
  codec_holder& operator=(const codec_holder&) = delete;
  ~codec_holder() {
    lib.free_frame(&frame);
    lib.free_codec(&context);
  }
};

} // namespace

int video_file::read(void* self, std::uint8_t* into, int count) {
  auto& file = *static_cast<video_file*>(self);
  const std::size_t taken = std::min(std::size_t(std::max(count, 0)), file.bytes_.size() - file.at_);
  if (taken == 0) return AVERROR_EOF;
  std::memcpy(into, file.bytes_.data() + file.at_, taken);
  file.at_ += taken;
  return int(taken);
}

std::int64_t video_file::seek(void* self, std::int64_t offset, int whence) {
  auto& file = *static_cast<video_file*>(self);
  const auto size = std::int64_t(file.bytes_.size());
  whence &= ~AVSEEK_FORCE;
  if (whence == AVSEEK_SIZE) return size;
  const std::int64_t base = whence == SEEK_CUR ? std::int64_t(file.at_) : whence == SEEK_END ? size : 0;
  if (offset < -base || offset > size - base) return AVERROR(EINVAL);
  file.at_ = std::size_t(base + offset);
  return base + offset;
}

outcome<void> video_file::open_input() {
  auto* buffer = static_cast<unsigned char*>(lib_.alloc(io_buffer_bytes));
  if (buffer != nullptr) io_ = lib_.alloc_io(buffer, io_buffer_bytes, 0, this, read, nullptr, seek);
  if (io_ == nullptr) lib_.free_pointer(&buffer);
  format_ = lib_.alloc_format();
  packet_ = lib_.alloc_packet();
  if (io_ == nullptr || format_ == nullptr || packet_ == nullptr) throw std::bad_alloc();
  format_->pb = io_;
  format_->flags |= AVFMT_FLAG_CUSTOM_IO;
  format_->io_open = open_nothing;
  AVDictionary* options = nullptr;
  lib_.set_option(&options, "format_whitelist", containers, 0);
  lib_.set_option(&options, "codec_whitelist", codecs, 0);
  const int opened = lib_.open_input(&format_, nullptr, nullptr, &options); // frees and clears `format_` if it fails
  lib_.free_options(&options);
  if (opened < 0) return wrong("is not a video that can be read; send MP4, WebM, Matroska, AVI or MJPEG");
  if (lib_.find_stream_info(format_, nullptr) < 0)
    return wrong("is a video file that is cut short or broken; send it again whole");
  const int best = lib_.find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best < 0) return wrong("is a file without pictures; send sounds as input_audio or audio_url");
  stream_ = format_->streams[best];
  for (unsigned i = 0; i < format_->nb_streams; ++i)
    if (int(i) != best) format_->streams[i]->discard = AVDISCARD_ALL;
  return {};
}

outcome<std::unique_ptr<video_file>> video_file::open(const libav& lib, std::string_view bytes) {
  std::unique_ptr<video_file> made(new video_file(lib, bytes));
  if (auto opened = made->open_input(); !opened) return wrong(std::move(opened.error()));
  return made;
}

video_file::~video_file() {
  lib_.free_packet(&packet_);
  if (format_ != nullptr) lib_.close_input(&format_);
  if (io_ == nullptr) return;
  lib_.free_pointer(&io_->buffer); // not always the one that it was made with
  lib_.free_io(&io_);
}

double video_file::frames_per_second() const {
  for (const AVRational rate : {stream_->avg_frame_rate, stream_->r_frame_rate})
    if (rate.num > 0 && rate.den > 0) return double(rate.num) / double(rate.den);
  return 0;
}

/// The next packet of the track into `packet_`; false at the end, or where the file is broken.
bool video_file::next_packet() {
  lib_.unref_packet(packet_);
  while (lib_.read_frame(format_, packet_) >= 0) {
    if (packet_->stream_index == stream_->index) return true;
    lib_.unref_packet(packet_);
  }
  return false;
}

std::int64_t video_file::count_packets(std::int64_t most) {
  std::int64_t count = 0;
  while (count < most && next_packet()) ++count;
  return count;
}

outcome<void> video_file::decode(std::int64_t most_pixels, const std::function<bool(const AVFrame&)>& take) {
  codec_holder codec(lib_);
  const AVCodec* decoder = lib_.find_decoder(stream_->codecpar->codec_id);
  codec.context = lib_.alloc_codec(decoder);
  codec.frame = lib_.alloc_frame();
  if (codec.context == nullptr || codec.frame == nullptr) throw std::bad_alloc();
  AVDictionary* options = nullptr;
  lib_.set_option(&options, "codec_whitelist", codecs, 0);
  codec.context->max_pixels = most_pixels;
  codec.context->thread_count = decoder_threads;
  const bool ready = decoder != nullptr && lib_.set_parameters(codec.context, stream_->codecpar) >= 0 &&
                     lib_.open_codec(codec.context, decoder, &options) >= 0;
  lib_.free_options(&options);
  if (!ready) return wrong("is a video whose coding is not known here; send H.264, H.265, VP8, VP9, AV1, MPEG or JPEG");
  for (bool more = true; more;) {
    more = next_packet();
    // A broken packet loses its own frame only, as in a player.
    lib_.send_packet(codec.context, more ? packet_ : nullptr);
    while (lib_.receive_frame(codec.context, codec.frame) >= 0)
      if (!take(*codec.frame)) return {};
  }
  return {};
}

} // namespace omni::media
