#pragma once
// The reading side of attune.sqlite. A connection of its own that never writes: readers and the
// manager do not wait for each other. Every call sees what was committed when it began.
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
  std::string reason;  // one sentence; while it runs why nothing is proposed, mostly empty
  std::vector<Objective> objectives = {Objective{}};  // at least one; the first is the score
  std::uint64_t seed = 0;
  json file;                     // the experiment file with all defaults filled in
  int runs = 1;                  // managers that it has had
  std::int64_t manager_pid = 0;  // the last one's
  double manager_started = 0;
  double started = 0;
  std::optional<double> ended;
  double seconds = 0;  // that its managers ran, up to when the last one was seen; counted

  const Objective& objective() const { return objectives.front(); }
};

struct StoredAttempt {
  int attempt = 0;
  std::string from_checkpoint;  // empty: from scratch
  double started = 0;
  std::optional<double> ended;   // nothing: it runs, or its manager was killed
  std::optional<Ending> ending;  // with ended
  std::string detail;
  double cpu_seconds = 0, max_rss = 0;
  std::string worker, host;   // empty: it ran where its manager did, or waits
  std::optional<double> ran;  // with ended: for how long, where that is known
};
struct StoredParameter {
  std::int64_t index = 0;  // from 1 in a multi-phase trial
  int attempt = 0;         // the first that runs with it
  ProposedTrial proposed;
};
struct StoredReport {
  std::int64_t report = 0;  // counts all reports of the trial
  int attempt = 0;
  std::string type;  // "periodical", "final", "request_parameter"
  std::int64_t sequence = 0;
  double time = 0;
  std::uint64_t position = 0;
  bool late = false;
  std::string ignored;          // Verdict::why
  std::optional<double> value;  // of the objective
  std::string text;             // as the trial wrote it
  std::optional<double> ran;    // how long the attempt had run
  bool counts = true;           // as in Verdict
};
struct StoredDecision {
  double time = 0;
  std::string action, by, reason;
  std::optional<EndAsked::Kind> ends;  // of "stop" and "pause"
  std::optional<int> attempt;          // that was the newest then; nothing: of an earlier version
};
struct StoredCheckpoint {
  std::string checkpoint;
  int attempt = 0;
  std::string state;  // "kept", "failed", "dropped"
  double bytes = 0;
  std::string error;
  double saved = 0;
  std::optional<double> dropped;
  std::int64_t reports = 0;  // of the trial before it
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
  std::vector<StoredEvent> events;  // that are about it
};

// Failed trials whose last attempts have ended in the same way.
struct FailedAlike {
  std::optional<Ending> ending;  // nothing: none was started
  std::string detail;
  std::int64_t count = 0;
  std::vector<std::string> newest;  // some of them, by job id
};

// What a new manager needs of a trial that has not ended.
struct UnfinishedTrial {
  TrialRecord trial;
  std::optional<StoredAttempt> attempt;     // the last; nothing: it was never started
  std::uint64_t position = 0;               // of its last report that was kept; 0: none
  std::vector<StoredParameter> parameters;  // those of multi-phase, by index from 1
};

// What was said between an experiment's manager and its daemon, as of the last commit.
struct StoredConversation {
  Outbox::Left outbox;
  RunnerState manager;
};

struct TrialFilter {
  std::vector<TrialStatus> statuses;  // empty: all
  enum class Order { sequence, newest, best } order = Order::sequence;
  std::optional<std::int64_t> limit;
};

class StoreReader {
 public:
  // `folder`: a working directory, or the folder of one of its experiments.
  static Result<StoreReader> open(const std::filesystem::path& folder);
  StoreReader(StoreReader&&) noexcept;
  StoreReader& operator=(StoreReader&&) noexcept;
  ~StoreReader();

  std::filesystem::path working_directory() const;  // where the file lies
  // Another one lies there by now, or none: a manager writes it anew. What is open does not change.
  bool has_moved() const;

  Result<std::vector<StoredExperiment>> experiments();  // the newest first
  // By id, the beginning of one id, or name (the newest of that name). Empty: the experiment whose
  // folder was opened, else the newest. Errors say which there are.
  Result<StoredExperiment> find(const std::string& id_or_name);

  Result<Tally> tally(const StoredExperiment& experiment);

  // `each` is called with every trial that fits until it says false; nothing is held in memory.
  Result<void> trials(const StoredExperiment& experiment, const TrialFilter& filter,
                      const std::function<bool(const TrialRecord&)>& each);
  Result<std::vector<TrialRecord>> trials(const StoredExperiment& experiment,
                                          const TrialFilter& filter);
  // Of the succeeded trials the best ones, the first of equals first: with one objective `count`
  // (one, if nothing is said), those that break limits after those that keep them; with several
  // the trade-offs, all or the first `count`, or the one trial that is nearest to the limits, as
  // in Leaders (base/leaders.h). A trial that lacks a metric is none of them.
  Result<std::vector<TrialRecord>> best(const StoredExperiment& experiment,
                                        std::optional<std::int64_t> count = std::nullopt);
  // Nothing: there is none. One pass over the trials, unless there is one objective alone.
  Result<std::optional<BestSoFar>> best_so_far(const StoredExperiment& experiment);
  // `each` is called with every intermediate result, trial by trial, in the order in which they
  // came; nothing is held in memory.
  Result<void> intermediate_reports(
      const StoredExperiment& experiment,
      const std::function<void(const std::string& job_id, const StoredReport&)>& each);
  // By job id ("t0012") or number ("12").
  Result<TrialRecord> trial(const StoredExperiment& experiment, const std::string& name);
  Result<StoredTrial> whole_trial(const StoredExperiment& experiment, const std::string& name);
  // The commonest ends of failed trials first, with the `each` newest trials of one, and `trials`
  // in all. One pass over the failed trials.
  Result<std::vector<FailedAlike>> failures(const StoredExperiment& experiment, std::size_t each,
                                            std::size_t trials);
  Result<std::vector<StoredEvent>> events(const StoredExperiment& experiment, std::int64_t newest);

  // Everything that `body` reads belongs to the same moment.
  Result<void> consistently(const std::function<Result<void>()>& body);

  // ---- for a resume, together with trials() for what has ended
  Result<std::int64_t> next_sequence(const StoredExperiment& experiment);
  Result<std::vector<UnfinishedTrial>> unfinished(const StoredExperiment& experiment);
  Result<std::vector<StoredCheckpoint>> kept_checkpoints(const StoredExperiment& experiment);
  Result<std::vector<ImportData::Record>> imports(const StoredExperiment& experiment);
  // Nothing: it had none, or began before there were any.
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
