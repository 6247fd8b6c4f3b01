#pragma once
// Reads attune.sqlite, over a connection that never writes: readers and the manager do not wait for
// each other. Each call sees what was committed when it began.
//
// One thread owns a StoreReader.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/trial_backend.h"
#include "base/json.h"
#include "base/leaders.h"
#include "base/result.h"
#include "manager/decider/outbox.h"
#include "manager/trials/end_asked.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"

namespace attune {

// killed: the row says running, and no manager holds the experiment's lock.
enum class ExperimentStatus { running, completed, interrupted, failed, killed };
std::string_view to_text(ExperimentStatus status);

struct StoredExperiment {
  std::int64_t number = 0;  // the key in the other tables
  std::string id, name;
  std::filesystem::path directory;
  ExperimentStatus status = ExperimentStatus::running;
  std::string reason;  // one sentence; while it runs: why the tuner proposes nothing, else empty
  std::vector<Objective> objectives = {Objective{}};  // at least one; the first is the score
  std::uint64_t seed = 0;
  json file;                     // the experiment file with all defaults filled in
  int runs = 1;                  // how many managers it has had
  std::int64_t manager_pid = 0;  // of the last manager
  double manager_started = 0;    // of the last manager
  double started = 0;
  std::optional<double> ended;
  double seconds = 0;  // how long all its managers have run, as they counted (Store::seen)

  const Objective& objective() const { return objectives.front(); }
};

struct StoredAttempt {
  int attempt = 0;
  std::string from_checkpoint;  // empty: from scratch
  double started = 0;
  std::optional<double> ended;   // nothing: it runs, or its manager was killed
  std::optional<Ending> ending;  // set when it has ended
  std::string detail;
  double cpu_seconds = 0, max_rss = 0;  // max_rss in bytes
  std::string worker, host;   // empty: on the machine of the manager, or it waits for a worker
  std::optional<double> ran;  // seconds until it ended; nothing: unknown
  std::string gpus;           // "0,2"; empty: none, or the backend does not say
};
struct StoredParameter {
  std::int64_t index = 0;  // 0: the trial starts with it; from 1: asked for by a multi-phase trial
  int attempt = 0;         // the first attempt that runs with it
  ProposedTrial proposed;
};
struct StoredReport {
  std::int64_t report = 0;  // its number among all reports of the trial, from 0
  int attempt = 0;
  std::string type;  // "periodical", "final", "request_parameter"
  std::int64_t sequence = 0;
  double time = 0;
  std::uint64_t position = 0;
  bool late = false;
  std::string ignored;          // ReportVerdict::why
  std::optional<double> value;  // of the objective
  std::string text;             // as the trial wrote it
  std::optional<double> ran;    // as TrialReport::ran
  bool counts = true;           // ReportVerdict::counts
};
struct StoredDecision {
  double time = 0;
  std::string action, by, reason;
  std::optional<EndAsked::Kind> ends;  // of "stop" and "pause"
  std::optional<int> attempt;  // the newest one then; nothing: written by an earlier version
};
struct StoredCheckpoint {
  std::string checkpoint;
  int attempt = 0;
  std::string state;  // "kept", "failed", "dropped"
  double bytes = 0;
  std::string error;
  double saved = 0;
  std::optional<double> dropped;
  std::int64_t reports = 0;  // iterations of the trial before it
  std::string job_id;
};
struct StoredEvent {
  double time = 0;
  std::string kind, text;
};

struct StoredTrial {
  TrialRecord trial;
  std::vector<StoredAttempt> attempts;
  std::vector<StoredParameter> parameters;
  std::vector<StoredReport> reports;
  std::vector<StoredDecision> decisions;
  std::vector<StoredCheckpoint> checkpoints;
  std::vector<StoredEvent> events;  // those that are about the trial
};

// A group of failed trials whose last attempts ended in the same way.
struct FailedAlike {
  std::optional<Ending> ending;  // nothing: they never started
  std::string detail;
  std::int64_t count = 0;
  std::vector<std::string> newest;  // job ids of the newest ones
};

// What a new manager needs of a trial that has not ended.
struct UnfinishedTrial {
  TrialRecord trial;
  std::optional<StoredAttempt> attempt;  // the last one; nothing: the trial never started
  std::uint64_t position = 0;  // TrialReport::position of the last report of that attempt; 0: none
  std::vector<StoredParameter> parameters;  // of the newest attempt, with index 1 and above
};

// The conversation between the manager and its daemon, as of the last commit.
struct StoredConversation {
  Outbox::Left outbox;
  RunnerState manager;
};

struct TrialFilter {
  std::vector<TrialStatus> statuses;  // empty: all
  enum class Order { sequence, newest, best } order = Order::sequence;
  std::int64_t from = 0;   // only trials of this number and above
  std::int64_t every = 1;  // only trials whose number is a multiple of this
  std::optional<std::int64_t> limit;
  std::optional<std::vector<std::int64_t>> numbers;  // only those of these numbers
};

// What changes of a trial while it goes on, without what takes long to read.
struct TrialMark {
  std::int64_t trial = 0;
  TrialStatus status = TrialStatus::pending;
  std::int64_t reports = 0;
  int attempts = 0;
  double started = 0;  // as TrialRecord::start_time
  bool waits = false;  // it counts as running, and waits for room
};

// A stretch of time in which a trial ran: one of its attempts.
struct TrialRun {
  std::int64_t trial = 0;
  double started = 0;
  std::optional<double> ended;   // nothing: it runs, or its manager was killed
  std::optional<Ending> ending;  // nothing as for `ended`
  std::string worker, gpus;      // as in StoredAttempt
};

class StoreReader {
 public:
  // `folder`: a working directory, or the folder of one of its experiments. Error: no store there.
  static Result<StoreReader> open(const std::filesystem::path& folder);
  StoreReader(StoreReader&&) noexcept;
  StoreReader& operator=(StoreReader&&) noexcept;
  ~StoreReader();

  std::filesystem::path working_directory() const;  // the folder of the file
  // Whether the open file was deleted, moved or replaced. Its manager writes it anew; this reader
  // still reads the old file, so open another one.
  bool has_moved() const;

  Result<std::vector<StoredExperiment>> experiments();  // the newest first
  // Finds an experiment by its id, the beginning of its id if no other begins so, or its name (the
  // newest of that name). Empty: the experiment whose folder was opened; if that is a working
  // directory, the newest. Errors list the experiments that exist.
  Result<StoredExperiment> find(const std::string& id_or_name);

  Result<Tally> tally(const StoredExperiment& experiment);

  // Calls `each` with every trial that fits, until it returns false. Trials are not collected in
  // memory; only for Order::best with several objectives their numbers and results are.
  Result<void> trials(const StoredExperiment& experiment, const TrialFilter& filter,
                      const std::function<bool(const TrialRecord&)>& each);
  Result<std::vector<TrialRecord>> trials(const StoredExperiment& experiment,
                                          const TrialFilter& filter);
  // The best succeeded trials, the best first. Trials that lack an objective are left out.
  // With one objective to optimise: the `count` best (default 1); trials that break a limit come
  // after those that keep all. With several: the trade-offs, all or the first `count`; if no trial
  // keeps the limits, the one that is nearest to them (Leaders, base/leaders.h).
  Result<std::vector<TrialRecord>> best(const StoredExperiment& experiment,
                                        std::optional<std::int64_t> count = std::nullopt);
  // Nothing: no trial has a result. Reads all succeeded trials, unless there is only one objective.
  Result<std::optional<BestSoFar>> best_so_far(const StoredExperiment& experiment);
  // Calls `each` with every intermediate result, trial by trial, in the order in which they came.
  // Results are not collected in memory.
  Result<void> intermediate_reports(
      const StoredExperiment& experiment,
      const std::function<void(const std::string& job_id, const StoredReport&)>& each);
  // `name`: the job id ("t0012") or the number ("12") of a trial. Error: there is no such trial.
  Result<TrialRecord> trial(const StoredExperiment& experiment, const std::string& name);
  // Calls `each` for those of the trials that exist, in the order of their numbers.
  Result<void> marks(const StoredExperiment& experiment, const std::vector<std::int64_t>& trials,
                     const std::function<void(const TrialMark&)>& each);
  // Calls `each` for every run of the trials that fit `from` and `numbers` of the filter, trial by
  // trial, the first run first, until it returns false.
  Result<void> runs(const StoredExperiment& experiment, const TrialFilter& filter,
                    const std::function<bool(const TrialRun&)>& each);
  // `reports`: at most so many, the newest.
  Result<StoredTrial> whole_trial(const StoredExperiment& experiment, const std::string& name,
                                  std::optional<std::int64_t> reports = std::nullopt);
  // Groups the failed trials by how they ended; the largest group first. A group names at most
  // `each` trials; the list ends before it would name more than `trials` in all.
  Result<std::vector<FailedAlike>> failures(const StoredExperiment& experiment, std::size_t each,
                                            std::size_t trials);
  // The newest `newest` events, the oldest of them first.
  Result<std::vector<StoredEvent>> events(const StoredExperiment& experiment, std::int64_t newest);

  // Runs `body`, in which all calls read the same state of the store. Calls may nest.
  Result<void> consistently(const std::function<Result<void>()>& body);

  // ---- for a resume, together with trials() for the trials that have ended
  Result<std::int64_t> next_sequence(const StoredExperiment& experiment);
  Result<std::vector<UnfinishedTrial>> unfinished(const StoredExperiment& experiment);
  Result<std::vector<StoredCheckpoint>> kept_checkpoints(const StoredExperiment& experiment);
  Result<std::vector<ImportData::Record>> imports(const StoredExperiment& experiment);
  // Nothing: none is stored, as for a simulation, or by a version before conversations were. Error:
  // it is damaged.
  Result<std::optional<StoredConversation>> conversation(const StoredExperiment& experiment);

 private:
  struct State;
  struct Ranked {
    std::optional<Standing> standing;
    std::int64_t trial = 0;
  };
  Result<void> standings(const StoredExperiment& experiment,
                         const std::vector<TrialStatus>& statuses,
                         const std::function<void(Ranked)>& each);
  Result<Leaders> leaders(const StoredExperiment& experiment);
  Result<void> ranked(const StoredExperiment& experiment, const TrialFilter& filter,
                      const std::function<bool(const TrialRecord&)>& each);
  explicit StoreReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attune
