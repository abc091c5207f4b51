#include "kernels/ops/conv.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {
namespace {

constexpr std::size_t most_jobs = 16;

void check(const conv_job& job) {
  const auto& [w, a] = job;
  OMNI_CHECK(a.rows >= 0 && w.in > 0 && w.out > 0 && w.taps > 0, "convolution sizes must be positive");
  OMNI_CHECK(a.x_stride >= w.in && a.out_stride >= w.out, "a row must fit its stride");
}

void check_target(const conv_args& a) {
  OMNI_CHECK(a.out != nullptr || a.activated != nullptr, "a convolution needs somewhere to write to");
}

} // namespace

void conv(std::span<const conv_job> jobs, const op_context& context) {
  OMNI_CHECK(jobs.size() <= most_jobs, "too many convolutions at once");
  for (const auto& job : jobs) check(job), check_target(job.a);
  context.device.conv(jobs, context);
}

void conv_sum(std::span<const conv_job> summands, const op_context& context) {
  OMNI_CHECK(!summands.empty() && summands.size() <= most_jobs, "a sum needs 1 to 16 convolutions");
  const auto& last = summands.back();
  check_target(last.a);
  for (const auto& job : summands) {
    check(job);
    OMNI_CHECK(job.a.rows == last.a.rows && job.w.out == last.w.out && job.a.out_stride == last.a.out_stride,
               "convolutions that are summed up must have the same output");
  }
  context.device.conv_sum(summands, context);
}

void conv_to_mono(const conv_to_mono_args& args, const op_context& context) {
  OMNI_CHECK(args.weights != nullptr && args.rows >= 0, "a convolution needs weights");
  context.device.conv_to_mono(args, context);
}

void conv_depthwise(const conv_depthwise_args& args, const op_context& context) {
  OMNI_CHECK(args.weights != nullptr && args.rows >= 0, "a convolution needs weights");
  context.device.conv_depthwise(args, context);
}

} // namespace omni
