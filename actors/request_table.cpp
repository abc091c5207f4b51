#include "actors/request_table.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {
namespace {

template <class Which>
std::vector<request_id> ids_of(const std::map<request_id, flight>& flights, Which which) {
  std::vector<request_id> found;
  for (const auto& [id, one] : flights)
    if (which(one)) found.push_back(id);
  return found;
}

} // namespace

flight::share* flight::share_of(stage_id stage) {
  const auto at = std::ranges::find(shares, stage, &share::stage);
  return at == shares.end() ? nullptr : &*at;
}

bool flight::all_done() const { return std::ranges::all_of(shares, &share::done); }

bool flight::needs(stage_id stage, replica_id replica) const {
  return std::ranges::any_of(
      shares, [&](const share& one) { return !one.done && one.stage == stage && one.replica == replica; });
}

flight& request_table::add(request_id id, request what, stage_graph::path way, time_us arrival) {
  const auto [at, fresh] = flights_.try_emplace(id);
  OMNI_CHECK(fresh, "request ids are not reused");
  auto& one = at->second;
  one.id = id;
  one.what = std::move(what);
  one.way = way;
  one.arrival = arrival;
  return one;
}

flight* request_table::find(request_id id) {
  const auto at = flights_.find(id);
  return at == flights_.end() ? nullptr : &at->second;
}

std::vector<request_id> request_table::waiting() const {
  return ids_of(flights_, [](const flight& one) { return one.now == flight::phase::waiting; });
}

std::vector<request_id> request_table::bound_to(stage_id stage, replica_id replica) const {
  return ids_of(flights_, [&](const flight& one) { return one.needs(stage, replica); });
}

std::vector<request_id> request_table::all() const {
  return ids_of(flights_, [](const flight&) { return true; });
}

std::size_t request_table::count(flight::phase phase) const {
  return std::size_t(std::ranges::count_if(flights_, [&](const auto& entry) { return entry.second.now == phase; }));
}

} // namespace omni
