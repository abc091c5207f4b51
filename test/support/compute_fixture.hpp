#pragma once

#include "kernels/ops/backend.hpp"

namespace omni::test {

/// The CPU with so many threads, ready for ops.
struct compute_fixture {
  thread_pool pool;
  thread_pool::lane lane;
  workspace scratch;
  op_context context{cpu_device(), scratch, lane};
  thread_pool::lane::step step{lane, 0};
  explicit compute_fixture(unsigned threads = 2) : pool(threads), lane(pool) {}
};

} // namespace omni::test
