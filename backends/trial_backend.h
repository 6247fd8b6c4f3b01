#pragma once
// The seam for everything that executes trials. A backend runs what it is told to run and says what
// happened; it decides nothing. After the TrialBackend of Syne Tune.
//
// One thread owns a backend and makes all calls. When a backend has something to tell it calls the
// `wake` function that it was made with, from that same thread and never from inside a call;
// fetch_status_results() then hands it over. Nobody polls.
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "protocol/command.h"

namespace attune {

struct TrialStart {
  std::string job_id;          // letters and digits, unique in the experiment, names the folder
  std::int64_t sequence = 0;   // counts trials from 0
  std::string parameter_text;  // the NewTrialJob payload, given to the trial byte for byte
};

// A metric that the trial reported.
struct TrialReport {
  std::string job_id;
  std::string text;         // the JSON text as the trial wrote it, without the line end
  ReportMetricData metric;  // the same, decoded; its trial_job_id is job_id
};
// Something that the user should know: what is wrong and where. The trial goes on.
struct TrialProblem {
  std::string job_id;
  std::string text;
};
// The last event of a trial; nothing that belongs to it runs any more.
struct TrialFinished {
  std::string job_id;
  bool success = false;  // ended by itself with exit code 0
  std::string detail;    // "exit code 3", "killed by signal 11 (Segmentation fault)"
};
using TrialEvent = std::variant<TrialReport, TrialProblem, TrialFinished>;

class TrialBackend {
 public:
  virtual ~TrialBackend() = default;

  // On an error nothing runs and no event will name the job.
  virtual Result<void> start(const TrialStart& trial) = 0;

  // Asks the trial to end, forces it after a grace period; TrialFinished follows. Reports that were
  // not fetched before this call are dropped: the decision was taken without them. A job that does
  // not run is ignored, since it may have ended a moment ago.
  virtual void stop(const std::string& job_id) = 0;
  virtual void stop_all() = 0;
  virtual void kill_all() = 0;  // the same without grace

  // Everything new, the events of one trial in their order, a bounded amount: if there is more,
  // wake is called again. Not fetching is how the owner slows a flood down.
  virtual std::vector<TrialEvent> fetch_status_results() = 0;

  // Jobs that were started and whose TrialFinished was not fetched yet, in starting order.
  virtual std::vector<std::string> busy_trial_ids() const = 0;

  virtual std::filesystem::path stdout_path(const std::string& job_id) const = 0;
  virtual std::filesystem::path stderr_path(const std::string& job_id) const = 0;
};

}  // namespace attune
