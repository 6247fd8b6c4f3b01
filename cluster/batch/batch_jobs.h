#pragma once
// The jobs that should be there, by name: submitted once each, looked for in one list for all,
// tried again when the batch system does not answer, cancelled when nobody needs them. Below the
// operators that say which.
//
// Passive: time is an argument, in seconds. Handlers are called from tick() and from answers of the
// batch system, and may call everything here.
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
  std::string id;   // of the batch system; empty: it has forgotten it
  std::string how;  // "ran out of memory (OutOfMemory)"
};
std::string to_text(const BatchEnd& end);  // "its job 17 ran out of memory (OutOfMemory)"

struct BatchJobsOptions {
  std::string prefix;           // of all names of ours: others' jobs are left alone
  double poll = 5;              // seconds between two lists, while jobs are expected
  double absent_after = 60;     // seconds: a job that runs and is not listed for so long is lost
  double orphan_after = 60;     // seconds for which a job of ours that nobody knows is left alone
  std::size_t most = SIZE_MAX;  // submitted and not ended
  double first_pause = 2, longest_pause = 60;  // seconds between tries to submit, doubled
};

class BatchJobs {
 public:
  struct Handlers {
    std::function<double()> now;
    // Each list, of those that have not ended. `running`: seconds since it was first seen to run.
    std::function<void(const std::string& name, const BatchState& state, double running)> on_seen;
    // It has ended, or is lost: not known here any more.
    std::function<void(const std::string& name, const BatchEnd& end)> on_over;
    // Never will be there: not known here any more.
    std::function<void(const std::string& name, const BatchRefusal& why)> on_refused;
    // It is tried again.
    std::function<void(const std::string& name, const std::string& why)> on_trouble;
    // A job of ours that was not asked for and has not ended. True: somebody knows it.
    std::function<bool(const std::string& name, const BatchState& state)> on_unknown;
    std::function<void()> on_change;  // next_time() or busy() may say something else
  };
  BatchJobs(std::unique_ptr<BatchSystem> system, BatchJobsOptions options, Handlers handlers,
            Log log);

  // It should be there. Submitted again when the batch system turns out to have forgotten it, as
  // long as it has not been seen to run. Nothing when the name is known already.
  void want(BatchJob job, double now);
  // It is there, submitted by an earlier coordinator, or needed again.
  void watch(const std::string& name);
  // Whether its worker is here: then no list says anything against it. True: it was, and is no
  // more.
  bool set_here(const std::string& name, bool here);
  void cancel(const std::string& name);  // nobody needs it
  void let_go(const std::string& name);  // it ends by itself; nothing more is said of it
  void look_now();                       // a list, now or when the present one is answered

  bool knows(const std::string& name) const { return jobs_.contains(name); }
  // Those that are neither cancelled nor let go.
  std::vector<std::string> wanted() const;
  bool pending(const std::string& name) const;  // it has not begun to run
  bool listed() const { return listed_; }       // at least once

  void tick(double now);
  std::optional<double> next_time() const;
  bool busy() const { return under_way_ > 0; }  // cancellations and submissions

 private:
  enum class Stage { waiting, submitting, submitted, leaving };
  struct Job {
    std::optional<BatchJob> job;  // to submit
    Stage stage = Stage::waiting;
    bool here = false, was_here = false;
    double next_try = 0, pause = 0, running_since = -1, absent_since = -1;
    double leaving_since = -1;
    int submissions = 0;
    std::uint64_t answered = 0;  // no list that was begun before says anything of it
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
  std::map<std::string, double> orphans_;  // since when
  bool listing_ = false, again_ = false, listed_ = false;
  double next_list_ = 0, tried_ = 0;
  std::uint64_t clock_ = 0;  // counts lists and answers
  int under_way_ = 0;
  std::string trouble_;                  // the last of the lists, to say it once
  std::unique_ptr<BatchSystem> system_;  // last: answers none once it is gone
};

}  // namespace attune
