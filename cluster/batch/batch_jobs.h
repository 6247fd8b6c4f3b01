#pragma once
// Keeps the wanted jobs in the batch system, by name: submits each once, follows all of them with
// one list, tries again when the batch system does not answer, and cancels jobs that nobody needs.
// The operators, which use this class, decide which jobs are wanted.
//
// Passive: time is an argument, in seconds. Handlers are called when the batch system answers;
// `now` and `on_change` also at other times. Handlers may call all functions of this class.
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/batch/batch_system.h"
#include "os/log.h"

namespace attune {

// What became of a job, for people.
struct BatchEnd {
  std::string id;   // given by the batch system; empty: it has forgotten the job
  std::string how;  // "ran out of memory (OutOfMemory)"
};
std::string to_text(const BatchEnd& end);  // "its job 17 ran out of memory (OutOfMemory)"

struct BatchJobsOptions {
  std::string prefix;  // of the names of all our jobs; other jobs are left alone
  double poll = 5;     // seconds between two lists, while jobs are expected
  // Seconds: a job that may have run is lost when it is not listed for so long.
  double absent_after = 60;
  // A job of ours that nobody knows, or that should have ended, is cancelled after so many seconds.
  double orphan_after = 60;
  std::size_t most = SIZE_MAX;  // jobs that are submitted and have not ended, at most
  // Seconds between tries to submit; doubled each time.
  double first_pause = 2, longest_pause = 60;
};

class BatchJobs {
 public:
  struct Handlers {
    std::function<double()> now;
    // In each list, for each wanted job that has not ended. `running`: seconds since it was first
    // seen to run; 0: it does not run.
    std::function<void(const std::string& name, const BatchState& state, double running)> on_seen;
    // The job has ended or is lost, and is not known here any more.
    std::function<void(const std::string& name, const BatchEnd& end)> on_over;
    // The job was refused for good, and is not known here any more.
    std::function<void(const std::string& name, const BatchRefusal& why)> on_refused;
    // A submission has failed, and will be tried again.
    std::function<void(const std::string& name, const std::string& why)> on_trouble;
    // A job with our prefix, which has not ended, is not known here. Returns true if the caller
    // knows it; otherwise it is cancelled after `orphan_after`.
    std::function<bool(const std::string& name, const BatchState& state)> on_unknown;
    std::function<void()> on_change;  // next_time() or busy() may have changed
  };
  BatchJobs(std::unique_ptr<BatchSystem> system, BatchJobsOptions options, Handlers handlers,
            Log log);

  // The job should exist. It is submitted as soon as `most` allows it; and again if the batch
  // system turns out to have forgotten it, as long as it has not been seen to run. Does nothing if
  // the name is known already.
  void want(BatchJob job, double now);
  // The job exists: an earlier coordinator submitted it, or it is needed again.
  void watch(const std::string& name);
  // Says whether the job's worker is connected. While it is, no list counts against the job.
  // Returns true if it was connected before and is not any more.
  bool set_here(const std::string& name, bool here);
  void cancel(const std::string& name);  // nobody needs the job
  void let_go(const std::string& name);  // it ends by itself; no handler hears of it any more
  void look_now();                       // asks for a list, now or when the present one has come

  bool knows(const std::string& name) const { return jobs_.contains(name); }
  // The jobs that are neither cancelled nor let go.
  std::vector<std::string> wanted() const;
  bool pending(const std::string& name) const;  // it has not begun to run, as far as known
  bool listed() const { return listed_; }       // a list has come at least once

  void tick(double now);
  std::optional<double> next_time() const;
  bool busy() const { return under_way_ > 0; }  // cancellations and submissions are under way

 private:
  enum class Stage { waiting, submitting, submitted, leaving };
  struct Job {
    std::optional<BatchJob> job;  // to submit
    Stage stage = Stage::waiting;
    bool here = false, was_here = false;
    double next_try = 0, pause = 0, running_since = -1, absent_since = -1;
    double leaving_since = -1;
    int submissions = 0;
    // `clock_` at the last answer; lists that were begun earlier do not count.
    std::uint64_t answered = 0;
    std::optional<BatchState> state;
  };

  void submit_due(double now);
  void submit(const std::string& name, Job& job);
  void answered(const std::string& name, const BatchSubmission& answer);
  void heard(const Result<BatchStates>& states, std::uint64_t begun);
  void found(const std::string& name, const BatchState& state, double now);
  void see_off(const std::string& name, Job& job, double now);
  void absent(const std::string& name, double now);
  void look_for_orphans(const BatchStates& states, double now);
  void run_cancel(std::vector<std::string> names);

  const BatchJobsOptions options_;
  const Handlers handlers_;
  const Log log_;
  std::map<std::string, Job> jobs_;
  std::map<std::string, double> orphans_;  // when each was first seen
  bool listing_ = false, again_ = false, listed_ = false;
  double next_list_ = 0, tried_ = 0;
  std::uint64_t clock_ = 0;  // counts lists and answers
  int under_way_ = 0;
  std::string trouble_;  // the last error of a list, to log it once
  // Last member, so destroyed first: no answer comes after that.
  std::unique_ptr<BatchSystem> system_;
};

}  // namespace attune
