#include "messages/output.hpp"

namespace omni {

const char* to_string(finish_reason reason) {
  switch (reason) {
  case finish_reason::stop: return "stop";
  case finish_reason::length: return "length";
  case finish_reason::abort: return "abort";
  case finish_reason::error: return "error";
  }
  return "unknown";
}

} // namespace omni
