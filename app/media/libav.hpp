#pragma once

#include "app/media/outcome.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

namespace omni::media {

/// The functions of FFmpeg's libraries that reading videos takes. They are loaded when the first video comes: Debian
/// builds them with parts under the GPL, and who serves no video need not have them.
struct libav {
  /// Opens the libraries of the very versions whose headers this was built with; they stay loaded. Wrong: which one is
  /// missing.
  static outcome<libav> open();

  decltype(&::avformat_alloc_context) alloc_format = nullptr;
  decltype(&::avformat_open_input) open_input = nullptr;
  decltype(&::avformat_close_input) close_input = nullptr;
  decltype(&::avformat_free_context) free_format = nullptr;
  decltype(&::avformat_find_stream_info) find_stream_info = nullptr;
  decltype(&::av_find_best_stream) find_best_stream = nullptr;
  decltype(&::av_read_frame) read_frame = nullptr;
  decltype(&::avio_alloc_context) alloc_io = nullptr;
  decltype(&::avio_context_free) free_io = nullptr;
  decltype(&::avcodec_find_decoder) find_decoder = nullptr;
  decltype(&::avcodec_alloc_context3) alloc_codec = nullptr;
  decltype(&::avcodec_free_context) free_codec = nullptr;
  decltype(&::avcodec_parameters_to_context) set_parameters = nullptr;
  decltype(&::avcodec_open2) open_codec = nullptr;
  decltype(&::avcodec_send_packet) send_packet = nullptr;
  decltype(&::avcodec_receive_frame) receive_frame = nullptr;
  decltype(&::av_packet_alloc) alloc_packet = nullptr;
  decltype(&::av_packet_free) free_packet = nullptr;
  decltype(&::av_packet_unref) unref_packet = nullptr;
  decltype(&::av_frame_alloc) alloc_frame = nullptr;
  decltype(&::av_frame_free) free_frame = nullptr;
  decltype(&::av_malloc) alloc = nullptr;
  decltype(&::av_freep) free_pointer = nullptr;
  decltype(&::av_dict_set) set_option = nullptr;
  decltype(&::av_dict_free) free_options = nullptr;
  decltype(&::av_log_set_level) set_log_level = nullptr;
  decltype(&::sws_getCachedContext) get_scaler = nullptr;
  decltype(&::sws_scale) scale = nullptr;
  decltype(&::sws_freeContext) free_scaler = nullptr;
};

} // namespace omni::media
