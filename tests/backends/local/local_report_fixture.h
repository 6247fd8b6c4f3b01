#pragma once
// Trials that report without a library, and what came of it.
#include "tests/backends/local/local_fixture.h"

namespace attune::test {

inline LocalFixture ending(const std::string& command, const ReportRules& report) {
  return LocalFixture(command, [&](LocalBackendOptions& options) {
    options.command = command;
    options.report = report;
  });
}

// "P0 {...}" and "F0 {...}": type, sequence and value of each report.
inline std::vector<std::string> shown(const LocalFixture& local) {
  std::vector<std::string> result;
  for (const TrialReport& report : local.reports) {
    const bool final = report.metric.type == ReportMetricData::Type::final;
    result.push_back(fmt::format("{}{} {}", final ? 'F' : 'P', report.metric.sequence,
                                 dump_json(report.metric.value)));
  }
  return result;
}

inline bool mentions(const std::vector<std::string>& problems, const std::string& text) {
  return std::ranges::any_of(
      problems, [&](const std::string& one) { return one.find(text) != std::string::npos; });
}

// Another manager takes over what this one started.
inline void replace_manager(LocalFixture& local, const LocalBackendOptions& options,
                            std::uint64_t position) {
  local.reports.clear();
  local.finished.clear();
  local.running.clear();
  auto made = LocalBackend::create(local.io, options, [&local] { local.woken = true; });
  REQUIRE(made.has_value());
  local.backend = std::move(*made);
  local.backend->set_path(local.directory / "experiment");
  const auto adopted = local.adopt(trial_start(0), position);
  REQUIRE(adopted.has_value());
  CHECK(*adopted == TrialBackend::Adoption::taken);
}

}  // namespace attune::test
