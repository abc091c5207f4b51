#pragma once

#include "metrics/request_timing.hpp"
#include "metrics/statistics.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace omni::test {

/// Plays a scripted scenario (golden/metrics/README.md) into an exporter and into console logs.
class scenario_player {
public:
  using json = nlohmann::json;
  enum class feed { iteration, outputs };
  using scrape_handler = std::function<void(const std::string& page, const std::string& text)>;

  /// `how`: feed what the reference computed of each batch, or rebuild it from the batch's outputs.
  scenario_player(const json& scenario, label_scheme labels, feed how);

  /// Plays all ops; `on_scrape` is called at each scrape.
  void play(const scrape_handler& on_scrape);

  /// All console lines so far, each with its level before it.
  [[nodiscard]] const std::vector<std::string>& console() const { return console_; }

  /// Reports of one record op made in both ways, with the finished records.
  struct batch {
    engine_report report;
    std::vector<finished_request> finished;
  };
  using batch_handler = std::function<void(const json& op, const batch& given, const batch& rebuilt)>;
  /// Called at each record op that has outputs.
  void on_batch(batch_handler handler) { on_batch_ = std::move(handler); }

private:
  struct sequence {
    request_timing timing;
    std::shared_ptr<sample_group> group;
  };

  void step(const json& op, const scrape_handler& on_scrape);
  void register_one(const json& op);
  void register_all(bool with_cache);
  register_engine facts(const json& engine, bool with_cache) const;
  void record(const json& op);
  batch from_iteration(const json& op) const;
  batch from_outputs(const json& op);
  sequence& sequence_of(const std::string& name);
  void omni_call(const json& op);
  void audio(const json& op);
  void add(const engine_report& report);
  void add(const pipeline_report& report);
  void say(const std::vector<log_line>& lines);
  engine_report report_of_stage(std::int64_t stage) const;

  const json& scenario_;
  label_scheme labels_;
  feed how_;
  instant now_;
  std::vector<register_engine> engines_;
  metric_registry registry_{true};
  bad_value_series bad_;
  exporter exporter_;     // the page, with each value set exactly when the script says so
  statistics statistics_; // the console
  std::map<std::string, sequence> sequences_;
  std::map<std::string, std::shared_ptr<sample_group>> groups_; // by parent
  std::vector<std::string> console_;
  batch_handler on_batch_;
};

} // namespace omni::test
