// Saving the histories of trials and going on from what was saved.
#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "dispatcher/assess_worker.h"
#include "dispatcher/name_table.h"

namespace attune {
namespace {

constexpr double kMostSteps = 0x1p53;

// Column by column; a metric is the number of its name in `names`.
json save_reports(std::span<const Report* const> reports) {
  NameTable names;
  std::vector<double> steps, counts, metrics, values;
  for (const Report* report : reports) {
    steps.push_back(static_cast<double>(report->step));
    counts.push_back(static_cast<double>(report->metrics.size()));
    for (const auto& [name, value] : report->metrics) {
      metrics.push_back(names.number_of(name));
      values.push_back(value);
    }
  }
  return {{"names", names.names()},
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
  json running = json::array();
  for (const Histories* histories : {&histories_, &former_}) {
    for (const auto& [trial, history] : *histories) {
      std::vector<const Report*> reports;
      for (const Report& report : history.reports) reports.push_back(&report);
      for (const auto& [step, report] : history.later) reports.push_back(&report);
      running.push_back({{"trial", trial},
                         {"former", histories == &former_},
                         {"stopped", history.stopped},
                         {"reports", save_reports(reports)}});
    }
  }
  json state;
  state["running"] = std::move(running);
  state["assessor"] = assessor_->save();
  state["longest"] = longest_;
  WorkerMessages messages;  // an initialiser list would copy the state
  messages.emplace_back(AssessorState{m.number, std::move(state)});
  return messages;
}

Result<void> AssessWorker::load(const json& state) {
  if (!assessor_ || state.is_null()) return {};
  TRY(assessor_->load(TRY(value_at(state, "assessor"))));
  if (state.contains("longest")) {  // an earlier attuned did not need it
    const std::int64_t longest = TRY(integer_at(state, "longest"));
    if (longest < 0) return fail("saved state: \"longest\" must not be negative");
    longest_ = static_cast<std::size_t>(longest);
  }
  for (const json& one : TRY(array_at(state, "running"))) {
    const TrialId trial = TRY(integer_at(one, "trial"));
    const json former = TRY(value_at(one, "former"));
    const json stopped = TRY(value_at(one, "stopped"));
    if (!former.is_boolean() || !stopped.is_boolean()) {
      return fail("saved state: \"former\" and \"stopped\" must be true or false");
    }
    if (histories_.contains(trial) || former_.contains(trial)) {
      return fail("saved state: a trial stands twice");
    }
    History& history = (former.get<bool>() ? former_ : histories_)[trial];
    history.stopped = stopped.get<bool>();
    std::int64_t next = 0;
    for (Report& report : TRY(load_reports(trial, TRY(object_at(one, "reports"))))) {
      if (report.step < next) return fail("saved state: the steps of a trial must ascend");
      next = report.step + 1;
      if (report.step == std::ssize(history.reports)) {
        history.reports.push_back(std::move(report));
      } else {
        history.later.emplace(report.step, std::move(report));
      }
    }
  }
  return {};
}

void AssessWorker::restart() {
  former_.merge(histories_);
  for (auto& [trial, history] : former_) history.stopped = false;
}

}  // namespace attune
