#include "app/media/libav.hpp"

#include <dlfcn.h>

namespace omni::media {
namespace {

/// One shared library and what was found in it.
class library {
public:
  library(const std::string& name, int major)
      : name_("lib" + name + ".so." + std::to_string(major)),
        handle_(::dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {}
  library(const library&) = delete;
  library& operator=(const library&) = delete;
  ~library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }

  template <class Function>
  void find(Function& into, const char* function) {
    if (handle_ != nullptr) into = reinterpret_cast<Function>(::dlsym(handle_, function));
    complete_ = complete_ && into != nullptr;
  }
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  std::string name_;
  void* handle_;
  bool complete_ = true;
};

void find_all(libav& in, library& format, library& codec, library& util, library& scaling) {
  format.find(in.alloc_format, "avformat_alloc_context");
  format.find(in.open_input, "avformat_open_input");
  format.find(in.close_input, "avformat_close_input");
  format.find(in.free_format, "avformat_free_context");
  format.find(in.find_stream_info, "avformat_find_stream_info");
  format.find(in.find_best_stream, "av_find_best_stream");
  format.find(in.read_frame, "av_read_frame");
  format.find(in.alloc_io, "avio_alloc_context");
  format.find(in.free_io, "avio_context_free");
  codec.find(in.find_decoder, "avcodec_find_decoder");
  codec.find(in.alloc_codec, "avcodec_alloc_context3");
  codec.find(in.free_codec, "avcodec_free_context");
  codec.find(in.set_parameters, "avcodec_parameters_to_context");
  codec.find(in.open_codec, "avcodec_open2");
  codec.find(in.send_packet, "avcodec_send_packet");
  codec.find(in.receive_frame, "avcodec_receive_frame");
  codec.find(in.alloc_packet, "av_packet_alloc");
  codec.find(in.free_packet, "av_packet_free");
  codec.find(in.unref_packet, "av_packet_unref");
  util.find(in.alloc_frame, "av_frame_alloc");
  util.find(in.free_frame, "av_frame_free");
  util.find(in.alloc, "av_malloc");
  util.find(in.free_pointer, "av_freep");
  util.find(in.set_option, "av_dict_set");
  util.find(in.free_options, "av_dict_free");
  util.find(in.set_log_level, "av_log_set_level");
  scaling.find(in.get_scaler, "sws_getCachedContext");
  scaling.find(in.scale, "sws_scale");
  scaling.find(in.free_scaler, "sws_freeContext");
}

} // namespace

outcome<libav> libav::open() {
  library format("avformat", LIBAVFORMAT_VERSION_MAJOR), codec("avcodec", LIBAVCODEC_VERSION_MAJOR),
      util("avutil", LIBAVUTIL_VERSION_MAJOR), scaling("swscale", LIBSWSCALE_VERSION_MAJOR);
  libav made;
  find_all(made, format, codec, util, scaling);
  for (const library* each : {&format, &codec, &util, &scaling})
    if (!each->complete())
      return wrong("is a video, which this server cannot read: its machine has no " + each->name() +
                   " (Debian: libavformat59, libswscale6)");
  made.set_log_level(AV_LOG_QUIET); // what is wrong with a file is told to its sender
  return made;
}

} // namespace omni::media
