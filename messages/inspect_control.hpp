#pragma once

#include "messages/control.hpp"
#include "messages/inspect_report.hpp"

namespace omni {

template <class Inspector>
auto inspect(Inspector& f, submit& x) {
  return fields(f, x.id, x.what, x.arrival, x.sink);
}
template <class Inspector>
auto inspect(Inspector& f, stage_binding& x) {
  return fields(f, x.stage, x.replica, x.handle);
}
template <class Inspector>
auto inspect(Inspector& f, open_request& x) {
  return fields(f, x.task, x.next, x.sink);
}
template <class Inspector>
auto inspect(Inspector& f, abort_request& x) {
  return fields(f, x.id, x.client_left);
}
template <class Inspector>
auto inspect(Inspector& f, stage_done& x) {
  return fields(f, x.stage, x.replica, x.result);
}
template <class Inspector>
auto inspect(Inspector& f, request_over& x) {
  return fields(f, optional_field(x.problem));
}
template <class Inspector>
auto inspect(Inspector& f, start_over& x) {
  return fields(f, x.attempt);
}
template <class Inspector>
auto inspect(Inspector& f, replica_ready& x) {
  return fields(f, x.stage, x.replica, x.info);
}
template <class Inspector>
auto inspect(Inspector& f, replica_failed& x) {
  return fields(f, x.stage, x.replica, x.problem);
}
template <class Inspector>
auto inspect(Inspector& f, wanted_replica& x) {
  return fields(f, x.stage, optional_field(x.id));
}
template <class Inspector>
auto inspect(Inspector& f, start_replicas& x) {
  return fields(f, x.wanted);
}
template <class Inspector>
auto inspect(Inspector& f, remove_replica& x) {
  return fields(f, x.stage, x.replica);
}
template <class Inspector>
auto inspect(Inspector& f, replica_outcome& x) {
  return fields(f, x.replicas, optional_field(x.problem));
}
template <class Inspector>
auto inspect(Inspector& f, replica_list& x) {
  return fields(f, x.replicas);
}
template <class Inspector>
auto inspect(Inspector& f, register_engines& x) {
  return fields(f, x.engines);
}
template <class Inspector>
auto inspect(Inspector& f, metrics_page& x) {
  return fields(f, x.text);
}
template <class Inspector>
auto inspect(Inspector& f, place_timeout& x) {
  return fields(f, x.id, x.attempt);
}

} // namespace omni
