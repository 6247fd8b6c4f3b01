#pragma once
// The trials that have not ended: who waits, who runs, who is paused, and what they hold. Finding,
// adding and moving a trial cost the same for any number of them.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manager/trials/attempt_time.h"
#include "manager/trials/end_asked.h"
#include "manager/trials/resource_pool.h"
#include "manager/trials/trial_record.h"
#include "manager/trials/trial_rules.h"
#include "manager/trials/trial_steps.h"
#include "os/clock.h"

namespace attune {

// A FINAL of the attempt that runs. It becomes the trial's result when that has ended well.
struct HeldResult {
  ParameterId parameter_id;
  std::string text;  // as the trial reported it
  json value;
  double time = 0;                 // as TrialReport::time,
  std::optional<double> ran = {};  // and this
};

struct LiveTrial {
  TrialRecord record;
  std::shared_ptr<const TrialRules> rules;
  std::vector<ParameterId> ids;  // that its metrics may carry; several when it is multi-phase
  std::string start_from;        // checkpoint of the next start; empty: from scratch
  std::vector<HeldResult> finals;
  // Configurations whose results the decider has: another one, of any attempt, does not count.
  std::vector<ParameterId> told;
  std::optional<EndAsked> asked;
  bool save_at_end = false;
  std::string pausing;  // the checkpoint that its pause waits for
  TrialSteps steps;
  std::map<std::string, std::int64_t> saving;  // checkpoints under way: steps.done() before each
  std::int64_t steps_saved = 0;                // before the newest one
  AttemptTime time;
  bool waits = false;  // running, as far as we can do that: the backend has no room
  // Clock::now() when it needs attention, 0 for never: of a running trial the end of its
  // maxTrialDuration, of a pending one the moment before which it must not be started.
  double deadline = 0;
  // Since when, in Clock::now(), no start comes off, and there is no room for what it has saved.
  std::optional<double> start_failing_since, unsaved_since;
};

class TrialTable final : public Startable {
 public:
  TrialTable(const Clock& clock, ResourcePool pool, int concurrency)
      : clock_(clock), pool_(std::move(pool)), concurrency_(concurrency) {}

  LiveTrial& add(LiveTrial trial);  // status pending, running or paused
  LiveTrial* find(const std::string& job_id);
  // Takes it out, and what it held back; its status may be an ended one already.
  std::unique_ptr<LiveTrial> remove(const std::string& job_id);

  // Running trials hold their resources, others none.
  void set_status(LiveTrial& trial, TrialStatus status);
  void set_deadline(LiveTrial& trial, double deadline);
  void set_waits(LiveTrial& trial, bool waits);  // of a running one
  void set_concurrency(int concurrency) { concurrency_ = concurrency; }

  std::optional<std::string> first_pending() const override;
  std::optional<std::string> first_paused() const override;

  std::optional<double> next_deadline() const;
  std::vector<LiveTrial*> overdue(double now) const;

  // Why a pending trial waits; one sentence.
  std::string why_waits(const LiveTrial& trial) const;

  std::size_t pending() const { return pending_.size(); }
  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const { return waiting_; }  // of these, for the backend
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
  std::map<std::pair<double, std::int64_t>, LiveTrial*> deadlines_;  // with the sequence
  bool uniform_ = true;  // all ask for the same: when one does not fit, none does
};

}  // namespace attune
