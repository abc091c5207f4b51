#include "kernels/core/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace omni::detail {

void check_failed(const char* condition, const char* what, const char* file, int line) {
  std::fprintf(stderr, "omni-serve: bug: %s (%s) at %s:%d\n", what, condition, file, line);
  std::abort();
}

} // namespace omni::detail
