#include "kernels/ops/relative_attention.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {

void relative_attention(const relative_attention_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.heads > 0 && args.dim > 0 && args.window >= 0, "attention needs rows of heads");
  context.device.relative_attention(args, context);
}

} // namespace omni
