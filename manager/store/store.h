#pragma once
// Writes one experiment into attune.sqlite. docs/store.md describes the tables.
//
// The first change opens a transaction, and commit() ends it. What was committed survives kill -9;
// after a crash the rest has never happened. So commit a change before you act on it.
//
// After a failure all further calls fail, too. be_patient() changes this for failures that may
// pass, such as a full disk: the store keeps the changes in memory, and each commit() tries to
// write them again.
//
// If the file is deleted, moved or replaced while it is open, the next commit() notices it. With
// be_patient() that commit writes the file anew, with everything that it held.
//
// One thread owns a Store. The managers of several experiments share one file. Each call waits for
// the others as BusyWait says, so keep transactions short.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/result.h"
#include "manager/decider/outbox.h"
#include "manager/store/busy_wait.h"
#include "manager/trials/trial_record.h"
#include "manager/trials/trial_store.h"

namespace attune {

// What is fixed when an experiment begins.
struct NewExperiment {
  std::string id;
  std::string name;                   // may be empty
  std::filesystem::path directory;    // absolute: the folder of this experiment; exists
  std::string objective = "default";  // the metric that is the score
  bool maximize = false;
  std::uint64_t seed = 0;
  json file;  // the experiment file with all defaults filled in; a resume starts from it
  std::vector<ImportData::Record> imports = {};  // results that are known at the start
};

// What changes when a new manager resumes an experiment.
struct Resumption {
  json file;                                     // the new experiment file; null: unchanged
  std::vector<ImportData::Record> imports = {};  // further results
  // Commands that tell the daemon of a new search space and of the imports; their numbers follow
  // those in Outbox::Left. `counts` include them. If `commands` is empty, the next two do not
  // matter.
  std::vector<std::pair<std::uint64_t, Frame>> commands = {};
  Outbox::Counts counts = {};
  RunnerState state = {};
};

class Store {
 public:
  // Opens the file of a working directory; makes both if they are missing. Errors name the cure.
  static Result<Store> open(const std::filesystem::path& working_directory, BusyWait busy = 10);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();  // what was not committed is lost

  // Call one of these two first. Both commit. `time` is in seconds since 1970-01-01 UTC, here and
  // below. begin() also makes a link to the file in the experiment's folder, so that commands find
  // the store from there. resume() counts one more run; error: there is no experiment of that id.
  Result<void> begin(const NewExperiment& experiment, double time);
  Result<void> resume(const std::string& id, double time, const Resumption& with = {});

  // Notes that the manager lives, and has run for `ran` seconds. Written at most once in
  // kSeenSeconds. `ran` is counted by the manager, so that setting the clock does not change how
  // long sessions took.
  static constexpr double kSeenSeconds = 1;
  Result<void> seen(double time, double ran);

  // Why the tuner proposes nothing for now; empty: it proposes.
  Result<void> set_reason(const std::string& reason);
  Result<void> update_file(const json& file);  // replaces the stored experiment file
  // Writes how the experiment ended, and commits. Changes that are not committed yet are dropped:
  // only this one is tried.
  Result<void> end(const ExperimentEnd& outcome, double time, double ran);

  Result<void> add_trial(const TrialRecord& trial, double time);
  Result<void> change_trial(const TrialRecord& trial);
  // Adds attempt number `trial.attempts - 1`, which runs with the configuration trial.proposed.
  Result<void> add_attempt(const TrialRecord& trial, const std::string& from_checkpoint,
                           double time);
  Result<void> set_place(const TrialRecord& trial, const TrialPlace& place, double since);
  Result<void> end_attempt(const TrialRecord& trial, const TrialFinished& end);
  // One more configuration of a multi-phase trial; `index` counts from 1.
  Result<void> add_parameter(const TrialRecord& trial, std::int64_t index,
                             const ProposedTrial& proposal);
  Result<void> add_report(const TrialRecord& trial, const TrialReport& report,
                          const ReportVerdict& verdict);
  Result<void> add_decision(const DecisionRecord& decision, double time);
  Result<void> add_checkpoint(const CheckpointStored& saved, double time);
  Result<void> drop_checkpoint(const std::string& checkpoint, double time);
  Result<void> add_imports(const std::vector<ImportData::Record>& records, double time);
  Result<void> add_event(const RunnerEvent& event, double time);

  // The conversation with the daemon, see Outbox. The next commit() writes counts and state, but
  // neither before the first set_counts() nor after forget_conversation().
  Result<void> add_command(std::uint64_t number, const Frame& command);
  Result<void> drop_commands(std::uint64_t first, std::uint64_t last);
  void set_counts(const Outbox::Counts& counts);
  void set_state(const RunnerState& state);
  Result<void> forget_conversation();
  void on_commit(std::function<void()> committed);  // called by each commit that wrote something

  // Does nothing if nothing has changed. After a commit it touches the file, so that a FileWatch of
  // the working directory sees every commit.
  Result<void> commit();
  // From now on changes that cannot be written for a reason that may pass (a full disk, another
  // process that writes) stay in memory, and each commit() tries again. `busy`: how long a call
  // waits for another process that writes; the manager does nothing else meanwhile.
  void be_patient(BusyWait busy = 1);
  // `keep` makes anew what the manager has in the experiment's folder (its lock), if somebody has
  // removed it. commit() calls it once a second, and when it has written the file
  // anew; the folder exists then. If `keep` fails, so does commit(), as for a reason that may pass.
  void keep_folder(std::function<Result<void>()> keep);
  bool was_rewritten();  // whether the file was written anew since the last call
  bool stalled() const;  // the last commit() failed for a reason that may pass

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune
