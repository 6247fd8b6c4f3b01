#pragma once
// Feeds an assessor one report at a time and remembers the histories.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "assessors/registry.h"
#include "tests/support/through_text.h"

namespace attune {

class RungFeed {
 public:
  RungFeed(const AssessorEntry& entry, json arguments, std::vector<Objective> objectives = {},
           std::uint64_t seed = 0)
      : arguments_(std::move(arguments)), name_(entry.name), seed_(seed) {
    registry_.add(entry);
    context_.objectives = std::move(objectives);
    assessor_ = make();
  }

  // The metrics of the next report.
  Decision report(TrialId trial, Metrics metrics) {
    add(trial, std::move(metrics));
    return ask(trial);
  }
  Decision report(TrialId trial, double value) { return report(trial, {{"default", value}}); }
  bool stops(TrialId trial, double value) { return report(trial, value).action == Action::stop; }

  // A report that the assessor hears of only together with the next one.
  void add(TrialId trial, Metrics metrics) {
    auto& reports = histories_[trial];
    reports.push_back({trial, std::ssize(reports), std::move(metrics)});
  }
  // A step that is reported again.
  Decision rewrite(TrialId trial, std::size_t step, double value) {
    histories_[trial].at(step).metrics = {{"default", value}};
    return ask(trial);
  }
  Decision ask(TrialId trial) {
    Decision decision = assessor_->assess(trial, histories_[trial]);
    CHECK(decision.trial == trial);
    CHECK(decision.reason.empty() == (decision.action == Action::keep_going));
    return decision;
  }
  void end(TrialId trial, End end) {
    assessor_->trial_end(trial, end);
    histories_.erase(trial);
  }

  json state() const { return assessor_->save(); }
  Result<void> load(const json& state) { return assessor_->load(state); }

  // Goes on with a new assessor that has loaded the state of this one.
  void restart() {
    const json state = through_text(assessor_->save());
    assessor_ = make();
    const auto loaded = assessor_->load(state);
    if (!loaded) FAIL(loaded.error().message);
    CHECK(dump_json(assessor_->save()) == dump_json(state));
  }

 private:
  std::unique_ptr<Assessor> make() const {
    auto made = make_assessor(registry_, name_, arguments_, context_, seed_);
    if (!made) FAIL(made.error().message);
    return *std::move(made);
  }

  json arguments_;
  std::string name_;
  std::uint64_t seed_;
  AssessorRegistry registry_;
  Context context_;
  std::unique_ptr<Assessor> assessor_;
  std::map<TrialId, std::vector<Report>> histories_;
};

// What make_assessor() says of arguments that are wrong; "" if they are not.
inline std::string complaint(const AssessorEntry& entry, const json& arguments) {
  AssessorRegistry registry;
  registry.add(entry);
  const auto made = make_assessor(registry, entry.name, arguments, {}, 0);
  return made ? "" : made.error().message;
}

}  // namespace attune
