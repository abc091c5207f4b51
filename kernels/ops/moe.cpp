#include "kernels/ops/moe.hpp"

#include "kernels/ops/backend.hpp"

namespace omni {

void route(const route_args& args, const op_context& context) {
  OMNI_CHECK(args.ids.extents == args.weights.extents && args.ids.rows() == args.logits.rows(),
             "a choice for each row");
  OMNI_CHECK(args.ids.columns() > 0 && args.ids.columns() <= args.logits.columns(), "no more choices than experts");
  context.device.route(args, context);
}

void combine_experts(const combine_experts_args& args, const op_context& context) {
  OMNI_CHECK(args.slots.extents == args.weights.extents && args.slots.rows() == args.out.rows(), "slots for each row");
  OMNI_CHECK(args.values.columns() == args.out.columns(), "values are as wide as the output");
  OMNI_CHECK(args.shared.empty() ||
                 (args.shared.extents == args.out.extents && args.shared_logit.rows() == args.out.rows()),
             "a shared expert serves every row");
  context.device.combine_experts(args, context);
}

} // namespace omni
