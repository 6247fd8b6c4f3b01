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
  // "propose", "not yet", "exhausted", "resume 3" (with a budget of 9), "from 3" (starts from its
  // checkpoint), "resume 3 from 4"; empty: propose
  std::deque<std::string> script;
  int proposals = 1'000'000;             // after so many, exhausted
  double next = 0.5;                     // the value of every parameter
  std::vector<Decision> decisions;       // answers on_report, once
  std::vector<std::string> told;         // "3 completed 0.5 default=0.5 time=3"
  std::vector<std::string> checkpoints;  // "3 saved"
  std::string reason;                    // of the trials that go on
  std::vector<TrialId> adopted, withdrawn;
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
      Proposal proposal{.point = Point{std::vector<double>(space_.params.size(), next)}};
      if (what.starts_with("resume ")) {
        proposal.resume = std::stoi(what.substr(7));
        proposal.budget = 9;
        proposal.reason = reason;
      }
      if (const auto from = what.find("from "); from != what.npos) {
        proposal.checkpoint_from = std::stoi(what.substr(from + 5));
      }
      return proposal;
    });
  }
  void withdraw(TrialId trial) override { withdrawn.push_back(trial); }
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
  void on_checkpoint(TrialId trial, bool saved) override {
    checkpoints.push_back(fmt::format("{} {}", trial, saved ? "saved" : "not saved"));
  }
  json save() const override { return nullptr; }
  Result<void> load(const json&) override { return {}; }

 private:
  Space space_;
};

}  // namespace attune
