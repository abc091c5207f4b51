#include "metrics/server_exporter.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace omni {
namespace {

constexpr std::string_view not_counted[] = {"/metrics", "/health",  "/ready",      "/load",
                                            "/ping",    "/version", "/server_info"};
constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

observations one(bucket_list list, double value, bad_value_counts& bad) {
  observations made(list);
  made.add(value, bad);
  return made;
}

} // namespace

server_exporter::server_exporter(metric_registry& registry, bad_value_series& bad, double wall_s)
    : bad_(bad), lazy_(registry) {
  registry.open(family_group::process);
  registry.open(family_group::http);
  const auto bounds = bucket_bounds(bucket_list::http_seconds);
  highr_ = histogram_series(registry.histogram(family_id::http_duration_highr, {}, bounds, wall_s), bounds.size() + 1);
}

void server_exporter::record(const http_report& report, double wall_s) {
  using id = family_id;
  if (is_one_of(report.handler, not_counted)) return;
  bad_value_counts bad{};
  // A client may send any word as its method; each would be a series for good.
  const std::string method = is_one_of(report.method, methods) ? report.method : "other";
  const bool known_status = report.status >= 100 && report.status <= 599;
  if (!known_status) ++bad[std::size_t(bad_value::malformed)];
  const std::string status = known_status ? std::to_string(report.status / 100) + "xx" : "other";

  const label_set route{{"handler", report.handler}};
  const label_set route_and_method = with(route, "method", method);
  lazy_.add(id::http_requests, with(route_and_method, "status", status), std::int64_t{1}, wall_s, bad);
  lazy_.add(id::http_request_size, route, one(bucket_list::none, double(report.request_bytes), bad), wall_s, bad);
  lazy_.add(id::http_response_size, route, one(bucket_list::none, double(report.response_bytes), bad), wall_s, bad);
  highr_.add(one(bucket_list::http_seconds, report.seconds, bad), bad);
  lazy_.add(id::http_duration, route_and_method, one(bucket_list::http_handler_seconds, report.seconds, bad), wall_s,
            bad);
  bad_.add(bad);
}

void server_exporter::record(const process_facts& facts, double wall_s) {
  using id = family_id;
  const auto set = [&](id which, const std::optional<double>& value) {
    if (value) lazy_.gauge(which, {}, wall_s).Set(*value);
  };
  set(id::process_virtual_memory_bytes, facts.virtual_memory_bytes);
  set(id::process_resident_memory_bytes, facts.resident_memory_bytes);
  set(id::process_start_time_seconds, facts.start_time_s);
  set(id::process_open_fds, facts.open_fds);
  set(id::process_max_fds, facts.max_fds);
  bad_value_counts bad{};
  if (facts.cpu_s && *facts.cpu_s > cpu_s_) {
    lazy_.add(id::process_cpu_seconds_total, {}, *facts.cpu_s - cpu_s_, wall_s, bad);
    cpu_s_ = *facts.cpu_s;
  }
  bad_.add(bad);
}

} // namespace omni
