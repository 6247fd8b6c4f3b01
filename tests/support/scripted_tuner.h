#pragma once
// A tuner that answers as a test tells it to, and writes down what it is told.
#include <fmt/format.h>

#include <array>
#include <deque>
#include <string>

#include "tuners/tuner.h"

namespace attune {

class ScriptedTuner : public Tuner {
 public:
  std::deque<std::string> script;   // "propose", "not yet", "exhausted"; empty: propose
  int proposals = 1'000'000;        // after so many, exhausted
  double next = 0.5;                // the value of every parameter
  std::vector<Decision> decisions;  // answers on_report, once
  std::vector<std::string> told;    // "3 completed 0.5 default=0.5 time=3"
  std::vector<TrialId> adopted;
  std::size_t largest_ask = 0;

  Result<void> set_space(const Space& space) override {
    space_ = space;
    return {};
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    largest_ask = std::max(largest_ask, ids.size());
    return ask_each(ids, [this](TrialId) -> Answer {
      std::string what = "propose";
      if (!script.empty()) {
        what = script.front();
        script.pop_front();
      }
      if (what == "not yet") return NotYet{};
      if (what == "exhausted" || proposals-- <= 0) return Exhausted{};
      return Proposal{.point = Point{std::vector<double>(space_.params.size(), next)}};
    });
  }
  void tell(std::span<const Outcome> outcomes) override {
    constexpr std::array<const char*, 5> kEnds = {"completed", "failed", "stopped", "diverged",
                                                  "imported"};
    for (const Outcome& outcome : outcomes) {
      std::string line =
          fmt::format("{} {} {}", outcome.trial, kEnds.at(static_cast<std::size_t>(outcome.end)),
                      outcome.loss ? fmt::format("{}", *outcome.loss) : "-");
      if (outcome.metrics.size() > 1) {
        for (const auto& [name, value] : outcome.metrics)
          line += fmt::format(" {}={}", name, value);
      }
      told.push_back(std::move(line));
    }
  }
  void adopt(TrialId trial, const Point&) override { adopted.push_back(trial); }
  std::vector<Decision> on_report(const Report&) override { return std::exchange(decisions, {}); }
  json save() const override { return nullptr; }
  Result<void> load(const json&) override { return {}; }

 private:
  Space space_;
};

}  // namespace attune
