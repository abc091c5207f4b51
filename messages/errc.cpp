#include "messages/errc.hpp"

namespace omni {

const char* to_string(errc code) {
  switch (code) {
  case errc::invalid_request: return "invalid_request";
  case errc::model_not_found: return "model_not_found";
  case errc::context_too_long: return "context_too_long";
  case errc::overloaded: return "overloaded";
  case errc::no_replica: return "no_replica";
  case errc::replica_lost: return "replica_lost";
  case errc::replica_conflict: return "replica_conflict";
  case errc::not_found: return "not_found";
  case errc::shutting_down: return "shutting_down";
  case errc::aborted: return "aborted";
  case errc::load_failed: return "load_failed";
  case errc::internal: return "internal";
  }
  return "unknown";
}

} // namespace omni
