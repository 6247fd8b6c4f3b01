// What others want of trials: the decider, the user, and an earlier manager of the experiment.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "protocol/codec.h"
#include "runner/trial_runner.h"

namespace attune {
namespace {

constexpr int kMostDeclined = 1000;

}  // namespace

// ---- the decider

void TrialRunner::on_ready() {
  if (phase_ != Phase::starting || over_) return;
  phase_ = Phase::running;
  if (!restored_.ended.empty()) decider_.import(std::exchange(restored_.ended, {}));
  if (!restored_.live.empty()) go_on();
  replenish();
  check_over();
}

void TrialRunner::on_proposal(ProposedTrial proposal) {
  if (!requests_.empty() && --requests_.front() == 0) requests_.pop_front();
  if (over_) return;
  exhausted_ = false;
  if (!proposal.resume_job.empty()) return resume_paused(std::move(proposal));
  if (options_.max_trials && tally_.added() >= *options_.max_trials) return decline(proposal);
  TrialRecord record;
  record.proposed = std::move(proposal);
  add(std::move(record), rules_);
}

// The last trials are paused, and the decider offers a new one before it goes on with them. One
// that offers new ones without end has no use for those that are paused.
void TrialRunner::decline(const ProposedTrial& proposal) {
  const std::string job_id = "declined" + to_text(proposal.parameter_id);
  decider_.on_add(job_id, proposal);
  decider_.on_remove(job_id, TrialEnd::Event::user_canceled);
  exhausted_ = ++declined_ >= kMostDeclined;
}

void TrialRunner::resume_paused(ProposedTrial proposal) {
  LiveTrial* trial = table_.find(proposal.resume_job);
  if (trial == nullptr || trial->record.status != TrialStatus::paused) {
    warn(fmt::format("the tuner wants to go on with trial {}, which is not paused",
                     proposal.resume_job));
    return;
  }
  declined_ = 0;
  TrialRecord& record = trial->record;
  trial->ids.push_back(proposal.parameter_id);
  plan_start(*trial,
             proposal.checkpoint_from.empty() ? record.checkpoint : proposal.checkpoint_from);
  record.proposed = std::move(proposal);
  decider_.on_add(record.job_id, record.proposed);
  set_status(*trial, TrialStatus::pending);
}

void TrialRunner::on_exhausted(const std::string& reason) {
  log_.info("no more trials for now: {}", reason.empty() ? "no reason given" : reason);
  if (!requests_.empty()) requests_.pop_front();
  exhausted_ = true;
  check_over();
}

void TrialRunner::on_parameter(const std::string& job_id, std::int64_t index,
                               std::optional<ProposedTrial> proposal) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr || trial->record.status != TrialStatus::running) return;
  if (!proposal) {
    warn(fmt::format("trial {} asked for one more configuration, and the tuner has none", job_id));
    return;
  }
  trial->ids.push_back(proposal->parameter_id);
  observer_.on_parameter(trial->record, index, *proposal);
  if (auto given = backend_.give_parameter(job_id, index, proposal->text); !given)
    warn(fmt::format("trial {}: {}", job_id, given.error().message));
}

void TrialRunner::on_stop(const std::string& job_id, const std::string& reason) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr) {  // it may have ended while the decision was on its way
    log_.info("trial={} cannot be stopped: it does not run", job_id);
    return;
  }
  ask_end(*trial, EndAsked::Kind::early_stop, reason, "decider");
}

void TrialRunner::on_pause(const std::string& job_id, const std::string& reason) {
  LiveTrial* trial = table_.find(job_id);
  // One that has ended meanwhile has told its end, or will.
  if (trial == nullptr) return;
  if (trial->record.status != TrialStatus::running || trial->asked) {
    decider_.on_pause_failed(job_id);
    return;
  }
  ask_end(*trial, EndAsked::Kind::pause, reason, "decider");
}

void TrialRunner::on_save(const std::string& job_id) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr || trial->record.status != TrialStatus::running) {
    decider_.on_checkpoint(job_id, keeper_.newest(job_id));
    return;
  }
  observer_.on_decision({job_id, "checkpoint", "decider", ""});
  to_answer_.insert(save(*trial));
}

void TrialRunner::on_drop(const std::string& checkpoint) { drop(keeper_.dropped(checkpoint)); }

// ---- the user

Result<std::string> TrialRunner::add_trial(json parameters, TrialSource source,
                                           std::optional<TrialRules> rules,
                                           std::string checkpoint) {
  if (over_) return fail("the experiment is over: " + over_->reason);
  TrialRecord record;
  record.source = source;
  record.proposed.text = dump_json({{"parameter_id", nullptr},
                                    {"parameter_source", "customized"},
                                    {"parameters", parameters},
                                    {"parameter_index", 0}});
  record.proposed.parameters = std::move(parameters);
  record.proposed.checkpoint_from = std::move(checkpoint);
  auto own = rules ? std::make_shared<const TrialRules>(*std::move(rules)) : rules_;
  return add(std::move(record), std::move(own)).record.job_id;
}

Result<void> TrialRunner::stop_trial(const std::string& job_id, const std::string& reason) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr) return fail(fmt::format("trial {} does not run and does not wait", job_id));
  ask_end(*trial, EndAsked::Kind::by_user, reason, "user");
  settle();
  replenish();
  check_over();
  return {};
}

Result<void> TrialRunner::import(const std::vector<ImportData::Record>& records) {
  if (phase_ != Phase::running || over_) return fail("the experiment does not run");
  decider_.import(records);
  return {};
}

void TrialRunner::set_concurrency(int concurrency) {
  options_.concurrency = concurrency;
  table_.set_concurrency(concurrency);
}

void TrialRunner::set_max_trials(std::optional<std::int64_t> count) { options_.max_trials = count; }
void TrialRunner::set_max_seconds(std::optional<double> seconds) { options_.max_seconds = seconds; }

// ---- what they share

LiveTrial& TrialRunner::add(TrialRecord record, std::shared_ptr<const TrialRules> rules) {
  record.sequence = next_sequence_++;
  record.job_id = job_id_of(record.sequence);
  LiveTrial trial;
  trial.ids = {record.proposed.parameter_id};
  trial.rules = std::move(rules);
  trial.record = std::move(record);
  LiveTrial& added = table_.add(std::move(trial));
  plan_start(added, added.record.proposed.checkpoint_from);
  status_.on_started();
  observer_.on_trial_added(added.record);
  update_tally();
  decider_.on_add(added.record.job_id, added.record.proposed);
  return added;
}

void TrialRunner::ask_end(LiveTrial& trial, EndAsked::Kind kind, std::string reason,
                          const char* by) {
  using Kind = EndAsked::Kind;
  // An end goes before a pause that is under way.
  if (trial.asked && (kind == Kind::pause || trial.asked->kind != Kind::pause)) return;
  const std::string job_id = trial.record.job_id;
  const bool pause = kind == Kind::pause;
  log_.info("trial={} is {}: {}", job_id, pause ? "paused" : "stopped", reason);
  observer_.on_decision({job_id, pause ? "pause" : "stop", by, reason});
  if (trial.record.status != TrialStatus::running) {
    conclude(trial, kind == Kind::by_user ? TrialStatus::user_canceled : TrialStatus::early_stopped,
             std::move(reason));
    return;
  }
  trial.asked = EndAsked{kind, std::move(reason)};
  table_.set_deadline(trial, 0);
  // A later manager must know why the trial ended; the first failure comes back from every
  // on_idle().
  if (kind != Kind::interrupt) std::ignore = observer_.on_idle();
  if (pause) {
    backend_.pause(job_id);
  } else {
    backend_.stop(job_id);
  }
}

void TrialRunner::set_status(LiveTrial& trial, TrialStatus status, std::string reason) {
  table_.set_status(trial, status);
  trial.record.reason = std::move(reason);
  observer_.on_trial_changed(trial.record);
  update_tally();
}

void TrialRunner::update_tally() {
  tally_.pending = static_cast<std::int64_t>(table_.pending());
  tally_.running = static_cast<std::int64_t>(table_.running());
  tally_.paused = static_cast<std::int64_t>(table_.paused());
  observer_.on_tally(tally_);
}

void TrialRunner::warn(const std::string& text) {
  log_.warning("{}", text);
  observer_.on_event("warning", text);
}

// ---- after a restart

void TrialRunner::restore(Restored state) {
  restored_ = std::move(state);
  tally_ = restored_.tally;
  next_sequence_ = restored_.next_sequence;
  scored_ = restored_.scored;
  earlier_seconds_ = restored_.seconds;
  status_ = std::move(restored_.status);
}

void TrialRunner::go_on() {
  for (const Restored::Checkpoint& kept : restored_.checkpoints) {
    drop(keeper_.saved(kept.job_id, kept.id, kept.bytes));
    if (kept.ended) drop(keeper_.ended(kept.job_id));
  }
  std::vector<Decider::Resumed> resumed;
  std::vector<std::pair<LiveTrial*, Restored::Trial*>> running;
  for (Restored::Trial& old : restored_.live) {
    LiveTrial trial;
    trial.record = std::move(old.record);
    trial.ids = std::move(old.ids);
    trial.ids.push_back(trial.record.proposed.parameter_id);
    trial.rules = rules_;
    trial.last_result = clock_.wall();
    trial.reports_before = old.reports_before;
    trial.attempt_reports = old.attempt_reports;
    trial.reports_saved = old.reports_saved;
    LiveTrial& added = table_.add(std::move(trial));
    const TrialRecord& record = added.record;
    plan_start(added, old.start_from);
    resumed.push_back({record.job_id, record.proposed, record.status == TrialStatus::paused,
                       record.checkpoint, record.final_metric});
    if (record.status == TrialStatus::running) running.push_back({&added, &old});
    if (old.save_first) added.pausing = save(added);
  }
  decider_.readopt(resumed);
  // The decider may have died before it read them; a second final result changes nothing there.
  for (std::size_t i = 0; i < resumed.size(); ++i) {
    const std::string& final_text = restored_.live[i].final_text;
    if (!final_text.empty()) decider_.on_result(resumed[i].job_id, final_text);
  }
  update_tally();
  for (const auto& [trial, old] : running) adopt(*trial, *old);
  restored_.live.clear();
}

void TrialRunner::adopt(LiveTrial& trial, const Restored::Trial& old) {
  TrialRecord& record = trial.record;
  const auto adopted =
      backend_.adopt({record.job_id, record.sequence, record.attempts - 1, record.proposed.text,
                      trial.rules->resources, trial.start_from},
                     old.position);
  if (!adopted) {
    // It may run on, and so may the others: a later manager can do better.
    detached_ = true;
    stop_experiment({Outcome::Kind::failed,
                     fmt::format("trial {} cannot be taken over: {}; no trial was stopped: attune "
                                 "resume goes on",
                                 record.job_id, adopted.error().message)});
  } else if (*adopted == TrialBackend::Adoption::not_started) {
    --record.attempts;
    set_status(trial, TrialStatus::pending, "its start was cut short");
  } else {
    log_.info("trial={} is taken over", record.job_id);
    woken_ = true;
    // What it had of maxTrialDuration is not known to the second: it starts anew.
    if (options_.max_trial_seconds)
      table_.set_deadline(trial, clock_.now() + *options_.max_trial_seconds);
    if (!old.asked) return;
    trial.asked = old.asked;
    if (old.asked->kind == EndAsked::Kind::pause) {
      backend_.pause(record.job_id);
    } else {
      backend_.stop(record.job_id);
    }
  }
}

}  // namespace attune
