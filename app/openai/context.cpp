#include "app/openai/context.hpp"

#include <algorithm>
#include <chrono>

namespace omni::openai {

std::string id_source::hex(int digits) {
  static constexpr char alphabet[] = "0123456789abcdef";
  std::string out;
  std::uint64_t bits = 0;
  for (int i = 0; i < digits; ++i) {
    if (i % 16 == 0) bits = random_();
    out.push_back(alphabet[bits & 15U]);
    bits >>= 4U;
  }
  return out;
}

std::int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string read_model(fields& from, const std::vector<std::string>& served_names) {
  const auto wanted = from.text("model");
  if (!wanted || *wanted == "default") return served_names.front();
  if (std::find(served_names.begin(), served_names.end(), *wanted) != served_names.end()) return *wanted;
  std::string names;
  for (const std::string& each : served_names) names += (names.empty() ? "" : ", ") + each;
  from.refuse_with("model", "The model '" + *wanted + "' does not exist here; this server serves: " + names + ".",
                   errc::model_not_found);
  return {};
}

} // namespace omni::openai
