#pragma once

#include <stdexcept>
#include <string>

namespace omni {

/// A file that cannot be used: the sentence names the file, what was expected, what was found, and what to do.
/// Thrown only inside `kernels/`; whoever starts a load or a step catches it at one place.
struct load_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A device that failed while computing. Thrown only inside `kernels/`, caught by the replica that owns the device.
struct device_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Input of one request that its model cannot accept (a prompt the template refuses, an unknown voice).
/// Carries the request field at fault, in the spelling of the HTTP interface ("messages", "voice").
struct input_error : std::runtime_error {
  input_error(std::string param_name, const std::string& sentence)
      : std::runtime_error(sentence), param(std::move(param_name)) {}
  std::string param;
};

} // namespace omni
