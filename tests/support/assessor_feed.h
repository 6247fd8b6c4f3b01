#pragma once
// Feeds one assessor with reports and ends, and remembers the histories as the dispatcher does.
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assessors/registry.h"

namespace attune {

class AssessorFeed {
 public:
  AssessorFeed(const AssessorEntry& entry, json arguments, Context context = {})
      : arguments_(std::move(arguments)), context_(std::move(context)) {
    registry_.add(entry);
    assessor = make();
  }

  // The next report of the trial.
  Decision metrics(TrialId trial, Metrics metrics) {
    auto& reports = histories_[trial];
    reports.push_back({trial, std::ssize(reports), std::move(metrics)});
    return again(trial);
  }
  Decision value(TrialId trial, double value) { return metrics(trial, {{"default", value}}); }
  bool stops(TrialId trial, double x) { return value(trial, x).action == Action::stop; }
  // Several reports that became visible at once.
  Decision values(TrialId trial, const std::vector<double>& values) {
    auto& reports = histories_[trial];
    for (const double x : values) {
      reports.push_back({trial, std::ssize(reports), {{"default", x}}});
    }
    return again(trial);
  }
  Decision rewrite(TrialId trial, std::size_t step, double value) {
    histories_[trial].at(step).metrics = {{"default", value}};
    return again(trial);
  }
  Decision again(TrialId trial) {
    const Decision decision = assessor->assess(trial, histories_[trial]);
    CHECK(decision.trial == trial);
    CHECK(decision.reason.empty() == (decision.action == Action::keep_going));
    return decision;
  }
  void end(TrialId trial, End end) {
    assessor->trial_end(trial, end);
    histories_.erase(trial);
  }
  void run(TrialId trial, const std::vector<double>& values, End how = End::completed) {
    for (const double x : values) value(trial, x);
    end(trial, how);
  }

  // Goes on with another assessor, which has loaded the state, through text as a snapshot goes.
  void reload() {
    const std::string saved = dump_json(assessor->save());
    assessor = make();
    const auto state = parse_json(saved);
    REQUIRE(state);
    const auto loaded = assessor->load(*state);
    if (!loaded) FAIL(loaded.error().message);
    REQUIRE(dump_json(assessor->save()) == saved);
  }

  std::unique_ptr<Assessor> assessor;

 private:
  std::unique_ptr<Assessor> make() const {
    auto made = make_assessor(registry_, registry_.entries()[0].name, arguments_, context_, 42);
    if (!made) FAIL(made.error().message);
    return *std::move(made);
  }

  AssessorRegistry registry_;
  json arguments_;
  Context context_;
  std::map<TrialId, std::vector<Report>> histories_;
};

}  // namespace attune
