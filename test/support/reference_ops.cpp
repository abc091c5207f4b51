#include "test/support/reference_ops.hpp"

#include <algorithm>
#include <cmath>

namespace omni::test {
namespace {

double wide(float x) { return static_cast<double>(x); }

} // namespace

std::vector<double> reference_linear(std::span<const float> x, std::span<const float> w, std::span<const float> bias,
                                     std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> out(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = bias.empty() ? 0.0 : wide(bias[static_cast<std::size_t>(j)]);
      for (std::int64_t c = 0; c < k; ++c)
        sum += wide(x[static_cast<std::size_t>(i * k + c)]) * wide(w[static_cast<std::size_t>(j * k + c)]);
      out[static_cast<std::size_t>(i * n + j)] = sum;
    }
  return out;
}

std::vector<float> reference_quantised(std::span<const float> x) {
  constexpr std::size_t block = 32;
  std::vector<float> out(x.begin(), x.end());
  for (std::size_t first = 0; first < x.size(); first += block) {
    const std::span<float> values(out.data() + first, block);
    const auto smaller = [](float a, float b) { return std::abs(a) < std::abs(b); };
    auto most = std::max_element(values.begin(), values.end(), smaller);
    double energy = 0.0;
    for (const float v : values) energy += wide(v) * wide(v);
    float kept = 0.0F;
    const bool outlier = wide(*most) * wide(*most) > energy * 25.0 / 32.0;
    if (outlier) std::swap(kept, *most);
    const float scale = std::abs(*std::max_element(values.begin(), values.end(), smaller)) / 127.0F;
    for (float& v : values) v = scale > 0.0F ? std::nearbyint(v / scale) * scale : 0.0F;
    if (outlier) *most = kept;
  }
  return out;
}

std::vector<double> reference_attention(const reference_attention_args& a) {
  const std::int64_t width = a.kv_heads * a.head_dim;
  const std::int64_t tokens = static_cast<std::int64_t>(a.key.size()) / width;
  const std::int64_t first = a.window > 0 ? std::max<std::int64_t>(0, tokens - a.window) : 0;
  std::vector<double> out(a.query.size());
  for (std::int64_t h = 0; h < a.heads; ++h) {
    const std::int64_t kv = h * a.kv_heads / a.heads * a.head_dim;
    std::vector<double> weight;
    for (std::int64_t t = first; t < tokens; ++t) {
      double score = 0.0;
      for (std::int64_t d = 0; d < a.head_dim; ++d)
        score += wide(a.query[static_cast<std::size_t>(h * a.head_dim + d)]) *
                 wide(a.key[static_cast<std::size_t>(t * width + kv + d)]);
      weight.push_back(score / std::sqrt(static_cast<double>(a.head_dim)));
    }
    const double most = *std::max_element(weight.begin(), weight.end());
    double total = 0.0;
    for (double& w : weight) total += w = std::exp(w - most);
    for (std::int64_t d = 0; d < a.head_dim; ++d)
      for (std::int64_t t = first; t < tokens; ++t)
        out[static_cast<std::size_t>(h * a.head_dim + d)] +=
            weight[static_cast<std::size_t>(t - first)] / total *
            wide(a.value[static_cast<std::size_t>(t * width + kv + d)]);
  }
  return out;
}

double reference_silu(double x) { return x / (1.0 + std::exp(-x)); }

double relative_error(std::span<const float> a, std::span<const double> b) {
  double worst = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    // Not a number must not look small.
    const double difference = std::abs(wide(a[i]) - b[i]);
    worst = difference <= worst ? worst : difference;
    squares += b[i] * b[i];
  }
  return worst / (1e-6 + std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, b.size()))));
}

} // namespace omni::test
