#pragma once

#include "kernels/cpu/isa.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace omni::test {

/// Runs `body` once on every instruction set that was compiled and that this machine has.
template <class Body>
void on_each_isa(Body&& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

} // namespace omni::test
