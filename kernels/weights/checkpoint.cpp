#include "kernels/weights/checkpoint.hpp"

#include "kernels/weights/reject.hpp"

namespace omni {

tensor checkpoint::get(std::string_view name, const shape& expected) const {
  const auto found = find(name);
  if (!found)
    reject(where(),
           "expected a tensor " + shown(name) + " of shape " + to_string(expected) + ", found none of that name");
  if (!(found->extents == expected))
    reject(where(), "expected tensor " + shown(name) + " of shape " + to_string(expected) + ", found " +
                        to_string(found->extents));
  return *found;
}

std::optional<tensor> mapped_checkpoint::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> mapped_checkpoint::names() const {
  std::vector<std::string> all;
  all.reserve(tensors_.size());
  for (const auto& [name, view] : tensors_) all.push_back(name);
  return all;
}

void mapped_checkpoint::add(std::string name, const tensor& view) {
  const auto [place, added] = tensors_.try_emplace(std::move(name), view);
  if (!added) reject_damaged(where_, "tensor " + shown(place->first) + " appears twice");
}

} // namespace omni
