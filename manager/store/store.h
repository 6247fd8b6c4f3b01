#pragma once
// Remembers one experiment: the writing side of attune.sqlite. docs/store.md has the tables.
//
// Changes gather in a transaction that the first of them opens and commit() ends. What was
// committed survives kill -9; the rest never happened. Whoever acts on a change commits before.
//
// A failure is for good: the calls after it fail, too. With be_patient() one that may pass (a full
// disk) is not: the changes are remembered, and each commit() tries again to write them.
//
// A file that was deleted, moved or replaced meanwhile is noticed by the next commit(). With
// be_patient() it is written anew, with all that it held.
//
// One thread owns a Store. Managers of several experiments share a file: each waits for the others
// as long as `busy` says, so a transaction must be short.
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
  std::string objective = "default";  // the metric whose number is `score`
  bool maximize = false;
  std::uint64_t seed = 0;
  json file;  // the experiment file with all defaults filled in: all that a resume starts from
  std::vector<ImportData::Record> imports = {};  // known from the first moment on
};

// What changes when a new manager goes on with an experiment.
struct Resumption {
  json file;                                     // the experiment file; null: as it is
  std::vector<ImportData::Record> imports = {};  // more of them
  // What the daemon is to be told of both, after what Outbox::Left has, with the counts then and
  // what the manager remembers.
  std::vector<std::pair<std::uint64_t, Frame>> commands = {};
  Outbox::Counts counts = {};
  RunnerState state = {};
};

class Store {
 public:
  // The file of a working directory, made when missing. Errors say what is wrong and the cure.
  static Result<Store> open(const std::filesystem::path& working_directory, BusyWait busy = 10);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();  // what was not committed is lost

  // First of all one of these two, committed when it returns. Times are seconds since 1970-01-01
  // UTC everywhere. begin() also puts a link to the file into the experiment's folder, so that the
  // folder alone names both.
  Result<void> begin(const NewExperiment& experiment, double time);
  Result<void> resume(const std::string& id, double time,
                      const Resumption& with = {});  // counts one more run

  // The manager lives, and has run for so many seconds, which it counts; written at most once in
  // kSeenSeconds. How long sessions took is known by it, whoever sets the clock.
  static constexpr double kSeenSeconds = 1;
  Result<void> seen(double time, double ran);

  Result<void> set_reason(const std::string& reason);  // why nothing is started for now, or empty
  Result<void> update_file(const json& file);          // what `attune update` changed
  Result<void> end(const ExperimentEnd& outcome, double time, double ran);

  Result<void> add_trial(const TrialRecord& trial, double time);
  Result<void> change_trial(const TrialRecord& trial);
  // Attempt `trial.attempts - 1` with the configuration trial.proposed.
  Result<void> add_attempt(const TrialRecord& trial, const std::string& from_checkpoint,
                           double time);
  Result<void> set_place(const TrialRecord& trial, const TrialPlace& place, double since);
  Result<void> end_attempt(const TrialRecord& trial, const TrialFinished& end);
  // `index` of a multi-phase trial, from 1.
  Result<void> add_parameter(const TrialRecord& trial, std::int64_t index,
                             const ProposedTrial& proposal);
  Result<void> add_report(const TrialRecord& trial, const TrialReport& report,
                          const Verdict& verdict);
  Result<void> add_decision(const DecisionRecord& decision, double time);
  Result<void> add_checkpoint(const CheckpointStored& saved, double time);
  Result<void> drop_checkpoint(const std::string& checkpoint, double time);
  Result<void> add_imports(const std::vector<ImportData::Record>& records, double time);
  Result<void> add_event(const RunnerEvent& event, double time);

  // The conversation with the daemon, see Outbox. Counts and state are written by the next commit
  // that comes; without counts the experiment has no conversation, and its state is not kept.
  Result<void> add_command(std::uint64_t number, const Frame& command);
  Result<void> drop_commands(std::uint64_t first, std::uint64_t last);
  void set_counts(const Outbox::Counts& counts);
  void set_state(const RunnerState& state);
  Result<void> forget_conversation();
  void on_commit(std::function<void()> committed);  // called by each commit that wrote something

  // Nothing when nothing changed. Else the file is touched when others can read what is new, so
  // that a FileWatch of the working directory misses none.
  Result<void> commit();
  // From now on: what cannot be written for a reason that may pass, as a full disk or another
  // process that writes, waits in memory, and each commit() tries again. A call waits as
  // long as `busy` says for another process: meanwhile the manager does nothing else.
  void be_patient(BusyWait busy = 1);
  // What the manager has in the folder of the experiment, which may be taken away alone. Called by
  // commit() once a second, and when the file was written anew; the folder exists then. An error is
  // one of commit(), which may pass.
  void keep_folder(std::function<Result<void>()> keep);
  bool was_rewritten();  // since the last call
  // commit() has failed for a reason that may pass.
  bool stalled() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune
