// Saving the histories of trials and going on from what was saved.
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "dispatcher/assess_worker.h"

namespace attune {
namespace {

constexpr double kMostSteps = 0x1p53;

// Column by column; a metric is the number of its name in `names`.
json save_reports(std::span<const Report* const> reports) {
  std::vector<std::string> names;
  std::vector<double> steps, counts, metrics, values;
  for (const Report* report : reports) {
    steps.push_back(static_cast<double>(report->step));
    counts.push_back(static_cast<double>(report->metrics.size()));
    for (const auto& [name, value] : report->metrics) {
      auto at = std::ranges::find(names, name);
      if (at == names.end()) at = names.insert(at, name);
      metrics.push_back(static_cast<double>(at - names.begin()));
      values.push_back(value);
    }
  }
  return {{"names", names},
          {"steps", save_numbers(steps)},
          {"counts", save_numbers(counts)},
          {"metrics", save_numbers(metrics)},
          {"values", save_numbers(values)}};
}

Result<std::vector<Report>> load_reports(TrialId trial, const json& state) {
  std::vector<std::string> names;
  for (const json& name : TRY(array_at(state, "names"))) {
    if (!name.is_string()) return fail("saved state: a metric without a name");
    names.push_back(name);
  }
  const auto steps = TRY(numbers_at(state, "steps"));
  const auto counts = TRY(numbers_at(state, "counts"));
  const auto metrics = TRY(numbers_at(state, "metrics"));
  const auto values = TRY(numbers_at(state, "values"));
  if (steps.size() != counts.size() || metrics.size() != values.size()) {
    return fail("saved state: columns of different length");
  }
  std::vector<Report> reports;
  std::size_t next = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto left = static_cast<double>(metrics.size() - next);
    if (!(steps[i] >= 0 && steps[i] < kMostSteps && counts[i] >= 1 && counts[i] <= left)) {
      return fail("saved state: an impossible report");
    }
    Report report{trial, static_cast<std::int64_t>(steps[i]), {}};
    for (const std::size_t end = next + static_cast<std::size_t>(counts[i]); next < end; ++next) {
      if (!(metrics[next] >= 0 && metrics[next] < static_cast<double>(names.size()))) {
        return fail("saved state: a metric without a name");
      }
      report.metrics.emplace_back(names[static_cast<std::size_t>(metrics[next])], values[next]);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace

WorkerMessages AssessWorker::on(SaveState& m) {
  if (!assessor_) return {AssessorState{m.number, nullptr}};
  std::vector<std::pair<TrialId, const History*>> all;
  for (const Histories* histories : {&histories_, &former_}) {
    for (const auto& [trial, history] : *histories) all.emplace_back(trial, &history);
  }
  std::ranges::sort(all);
  json running = json::array();
  for (const auto& [trial, history] : all) {
    std::vector<const Report*> reports;
    for (const Report& report : history->reports) reports.push_back(&report);
    for (const auto& [step, report] : history->later) reports.push_back(&report);
    running.push_back({{"trial", trial}, {"reports", save_reports(reports)}});
  }
  json state;
  state["running"] = std::move(running);
  state["assessor"] = assessor_->save();
  WorkerMessages messages;  // an initialiser list would copy the state
  messages.emplace_back(AssessorState{m.number, std::move(state)});
  return messages;
}

Result<void> AssessWorker::load(const json& state) {
  if (!assessor_ || state.is_null()) return {};
  TRY(assessor_->load(TRY(value_at(state, "assessor"))));
  for (const json& one : TRY(array_at(state, "running"))) {
    const TrialId trial = TRY(integer_at(one, "trial"));
    // Whether it was being stopped is not kept: if it still reports, that came to nothing.
    History& history = former_[trial];
    for (Report& report : TRY(load_reports(trial, TRY(object_at(one, "reports"))))) {
      if (report.step == std::ssize(history.reports)) {
        history.reports.push_back(std::move(report));
      } else if (report.step > std::ssize(history.reports)) {
        history.later.insert_or_assign(report.step, std::move(report));
      } else {
        return fail("saved state: a step stands twice");
      }
    }
  }
  return {};
}

}  // namespace attune
