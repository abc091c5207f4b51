#include "kernels/ops/linear.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {
namespace {

void check(const linear_job& job) {
  OMNI_CHECK(job.x != nullptr && job.weight != nullptr, "a linear job has rows and a weight");
  OMNI_CHECK(job.weight->columns == job.x->columns, "the weight's columns are the rows' columns");
  OMNI_CHECK(wants_quantised(*job.weight) == job.x->quantised, "the rows were prepared for this kind of weight");
  OMNI_CHECK(job.out.type == dtype::f32 && job.out.rows() == job.x->rows && job.out.columns() == job.weight->rows,
             "the output is f32 [m, n]");
  if (job.gate == nullptr) return;
  OMNI_CHECK(job.gate->rows == job.weight->rows && job.gate->columns == job.weight->columns,
             "gate and weight are alike");
  OMNI_CHECK(wants_quantised(*job.gate) == job.x->quantised && job.bias == nullptr,
             "gate reads the same rows, no bias");
}

} // namespace

linear_input prepare_linear(const prepare_linear_args& args, const op_context& context) {
  OMNI_CHECK(args.x.type == dtype::f32, "rows are f32");
  OMNI_CHECK(!args.quantised || args.x.columns() % packed_weight::block == 0, "quantised rows are whole blocks");
  return context.device.prepare_linear(args, context);
}

void linear(std::span<const linear_job> jobs, const op_context& context) {
  for (const auto& job : jobs) check(job);
  context.device.linear(jobs, context);
}

} // namespace omni
