#include "kernels/ops/linear.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {
namespace {

void check(const linear_part& part, const tensor& out) {
  OMNI_CHECK(part.x != nullptr && part.weight != nullptr, "a linear job has rows and a weight");
  OMNI_CHECK(part.weight->columns == part.x->columns, "the weight's columns are the rows' columns");
  OMNI_CHECK(wants_quantised(*part.weight) == part.x->quantised, "the rows were prepared for this kind of weight");
  OMNI_CHECK(out.type == dtype::f32 && out.rows() == part.x->rows && out.columns() == part.weight->rows,
             "the output is f32 [m, n]");
}

} // namespace

linear_input prepare_linear(const prepare_linear_args& args, const op_context& context) {
  OMNI_CHECK(args.x.type == dtype::f32, "rows are f32");
  if (args.norm != nullptr) {
    check(*args.norm);
    OMNI_CHECK(args.norm->out.data == args.x.data && args.norm->out.extents == args.x.extents,
               "the norm makes the rows");
  }
  OMNI_CHECK(!args.quantised || args.x.columns() % packed_weight::block == 0, "quantised rows are whole blocks");
  return context.device.prepare_linear(args, context);
}

void linear(std::span<const linear_job> jobs, const op_context& context) {
  for (const auto& job : jobs) {
    check(job.product, job.out);
    if (job.gate.weight != nullptr) check(job.gate, job.out);
  }
  context.device.linear(jobs, context);
}

} // namespace omni
