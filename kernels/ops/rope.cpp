#include "kernels/ops/rope.hpp"

#include "kernels/ops/backend.hpp"

namespace omni {

void rope(const rope_args& args, const op_context& context) {
  OMNI_CHECK(args.x.extents.rank() == 3 && args.cos.extents == args.sin.extents, "rope turns rows of heads");
  OMNI_CHECK(args.cos.rows() == args.x[0] && 2 * args.cos.columns() <= args.x[2], "a row of angles for each row");
  context.device.rope(args, context);
}

} // namespace omni
