#pragma once

#include "kernels/core/thread_pool.hpp"
#include "kernels/core/workspace.hpp"

namespace omni {

class backend;

/// What every op needs besides its arguments: who computes, where scratch memory comes from, which threads help.
/// Passed on by reference, kept by nobody; used by the replica's own thread.
struct op_context {
  const backend& device;
  workspace& scratch;
  thread_pool::lane& lane;
};

} // namespace omni
