#pragma once
// An experiment in a store, for the tests of exports.
#include <cstdio>
#include <string>
#include <vector>

#include "base/python_json.h"
#include "manager/interchange/exporter.h"
#include "manager/store/store.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune {

class ExportedWorld {
 public:
  explicit ExportedWorld(const json& file)
      : store(begin_experiment(folder.path, "abcd2345", "digits", file)) {}

  // A trial that began at 1002, has reported `curve`, and is `status` since 1003.5.
  void add(const json& parameters, TrialStatus status, const json& final_metric,
           const std::vector<json>& curve = {}) {
    TrialRecord trial = pending_trial(next_++);
    trial.proposed.parameters = parameters;
    store.add_trial(trial, 1001).value();
    if (status != TrialStatus::pending) {
      trial.status = TrialStatus::running;
      trial.attempts = 1;
      trial.start_time = 1002;
      store.add_attempt(trial, "", 1002).value();
    }
    std::int64_t sequence = 0;
    for (const json& value : curve) report(trial, sequence++, value);
    trial.status = status;
    trial.final_metric = final_metric;
    if (has_ended(status)) trial.end_time = 1003.5;
    store.change_trial(trial).value();
    store.commit().value();
  }
  void report(const TrialRecord& trial, std::int64_t sequence, const json& value) {
    TrialReport report = report_of(trial, sequence, value, 0);
    report.text = dump_json({{"parameter_id", trial.sequence},
                             {"trial_job_id", trial.job_id},
                             {"type", "PERIODICAL"},
                             {"sequence", sequence},
                             {"value", dump_python_json(value)}});
    store.add_report(trial, report, {}).value();
  }
  StoreReader reader() const { return StoreReader::open(folder.path).value(); }
  ExportedExperiment experiment() const { return exported_experiment(reader().find("").value()); }

  TemporaryFolder folder;
  Store store;

 private:
  std::int64_t next_ = 0;
};

}  // namespace attune
