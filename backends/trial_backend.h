#pragma once
// The interface of everything that executes trials. A backend runs what it is told to run and
// reports what happened; it decides nothing. After the TrialBackend of Syne Tune.
//
// One thread owns a backend and makes all calls. When a backend has events, it calls the `wake`
// function that it was made with, from that same thread and never from inside a call. The owner
// then gets the events from fetch_status_results(). Nobody polls.
//
// A trial is named by its job id. It may be started several times (a retry, a resume after a
// pause); each start is an attempt, and at most one attempt of a trial runs at a time. A trial
// saves files for its own later attempts in its checkpoint directory. A checkpoint is a snapshot of
// that directory under an id of its own; it outlives the trial and may start another one.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/resources.h"
#include "base/result.h"
#include "protocol/command.h"

namespace attune {

struct TrialStart {
  std::string job_id;          // letters and digits, unique in the experiment, names the directory
  std::int64_t sequence = 0;   // counts trials from 0
  int attempt = 0;             // counts the starts of this trial from 0
  std::string parameter_text;  // the NewTrialJob payload, given to the trial byte for byte
  Resources resources;         // what the trial may use; GPUs are assigned by the backend
  std::string checkpoint;      // the attempt starts from it; empty: from scratch
  // If `checkpoint` is empty: keep what the attempt before has saved, instead of starting from
  // scratch.
  bool keep_checkpoint = false;
  // The key by which a coordinator recognises the program of this attempt; empty: none.
  std::string key = {};
};

// A metric that the trial reported.
struct TrialReport {
  std::string job_id;
  std::string text;            // the JSON text as the trial wrote it, without the line end
  ReportMetricData metric;     // the same, decoded; its trial_job_id is job_id
  double time = 0;             // when it was reported: seconds since 1970-01-01 UTC, or virtual
  std::uint64_t position = 0;  // of the next byte in the attempt's stream; for adopt()
  bool late = false;  // reported after stop() or pause(): the decision was taken without it
  // How long the attempt had run when it reported, in seconds counted on the machine where it ran;
  // nothing: unknown. `time` is only for people: somebody may change a clock, and two machines have
  // two clocks.
  std::optional<double> ran = {};
};
// A problem that the user should know: what is wrong and where. The trial continues.
struct TrialProblem {
  std::string job_id;
  std::string text;
};
// The state of an attempt that start() or adopt() has accepted: for backends whose attempts may
// have to wait for room, or that assign GPUs. Without a TrialPlace an attempt counts as running
// since it was accepted.
struct TrialPlace {
  std::string job_id;
  std::string waits_for;  // why it does not run yet, as a sentence; empty: it runs
  // For how many seconds it has run when the event is fetched. It is counted, and not the
  // difference of two machines' clocks.
  double ran = 0;
  std::string worker = {}, host = {};  // where it runs, if elsewhere; for people
  std::string gpus = {};               // "0,2": those assigned to it; empty: none, or unknown

  bool operator==(const TrialPlace&) const = default;
};
// Answers save_checkpoint() and copy_checkpoint().
struct CheckpointStored {
  std::string job_id;
  std::string checkpoint;
  double bytes = 0;
  std::string error;         // empty: stored; "nothing saved": the trial's directory is empty
  std::int64_t reports = 0;  // of the trial before the checkpoint; a backend leaves it 0
  bool no_room = false;      // with error: the disk is full; what the trial saved is still there
};
enum class Ending {
  succeeded,       // ended by itself with exit code 0
  failed,          // ended by itself with another one
  signalled,       // killed by a signal that nobody here sent
  out_of_memory,   // the kernel killed it for memory
  lost,            // unknown how it ended: its machine or its shim died
  restore_failed,  // the checkpoint to start from could not be put in place; the trial never ran
  stopped,         // by stop() or kill_all()
  paused,          // by pause()
};
// The last event of an attempt; none of its processes runs any more.
struct TrialFinished {
  std::string job_id;
  Ending how = Ending::succeeded;
  std::string detail;      // "exit code 3", "killed by signal 11 (Segmentation fault)"
  double time = 0;         // when it ended, as TrialReport::time
  double cpu_seconds = 0;  // user and system time of the attempt's processes, as far as known
  double max_rss = 0;      // bytes, of the largest process
  // The attempt is lost because its machine is taken away, but it was told so in time: a checkpoint
  // of what it has saved is worthwhile.
  bool with_grace = false;
  std::optional<double> ran = {};  // as TrialReport::ran
};
using TrialEvent =
    std::variant<TrialReport, TrialProblem, TrialPlace, CheckpointStored, TrialFinished>;

class TrialBackend {
 public:
  virtual ~TrialBackend() = default;  // running trials go on: a later backend adopts them

  // The directory in which trials keep their files. Call it before anything else.
  virtual void set_path(const std::filesystem::path& directory) = 0;

  // All resources for trials, used or free.
  virtual Resources capacity() const = 0;

  // Starts an attempt: the first one, a retry, or the resume of a paused trial with a new
  // configuration. On an error nothing runs, and no event names the attempt.
  virtual Result<void> start(const TrialStart& trial) = 0;

  // Takes over an attempt that an earlier manager started. `position` is that of the last report
  // that the earlier manager stored, 0 for none.
  enum class Adoption {
    // It runs or has ended. Events follow, and reports from `position` on. If nobody has counted
    // meanwhile how long it runs, a TrialPlace comes first and says so.
    taken,
    not_started,  // the earlier start() did not get far enough: nothing ran
    // It ran, and how it ended is unknown. Reports from `position` on follow, and
    // TrialFinished{lost}.
    lost,
  };
  virtual Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) = 0;

  // Ask the attempt to end, and force it after a grace period. TrialFinished follows. From now on
  // its reports are late: the decision was taken without them. A trial that pause() ends may be
  // started again. An attempt that does not run is ignored, because it may have ended a moment ago.
  virtual void stop(const std::string& job_id) = 0;
  virtual void pause(const std::string& job_id) = 0;
  virtual void kill_all() = 0;  // stops all attempts without grace

  // The answer to REQUEST_PARAMETER number `index`: one more configuration for a running trial.
  virtual Result<void> give_parameter(const std::string& job_id, std::int64_t index,
                                      const std::string& text) = 0;

  // Tells a running trial that its first `reports` intermediate results of this attempt are decided
  // and that it goes on. A trial whose reports wait for that returns from them. The default is for
  // backends whose trials do not wait.
  virtual Result<void> answer(const std::string& /*job_id*/, std::int64_t /*reports*/) {
    return {};
  }

  // Stores what the trial has saved so far as `checkpoint`, a new id of letters, digits, '-' and
  // '_'. The trial may run or have ended. CheckpointStored follows.
  virtual void save_checkpoint(const std::string& job_id, const std::string& checkpoint) = 0;
  virtual void copy_checkpoint(const std::string& from, const std::string& to) = 0;
  virtual void delete_checkpoint(const std::string& checkpoint) = 0;  // an unknown one is ignored
  // The trial will not be started again: what it saved for its own attempts may be deleted. Its
  // output stays.
  virtual void release(const std::string& job_id) = 0;
  // What delete_checkpoint() and release() were told to delete, and is still there. A backend may
  // delete in the background; if its manager is killed meanwhile, a later manager must tell its own
  // backend again. The default is for backends that delete at once.
  struct Deletions {
    std::vector<std::string> checkpoints;
    std::vector<std::string> trials;  // job ids
  };
  virtual Deletions unfinished_deletions() const { return {}; }

  // Returns new events, those of one trial in their order. The amount is bounded: if there are
  // more, wake is called again. The owner slows a flood of events down by not fetching.
  virtual std::vector<TrialEvent> fetch_status_results() = 0;

  virtual std::filesystem::path stderr_path(const std::string& job_id) const = 0;
};

}  // namespace attune
