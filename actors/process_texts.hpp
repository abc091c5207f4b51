#pragma once

#include "metrics/process_facts.hpp"

namespace omni {

/// Reads what Linux tells about this process now. What cannot be read is empty.
process_texts read_process_texts();

} // namespace omni
