#include "kernels/weights/json_text.hpp"

#include "kernels/weights/reject.hpp"

namespace omni {

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  constexpr int deepest = 64;
  if (text.size() > most_bytes)
    reject(where,
           "expected JSON of at most " + std::to_string(most_bytes) + " bytes, found " + std::to_string(text.size()));
  const auto check_depth = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > deepest) reject(where, "expected JSON nested at most " + std::to_string(deepest) + " deep, found more");
    return true;
  };
  try {
    return nlohmann::json::parse(text, check_depth);
  } catch (const nlohmann::json::parse_error& problem) {
    reject_damaged(where, "expected JSON, found an error at byte " + std::to_string(problem.byte));
  } catch (const nlohmann::json::out_of_range&) {
    reject_damaged(where, "expected JSON, found a number beyond the range of a double");
  }
}

} // namespace omni
