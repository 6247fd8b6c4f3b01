// TrialRunner: what the decider and the user ask for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "manager/trials/trial_runner.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// Whether a request for the end `kind` replaces the earlier request `asked`. Any end replaces a
// pause. The decision to end a trial replaces the interrupt of the experiment, after which the
// trial could be resumed: the decider or user would not decide it a second time. A trial that is
// complete has its result, although a limit has stopped it meanwhile.
bool goes_before(EndAsked::Kind kind, EndAsked::Kind asked) {
  using Kind = EndAsked::Kind;
  const bool complete = kind == Kind::complete;
  if (asked == Kind::interrupt) {
    return complete || kind == Kind::early_stop || kind == Kind::by_user;
  }
  if (asked == Kind::early_stop) return complete;
  return asked == Kind::pause && kind != Kind::pause;
}

TrialStatus status_after(EndAsked::Kind kind) {
  if (kind == EndAsked::Kind::complete) return TrialStatus::succeeded;
  return kind == EndAsked::Kind::by_user ? TrialStatus::user_canceled : TrialStatus::early_stopped;
}

}  // namespace

// ---- the decider

// A decider that has lost its memory is told everything even while the experiment is stopping.
// Otherwise it would remember only the last commands, and the next manager would believe that it
// knows all of them.
void TrialRunner::on_ready() {
  if (phase_ == Phase::running || phase_ == Phase::stopping) return tell_again();
  if (phase_ != Phase::starting) return;
  phase_ = Phase::running;
  if (!restored_.ended.empty()) decider_.import(restored_.ended);
  take_over(false);
  replenish();
  check_over();
}

void TrialRunner::on_resumed() {
  if (phase_ != Phase::starting) return;
  phase_ = Phase::running;
  if (restored_.state) proposals_.restore(*restored_.state);
  take_over(true);
  replenish();
  check_over();
}

void TrialRunner::on_proposal(ProposedTrial proposal) {
  proposals_.proposed();
  proposes_again();
  // A decider that remembers (see Decider::remembers) counts this proposal as handed out, also
  // after a restart. So an experiment that can be resumed keeps it as a pending trial, even while
  // it ends.
  const bool completed = over_ && over_->kind == ExperimentEnd::Kind::completed;
  if (over_ && !decider_.remembers()) return;
  if (completed) return proposal.resume_job.empty() ? decline(proposal) : void();
  proposals_.may_have_more();
  if (!proposal.resume_job.empty()) return resume_paused(std::move(proposal));
  if (all_added()) return decline(proposal);
  TrialRecord record;
  record.proposed = std::move(proposal);
  const std::string reason = record.proposed.reason;
  const std::string job_id = add(std::move(record), rules_).record.job_id;
  if (!reason.empty()) store_.add_decision({job_id, "start", "decider", reason});
}

// All trials have been added, and the decider offers a new one before it resumes the paused ones.
// It is told that this trial was added and canceled at once. Then the daemon goes on with those
// that an assessor has paused.
void TrialRunner::decline(const ProposedTrial& proposal) {
  const std::string job_id = "declined" + to_text(proposal.parameter_id);
  decider_.on_add(job_id, proposal);
  decider_.on_remove(job_id, TrialEnd::Event::user_canceled);
  proposals_.declined();
}

void TrialRunner::resume_paused(ProposedTrial proposal) {
  LiveTrial* trial = table_.find(proposal.resume_job);
  if (trial == nullptr || trial->record.status != TrialStatus::paused) {
    announcer_.warn(fmt::format("the tuner wants to go on with trial {}, which is not paused",
                                proposal.resume_job),
                    proposal.resume_job);
    return;
  }
  proposals_.resumed();
  TrialRecord& record = trial->record;
  trial->ids.push_back(proposal.parameter_id);
  checkpoints_.start_from(
      *trial, proposal.checkpoint_from.empty() ? trial->resumes_from() : proposal.checkpoint_from);
  record.proposed = std::move(proposal);
  store_.add_decision({record.job_id, "resume", "decider", record.proposed.reason});
  decider_.on_add(record.job_id, record.proposed);
  set_status(*trial, TrialStatus::pending);
}

void TrialRunner::on_exhausted(const std::string& reason) {
  log_.info("no more trials for now: {}", reason.empty() ? "no reason given" : reason);
  proposes_again();
  proposals_.exhausted();
  check_over();
}

void TrialRunner::on_postponed(const std::string& reason) {
  if (!proposals_.postpone()) return;
  const std::string why = "the tuner proposes nothing for now: " + reason;
  announcer_.warn(why);
  store_.set_postponed(why);
}

void TrialRunner::proposes_again() {
  if (!proposals_.proposes_again()) return;
  announcer_.notice("the tuner proposes again");
  store_.set_postponed("");
}

void TrialRunner::on_parameter(const std::string& job_id, std::int64_t index,
                               std::optional<ProposedTrial> proposal) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr || trial->record.status != TrialStatus::running) return;
  if (!proposal) {
    announcer_.warn(
        fmt::format("trial {} asked for one more configuration, and the tuner has none", job_id),
        job_id);
    return;
  }
  trial->ids.push_back(proposal->parameter_id);
  store_.add_parameter(trial->record, index, *proposal);
  if (auto given = backend_.give_parameter(job_id, index, proposal->text); !given)
    announcer_.warn(fmt::format("trial {}: {}", job_id, given.error().message), job_id);
}

void TrialRunner::on_stop(const std::string& job_id, const std::string& reason) {
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr) {  // it may have ended while the decision was on its way
    log_.info("trial={} cannot be stopped: it does not run", job_id);
    return;
  }
  ask_end(*trial, {EndAsked::Kind::early_stop, reason}, "decider");
}

void TrialRunner::on_used_up(const std::string& job_id, const std::string& reason) {
  using Kind = EndAsked::Kind;
  LiveTrial* trial = table_.find(job_id);
  if (trial == nullptr || trial->record.last_metric.is_null() ||
      (trial->asked && !goes_before(Kind::complete, trial->asked->kind))) {
    return on_stop(job_id, reason);
  }
  // As if its own criterion had said so (ReportDesk::judge): this result counts however the attempt
  // ends. The decider has it already, so a FINAL that is held would be another one than the
  // decider's.
  trial->record.final_metric = trial->record.last_metric;
  trial->told.push_back(trial->ids.back());
  trial->finals.clear();
  announcer_.changed(trial->record);  // ask_end() commits it
  if (trial->record.status == TrialStatus::running) {
    trial->save_at_end |= trial->rules->checkpoint_at_end;
  }
  ask_end(*trial, {Kind::complete, reason}, "decider");
}

void TrialRunner::on_pause(const std::string& job_id, const std::string& reason) {
  LiveTrial* trial = table_.find(job_id);
  // The decider hears of the trial's end instead.
  if (trial == nullptr) return;
  if (trial->record.status != TrialStatus::running || trial->asked) {
    decider_.on_pause_failed(job_id);
    return;
  }
  ask_end(*trial, {EndAsked::Kind::pause, reason}, "decider");
}

void TrialRunner::on_save(const std::string& job_id) {
  LiveTrial* trial = table_.find(job_id);
  // The files of one that waits for the backend are those of an earlier attempt, and perhaps not
  // what it will go on from.
  if (trial == nullptr || trial->record.status != TrialStatus::running || trial->waits) {
    checkpoints_.hold(checkpoints_.newest(job_id));
    decider_.on_checkpoint(job_id, checkpoints_.newest(job_id));
    return;
  }
  store_.add_decision({job_id, "checkpoint", "decider", ""});
  checkpoints_.decider_waits_for(checkpoints_.save(*trial));
}

void TrialRunner::on_drop(const std::string& checkpoint) { checkpoints_.release(checkpoint); }

// ---- the user

Result<void> TrialRunner::takes_requests() const {
  if (phase_ >= Phase::closing) return fail("the experiment is ending; attune resume first");
  if (guard_.stalled()) {
    return fail(
        "the store cannot be written, so that this could be forgotten; try again when it can");
  }
  return {};
}

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
  ask_end(*trial, {EndAsked::Kind::by_user, reason}, "user");
  settle();
  replenish();
  check_over();
  return {};
}

Result<void> TrialRunner::import(const std::vector<ImportData::Record>& records) {
  if (phase_ == Phase::starting) return fail("the experiment is only starting; try again");
  if (phase_ != Phase::running || over_) return fail("the experiment does not run any more");
  decider_.import(records);
  return {};
}

void TrialRunner::set_concurrency(int concurrency) {
  options_.concurrency = concurrency;
  table_.set_concurrency(concurrency);
}

void TrialRunner::set_max_trials(std::optional<std::int64_t> count) { options_.max_trials = count; }
void TrialRunner::set_max_seconds(std::optional<double> seconds) { options_.max_seconds = seconds; }

// ---- for both

LiveTrial& TrialRunner::add(TrialRecord record, std::shared_ptr<const TrialRules> rules) {
  record.sequence = next_sequence_++;
  record.job_id = job_id_of(record.sequence);
  LiveTrial trial;
  trial.ids = {record.proposed.parameter_id};
  trial.rules = std::move(rules);
  trial.record = std::move(record);
  LiveTrial& added = table_.add(std::move(trial));
  checkpoints_.start_from(added, added.record.proposed.checkpoint_from);
  status_.on_started();
  store_.add_trial(added.record);
  update_tally();
  decider_.on_add(added.record.job_id, added.record.proposed);
  return added;
}

// A pending or paused trial ends at once. A running one is only asked to end: TrialFinished
// concludes it. May destroy `trial`.
void TrialRunner::ask_end(LiveTrial& trial, EndAsked end, const char* by) {
  using Kind = EndAsked::Kind;
  if (trial.asked && !goes_before(end.kind, trial.asked->kind)) return;
  const std::string job_id = trial.record.job_id;
  const bool pause = end.kind == Kind::pause;
  log_.info("trial={} is {}: {}", job_id, pause ? "paused" : "stopped", end.reason);
  store_.add_decision({job_id, pause ? "pause" : "stop", by, end.reason, end.kind});
  if (trial.record.status != TrialStatus::running) {
    const bool complete = end.kind == Kind::complete;
    return conclude(trial, status_after(end.kind), complete ? "" : std::move(end.reason));
  }
  const bool interrupt = end.kind == Kind::interrupt;
  trial.asked = std::move(end);
  table_.set_deadline(trial, 0);
  // The reason must be committed before the backend stops the trial, so that a later manager knows
  // why it ended; while the store is stalled the trial runs on. An interrupt needs no commit: a
  // later manager takes it for no decision about the trial.
  ends_.push_back(job_id);
  if (interrupt || keep()) carry_out_ends();
}

void TrialRunner::carry_out_ends() {
  if (detached_) return;
  for (const std::string& job_id : std::exchange(ends_, {})) {
    const LiveTrial* trial = table_.find(job_id);
    if (trial == nullptr || trial->record.status != TrialStatus::running || !trial->asked) continue;
    if (trial->asked->kind == EndAsked::Kind::pause) {
      backend_.pause(job_id);
    } else {
      backend_.stop(job_id);
    }
  }
}

void TrialRunner::set_status(LiveTrial& trial, TrialStatus status, std::string reason) {
  table_.set_status(trial, status);
  trial.record.reason = std::move(reason);
  announcer_.changed(trial.record);
  update_tally();
}

void TrialRunner::update_tally() {
  tally_.pending = static_cast<std::int64_t>(table_.pending());
  tally_.running = static_cast<std::int64_t>(table_.running());
  tally_.waiting = static_cast<std::int64_t>(table_.waiting());
  tally_.paused = static_cast<std::int64_t>(table_.paused());
  observer_.on_tally(tally_);
}

}  // namespace attune
