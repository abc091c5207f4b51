#include "kernels/core/workspace.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

TEST(workspace, gives_the_same_memory_again_after_a_scope) {
  workspace scratch;
  void* first = nullptr;
  {
    const workspace::scope scope(scratch);
    first = scratch.take(dtype::f32, {100}).data;
  }
  const workspace::scope scope(scratch);
  EXPECT_EQ(scratch.take(dtype::f32, {100}).data, first);
}

TEST(workspace, pieces_stay_put_when_it_grows) {
  workspace scratch;
  const workspace::scope scope(scratch);
  float* small = scratch.floats(10);
  small[9] = 7;
  float* large = scratch.floats(10'000'000);
  large[9'999'999] = 1;
  EXPECT_EQ(small[9], 7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large) % 64, 0U);
}

TEST(workspace, holds_no_more_after_a_repeated_step) {
  workspace scratch;
  const auto step = [&] {
    const workspace::scope scope(scratch);
    for (int i = 0; i < 20; ++i) scratch.floats(100'000);
  };
  step();
  const auto held = scratch.held_bytes();
  for (int i = 0; i < 5; ++i) step();
  EXPECT_EQ(scratch.held_bytes(), held);
}

} // namespace
} // namespace omni
