#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace omni {

/// Every way in which a request or a command can fail. The HTTP layer maps each to a status.
enum class errc : std::uint8_t {
  invalid_request,  // the input cannot be accepted; `param` names the field
  model_not_found,  // no such model is served
  context_too_long, // prompt, or prompt and max_tokens, exceed the model's context
  overloaded,       // the admission limit is reached; try again later
  no_replica,       // a stage has no live replica
  replica_lost,     // the replica that worked on the request died
  replica_conflict, // a replica id that is taken by another replica
  not_found,        // no such stage or replica
  shutting_down,    // the engine is draining or stopped
  aborted,          // the client or an operator ended the request
  load_failed,      // a model or a configuration cannot be loaded
  internal,         // a fault of ours
};

/// The constant's own name, for logs and tests.
const char* to_string(errc code);

/// An error on its way to a person: a sentence (what, where, expected, found, what to do) and the field at fault.
struct failure {
  errc code = errc::internal;
  std::string message;
  std::string param; // request field in the spelling of the HTTP interface, e.g. "temperature"; may be empty
};

template <class T>
using expected = tl::expected<T, failure>;

inline tl::unexpected<failure> fail(errc code, std::string message, std::string param = {}) {
  return tl::unexpected<failure>(failure{code, std::move(message), std::move(param)});
}

} // namespace omni
