#include "kernels/ops/conv.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {
namespace {

void check(const conv_job& job) {
  const auto& [w, a] = job;
  OMNI_CHECK(a.rows >= 0 && w.in > 0 && w.out > 0 && w.taps > 0, "convolution sizes must be positive");
  OMNI_CHECK(a.x_stride >= w.in && a.out_stride >= w.out, "a row must fit its stride");
  OMNI_CHECK(a.out != nullptr || a.activated != nullptr, "a convolution needs somewhere to write to");
}

} // namespace

void conv(std::span<const conv_job> jobs, const op_context& context) {
  OMNI_CHECK(jobs.size() <= 16, "too many convolutions at once");
  for (const auto& job : jobs) check(job);
  context.device.conv(jobs, context);
}

void conv_in_turn(std::span<const conv_job> jobs, const op_context& context) {
  for (const auto& job : jobs) {
    check(job);
    OMNI_CHECK(job.a.rows == jobs.front().a.rows && job.w.out == jobs.front().w.out,
               "convolutions in turn must have the same output");
  }
  context.device.conv_in_turn(jobs, context);
}

void conv_to_mono_tanh(const conv_to_mono_args& args, const op_context& context) {
  OMNI_CHECK(args.weights != nullptr && args.rows >= 0, "a convolution needs weights");
  context.device.conv_to_mono_tanh(args, context);
}

void conv_depthwise(const conv_depthwise_args& args, const op_context& context) {
  OMNI_CHECK(args.weights != nullptr && args.rows >= 0, "a convolution needs weights");
  context.device.conv_depthwise(args, context);
}

} // namespace omni
