#include "kernels/models/weight_reader.hpp"

#include "kernels/weights/convert.hpp"

namespace omni {

const float* weight_reader::keep(const tensor& values) {
  const auto count = static_cast<std::size_t>(values.values());
  auto* const to = reinterpret_cast<float*>(arena_.take(count * sizeof(float)));
  read_f32(values, {to, count});
  return to;
}

const float* weight_reader::floats(const std::string& name, const shape& extents) {
  return keep(file_.get(name, extents));
}

packed_weight weight_reader::matrix(const std::string& module, std::int64_t out, std::int64_t in) {
  return pack(file_.get(module + ".weight", {out, in}));
}

linear_weights weight_reader::linear(const std::string& module, std::int64_t out, std::int64_t in, bool bias) {
  linear_weights w{matrix(module, out, in), nullptr};
  if (bias) w.bias = floats(module + ".bias", {out});
  return w;
}

packed_weight weight_reader::part_of(const std::string& name, const shape& extents, std::int64_t first,
                                     std::int64_t out) {
  const tensor all = file_.get(name, extents);
  const std::int64_t in = all.columns();
  return pack(tensor(static_cast<std::byte*>(all.data) + first * row_bytes(all.type, in), all.type, {out, in}));
}

} // namespace omni
