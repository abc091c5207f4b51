#include "kernels/ops/norm.hpp"

#include "kernels/ops/backend.hpp"

namespace omni {

void check(const rms_norm_args& args) {
  OMNI_CHECK(args.weight != nullptr && args.out.extents == args.x.extents, "a norm keeps the shape");
  OMNI_CHECK(args.add.empty() || (args.add.extents == args.x.extents && args.out.data != args.x.data),
             "what is added has the shape of x");
}

void rms_norm(const rms_norm_args& args, const op_context& context) {
  check(args);
  context.device.rms_norm(args, context);
}

} // namespace omni
