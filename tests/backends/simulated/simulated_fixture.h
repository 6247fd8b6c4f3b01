#pragma once
// A simulated backend over a few curves, and what it has told so far.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/simulated/recorded_curves.h"
#include "backends/simulated/simulated_backend.h"

namespace attune::simulated_test {

// Trial i: epochs of 1 s with the values 0.1, 0.2, ... 0.5; of 2 s with 0.11, ...; of 1 s, falling.
inline constexpr const char* kCurves = R"([
  {"loss": [0.1, 0.2, 0.3, 0.4, 0.5]},
  {"loss": [0.11, 0.22, 0.33, 0.44, 0.55], "epoch_seconds": 2},
  {"loss": [0.5, 0.4, 0.3, 0.2, 0.25]},
  {"loss": [3, NaN]}])";

inline std::string job(std::int64_t sequence) { return fmt::format("t{:04}", sequence); }

struct Fixture {
  explicit Fixture(const SimulatedBackendOptions& options = {},
                   std::unique_ptr<CurveSource> curves = {}) {
    if (!curves) curves = recorded_curves(kCurves, "curves").value();
    backend = std::make_unique<SimulatedBackend>(options, std::move(curves), clock);
  }

  // Not in one braced list: at -O3 g++ 12 takes the empty resources for uninitialised.
  static TrialStart trial(std::int64_t sequence, int attempt, const std::string& text,
                          const std::string& checkpoint = "") {
    TrialStart start;
    start.job_id = job(sequence);
    start.sequence = sequence;
    start.attempt = attempt;
    start.parameter_text = text;
    start.checkpoint = checkpoint;
    return start;
  }
  Result<void> try_start(std::int64_t sequence, const std::string& checkpoint = "",
                         json parameters = json::object(), int attempt = 0) {
    const std::string text = dump_json({{"parameter_id", sequence}, {"parameters", parameters}});
    return backend->start(trial(sequence, attempt, text, checkpoint));
  }
  void start(std::int64_t sequence, const std::string& checkpoint = "",
             const json& parameters = json::object(), int attempt = 0) {
    REQUIRE(try_start(sequence, checkpoint, parameters, attempt).has_value());
  }

  // Everything that is told until nothing happens any more, or `until`.
  void run(double until = 1e9) {
    fetch();
    while (backend->next_time().value_or(2e9) <= until && backend->advance()) fetch();
  }
  void fetch() {
    for (TrialEvent& event : backend->fetch_status_results()) {
      log += describe(event) + "\n";
      if (auto* report = std::get_if<TrialReport>(&event)) reports.push_back(std::move(*report));
      if (auto* finished = std::get_if<TrialFinished>(&event)) ends.push_back(std::move(*finished));
      if (auto* stored = std::get_if<CheckpointStored>(&event)) saved.push_back(std::move(*stored));
    }
  }
  std::string describe(const TrialEvent& event) const {
    if (const auto* report = std::get_if<TrialReport>(&event)) {
      return fmt::format("{} {} {} {} {}", clock.now(), report->time, report->text,
                         report->position, report->late);
    }
    if (const auto* finished = std::get_if<TrialFinished>(&event)) {
      return fmt::format("{} {} {} {} {}", clock.now(), finished->job_id,
                         static_cast<int>(finished->how), finished->detail, finished->cpu_seconds);
    }
    const auto& stored = std::get<CheckpointStored>(event);
    return fmt::format("{} {} {} {}", clock.now(), stored.job_id, stored.checkpoint, stored.error);
  }

  // Epochs of the reports that counted.
  std::vector<int> epochs() const {
    std::vector<int> result;
    for (const TrialReport& report : reports) {
      if (report.late || report.metric.type != ReportMetricData::Type::periodical) continue;
      result.push_back(report.metric.value.at("training_iteration").get<int>());
    }
    return result;
  }

  ManualClock clock{1000};
  std::unique_ptr<SimulatedBackend> backend;
  std::vector<TrialReport> reports;
  std::vector<TrialFinished> ends;
  std::vector<CheckpointStored> saved;
  std::string log;
};

inline SimulatedBackendOptions no_delays() {
  SimulatedBackendOptions options;
  options.delays = {0, 0, 0, 0};
  return options;
}

}  // namespace attune::simulated_test
