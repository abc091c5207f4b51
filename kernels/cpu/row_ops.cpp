// Ops that work row by row: embeddings, norms, experts' routing. Short steps run on the calling thread alone.
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector_ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace omni::cpu {

void cpu_backend::embed(const embed_args& args, const op_context& context) const {
  const std::int64_t width = args.out.columns();
  for_ranges(context, args.ids.values(), static_cast<double>(width) * 2.0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) unpack_row(*args.table, args.ids.i32()[r], args.out.f32() + r * width);
  });
}

void cpu_backend::rms_norm(const rms_norm_args& args, const op_context& context) const {
  const double cost_ns = static_cast<double>(args.x.columns()) * norm_ns;
  for_ranges(context, args.x.rows(), cost_ns,
             [&](std::int64_t begin, std::int64_t end) { rms_norm_rows(args, begin, end); });
}

void cpu_backend::route(const route_args& args, const op_context& context) const {
  const std::int64_t experts = args.logits.columns(), top = args.ids.columns();
  for_ranges(context, args.logits.rows(), static_cast<double>(experts * top),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t r = begin; r < end; ++r) {
                 float* const share = args.logits.f32() + r * experts;
                 softmax_row(share, experts);
                 float total = 0.0F;
                 for (std::int64_t j = 0; j < top; ++j) {
                   const auto best = std::max_element(share, share + experts) - share;
                   args.ids.i32()[r * top + j] = static_cast<std::int32_t>(best);
                   args.weights.f32()[r * top + j] = share[best];
                   total += share[best];
                   share[best] = -1.0F;
                 }
                 for (std::int64_t j = 0; args.normalise && j < top; ++j) args.weights.f32()[r * top + j] /= total;
               }
             });
}

void cpu_backend::combine_experts(const combine_experts_args& args, const op_context& context) const {
  const std::int64_t width = args.out.columns(), top = args.slots.columns();
  for_ranges(context, args.out.rows(), static_cast<double>(width * top) * 0.2,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t r = begin; r < end; ++r) {
                 float* const out = args.out.f32() + r * width;
                 std::memset(out, 0, static_cast<std::size_t>(width) * sizeof(float));
                 for (std::int64_t j = 0; j < top; ++j)
                   add_scaled(args.values.f32() + args.slots.i32()[r * top + j] * width,
                              args.weights.f32()[r * top + j], out, width);
                 if (!args.shared.empty())
                   add_scaled(args.shared.f32() + r * width, 1.0F / (1.0F + std::exp(-args.shared_logit.f32()[r])), out,
                              width);
               }
             });
}

} // namespace omni::cpu

const omni::backend& omni::cpu_device() {
  static const cpu::cpu_backend device;
  return device;
}
