#pragma once
// The table of the trials that have not ended (pending, running, paused), and of the resources that
// the running ones use. Finding a trial costs the same for any number of trials; adding one and
// changing its status cost O(log trials).
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/trial_backend.h"
#include "manager/trials/attempt_time.h"
#include "manager/trials/end_asked.h"
#include "manager/trials/resource_pool.h"
#include "manager/trials/trial_record.h"
#include "manager/trials/trial_rules.h"
#include "manager/trials/trial_steps.h"
#include "os/clock.h"

namespace attune {

// A FINAL of the attempt that runs. It becomes the trial's result when the attempt has ended well.
struct HeldResult {
  ParameterId parameter_id;
  std::string text;  // as the trial reported it
  json value;
  double time = 0;                 // as TrialReport::time
  std::optional<double> ran = {};  // as TrialReport::ran
};

struct LiveTrial {
  TrialRecord record;
  std::shared_ptr<const TrialRules> rules;
  std::vector<ParameterId> ids;  // that its metrics may carry: one for each configuration it got
  // The checkpoint of the next start, or of the attempt that runs until it has saved one of its
  // own. Empty: from scratch, or it has saved one.
  std::string start_from;
  std::vector<HeldResult> finals;
  // Configurations whose final results the decider has. Another FINAL for one of them, from any
  // attempt, does not count.
  std::vector<ParameterId> told;
  std::optional<EndAsked> asked;
  bool save_at_end = false;  // conclude() saves a checkpoint
  // A checkpoint of its own that must be saved before the trial may start again, for example after
  // a pause, or after an attempt that was lost with grace. Empty: none.
  std::string pausing;
  TrialSteps steps;
  struct Saving {
    std::int64_t steps = 0;  // steps.done() when the save began
    int attempts = 0;        // record.attempts, the same
  };
  std::map<std::string, Saving> saving;  // checkpoints that are being saved
  std::int64_t steps_saved = 0;          // the same number for record.checkpoint
  // How its attempt has ended, until the checkpoints are saved that the decider waits for: whoever
  // hears of the end may want another trial to start from them.
  std::optional<TrialFinished> finished;
  AttemptTime time;
  bool waits = false;  // its status is running, but the backend has no room for it yet
  // The moment, as Clock::now(), when the runner must look at the trial; 0 for never. Of a running
  // trial: the end of its maxTrialDuration. Of a pending one: it must not start before.
  double deadline = 0;
  // As Clock::now(). The first of the starts that have failed in a row; the first of the saves in a
  // row for which the disk had no room. Nothing: the last one did not fail.
  std::optional<double> start_failing_since, unsaved_since;
  bool said_unsaved = false;  // the user was told that a pause of it has saved no checkpoint

  // What another attempt goes on from. An attempt that started from another trial's checkpoint, and
  // was lost before it saved one, goes on from there, and not from what its trial had saved before.
  const std::string& resumes_from() const {
    return start_from.empty() ? record.checkpoint : start_from;
  }
};

class TrialTable final : public Startable {
 public:
  TrialTable(const Clock& clock, ResourcePool pool, int concurrency)
      : clock_(clock), pool_(std::move(pool)), concurrency_(concurrency) {}

  // `trial` is pending, running or paused, and its job id and sequence are new. The references and
  // pointers to a LiveTrial stay valid until remove().
  LiveTrial& add(LiveTrial trial);
  LiveTrial* find(const std::string& job_id);  // null when there is none
  // Removes the trial, which must be here, and frees its resources.
  std::unique_ptr<LiveTrial> remove(const std::string& job_id);

  // To pending, running or paused. Running trials hold their resources, others none. A change
  // clears `deadline` and `waits`.
  void set_status(LiveTrial& trial, TrialStatus status);
  void set_deadline(LiveTrial& trial, double deadline);
  void set_waits(LiveTrial& trial, bool waits);  // `trial` is running
  void set_concurrency(int concurrency) { concurrency_ = concurrency; }

  std::optional<std::string> first_pending() const override;
  std::optional<std::string> first_paused() const override;

  std::optional<double> next_deadline() const;        // the earliest `deadline` of all trials
  std::vector<LiveTrial*> overdue(double now) const;  // whose deadline is not after `now`

  // Why a pending trial waits; one sentence.
  std::string why_waits(const LiveTrial& trial) const;

  std::size_t pending() const { return pending_.size(); }
  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_; }  // of the running ones: for the backend's room
  std::size_t paused() const { return paused_.size(); }
  bool empty() const { return trials_.empty(); }
  int concurrency() const { return concurrency_; }
  const ResourcePool& pool() const { return pool_; }
  // By status and in the order of submission. Invalid after any change.
  using Order = std::map<std::int64_t, LiveTrial*>;
  const Order& in(TrialStatus status) const;

 private:
  Order& order_of(TrialStatus status);
  bool may_start(const LiveTrial& trial) const;
  std::optional<std::string> first_of(const Order& order) const;

  const Clock& clock_;
  ResourcePool pool_;
  int concurrency_;
  std::unordered_map<std::string, std::unique_ptr<LiveTrial>> trials_;
  Order pending_, running_, paused_;
  std::size_t waiting_ = 0;
  std::map<std::pair<double, std::int64_t>, LiveTrial*> deadlines_;  // key: deadline, sequence
  // All trials ask for the same resources, so that first_of() need not look at others when one does
  // not fit. Stays false once two trials differed.
  bool uniform_ = true;
};

}  // namespace attune
