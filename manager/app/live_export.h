#pragma once
// Writes the forms that `export` of the experiment file names into <experiment>/export, while the
// experiment runs: a trial is added when it has ended. An observer of the trial runner, which
// passes everything on to the next one.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "manager/cli/progress.h"
#include "manager/interchange/exporter.h"
#include "manager/trials/trial_observer.h"

namespace attune {

class LiveExport final : public TrialObserver {
 public:
  // The arguments outlive it. `directory`: of the experiment.
  LiveExport(TrialObserver& next, std::filesystem::path directory, ProgressLine& progress)
      : next_(next), directory_(std::move(directory)), progress_(progress) {}

  // Writes `forms` anew, with all trials of experiment `id` that have ended so far.
  void begin(const std::vector<std::string>& forms, const std::string& id);
  // Call it when the store has committed. What cannot be written is a warning, and the end of that
  // form; the experiment goes on.
  void write_ended();

  void on_attempt(const TrialRecord& trial) override { next_.on_attempt(trial); }
  void on_trial_changed(const TrialRecord& trial) override;
  void on_tally(const Tally& tally) override { next_.on_tally(tally); }
  void on_event(const RunnerEvent& event) override { next_.on_event(event); }
  void on_done(const ExperimentEnd& end) override { next_.on_done(end); }

 private:
  struct Form;
  struct Closer {
    void operator()(Form* form) const;
  };

  Result<void> start(const std::vector<std::string>& forms, const std::string& id);
  Result<void> open(Form& form) const;
  void add(const StoredTrial& trial);
  Result<void> add(Form& form, const StoredTrial& trial);

  TrialObserver& next_;
  const std::filesystem::path directory_;
  ProgressLine& progress_;
  ExportedExperiment experiment_;
  std::vector<std::unique_ptr<Form, Closer>> forms_;
  std::vector<std::string> ended_;  // job ids of trials that are not written yet
};

}  // namespace attune
