#pragma once
// An assessor that stops a trial when the last value is below a bound (or pauses it, or calls it
// complete), and writes down its calls.
#include <fmt/format.h>

#include <array>
#include <string>

#include "assessors/assessor.h"

namespace attune {

class ScriptedAssessor : public Assessor {
 public:
  double bound = 0;
  Action action = Action::stop;
  bool complete = false;
  std::vector<std::string> calls;  // "assess 3: 0.5 0.6", "end 3 failed"

  Decision assess(TrialId trial, std::span<const Report> reports) override {
    std::string line = fmt::format("assess {}:", trial);
    for (const Report& report : reports) line += fmt::format(" {}", report.metrics[0].second);
    calls.push_back(line);
    const double last = reports.back().metrics[0].second;
    if (last >= bound) return {trial, Action::keep_going, ""};
    return {trial, action, fmt::format("{} is below {}", last, bound), complete};
  }
  void trial_end(TrialId trial, End end) override {
    constexpr std::array<const char*, 3> kEnds = {"completed", "failed", "stopped"};
    calls.push_back(fmt::format("end {} {}", trial, kEnds.at(static_cast<std::size_t>(end))));
  }
  json save() const override { return nullptr; }
  Result<void> load(const json&) override { return {}; }
};

}  // namespace attune
