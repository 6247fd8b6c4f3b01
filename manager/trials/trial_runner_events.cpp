// TrialRunner: the events of the backend (where trials run, what they report, how they end), and
// what follows from them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "manager/trials/trial_runner.h"
#include "os/private_file.h"

namespace attune {
namespace {

const std::string& job_of(const TrialEvent& event) {
  return std::visit([](const auto& e) -> const std::string& { return e.job_id; }, event);
}

// The checkpoint that the next attempt starts from ("": from scratch); nothing: the trial gets no
// other attempt.
std::optional<std::string> retry_from(const LiveTrial& trial, FailureClass failure) {
  return trial.rules->retries.start_again(failure, trial.record.failures, trial.resumes_from());
}

// Whether another trial may go on from where the attempt has ended.
bool ends_well(Ending how) {
  return how == Ending::succeeded || how == Ending::stopped || how == Ending::paused;
}

}  // namespace

bool TrialRunner::fetch() {
  if (!inbox_.empty()) return true;
  // While the decider is congested, reports stay with the trials. At the end of the experiment they
  // need not: intermediate results of stopped trials do not count, so the decider gets none.
  if (!woken_ || (!over_ && decider_.congested())) return false;
  woken_ = false;
  for (TrialEvent& event : backend_.fetch_status_results()) inbox_.push_back(std::move(event));
  return !inbox_.empty();
}

// Whether the event only completes what was decided before, so that it does not count as a step().
// That is also an event of a trial that has ended, or was asked to end.
bool TrialRunner::is_settling(const TrialEvent& event) {
  if (std::holds_alternative<CheckpointStored>(event)) return true;
  if (std::holds_alternative<TrialProblem>(event)) return true;
  if (std::holds_alternative<TrialPlace>(event)) return true;
  if (const auto* end = std::get_if<TrialFinished>(&event);
      end && end->how == Ending::restore_failed)
    return true;
  const LiveTrial* trial = table_.find(job_of(event));
  return trial == nullptr || trial->asked.has_value();
}

void TrialRunner::settle() {
  while (fetch() && is_settling(inbox_.front())) handle_next();
}

bool TrialRunner::process_event() {
  if (!fetch()) return false;
  handle_next();
  return true;
}

void TrialRunner::handle_next() {
  const TrialEvent event = std::move(inbox_.front());
  inbox_.pop_front();
  if (const auto* saved = std::get_if<CheckpointStored>(&event)) return handle(*saved);
  LiveTrial* trial = table_.find(job_of(event));
  if (const auto* problem = std::get_if<TrialProblem>(&event)) {
    announcer_.warn(fmt::format("trial {}: {}", problem->job_id, problem->text), problem->job_id);
  } else if (trial == nullptr || trial->record.status != TrialStatus::running) {
    log_.debug("trial={} has an event after its end", job_of(event));
  } else if (const auto* place = std::get_if<TrialPlace>(&event)) {
    handle(*trial, *place);
  } else if (const auto* report = std::get_if<TrialReport>(&event)) {
    handle(*trial, *report);
  } else {
    const auto& end = std::get<TrialFinished>(event);
    if (ends_well(end.how) && checkpoints_.decider_waits(*trial)) {
      trial->finished = end;
    } else {
      handle(*trial, end);
    }
  }
}

// The time in which a trial waits for room in the backend does not count against maxTrialDuration.
void TrialRunner::handle(LiveTrial& trial, const TrialPlace& place) {
  const bool waits = !place.waits_for.empty();
  // If the trial was already asked to end, the stored attempt must not begin after that: a later
  // manager would think that the decision was about an earlier attempt (asked_of in app/restore).
  const double began = trial.asked || waits ? 0 : clock_.wall() - place.ran;
  table_.set_waits(trial, waits);
  trial.record.reason = place.waits_for;
  if (!waits) {
    trial.time.last = std::max(trial.time.last, began);
    if (trial.record.attempts == 1)
      trial.record.start_time = std::max(trial.record.start_time, began);
  }
  if (options_.max_trial_seconds && !trial.asked) {
    const double left = std::max(*options_.max_trial_seconds - place.ran, 1e-3);
    table_.set_deadline(trial, waits ? 0 : clock_.now() + left);
  }
  if (!place.worker.empty() || !place.gpus.empty()) {
    log_.info("trial={} attempt={} runs on worker={} host={} gpus={}", trial.record.job_id,
              trial.record.attempts - 1, place.worker, place.host, place.gpus);
    store_.set_place(trial.record, place, began);
  }
  announcer_.changed(trial.record);
  update_tally();
}

void TrialRunner::handle(LiveTrial& trial, const TrialReport& report) {
  const ReportDesk::Outcome outcome = reports_.take(trial, report, decider_lost_);
  if (outcome.end) {
    ask_end(trial, *outcome.end, outcome.by);
  } else if (outcome.save) {
    checkpoints_.save(trial);
  }
  if (report.metric.type == ReportMetricData::Type::periodical)
    answer_when_judged(trial, report.metric.sequence + 1);
}

// Lets the trial go on when the decider has judged its reports, and has not ended it for them. A
// trial that is to end gets no answer: it waits until the backend ends it.
void TrialRunner::answer_when_judged(const LiveTrial& trial, std::int64_t reports) {
  if (!options_.in_step || trial.asked) return;
  const JudgedReport judged{trial.record.job_id, trial.record.attempts - 1, reports};
  if (decider_lost_) return answer(judged);
  decider_.sync(to_token(judged));
}

void TrialRunner::on_synced(const std::string& token) {
  if (const auto judged = judged_report(token)) answer(*judged);
}

void TrialRunner::answer(const JudgedReport& report) {
  const LiveTrial* trial = table_.find(report.job_id);
  if (trial == nullptr || trial->record.status != TrialStatus::running || trial->asked) return;
  if (trial->record.attempts - 1 != report.attempt) return;
  if (auto answered = backend_.answer(report.job_id, report.reports); !answered)
    announcer_.warn(fmt::format("trial {} waits for the decision about its report in vain: {}",
                                report.job_id, answered.error().message),
                    report.job_id);
}

void TrialRunner::handle(const CheckpointStored& saved) {
  LiveTrial* trial = table_.find(saved.job_id);
  const CheckpointDesk::Answer answer = checkpoints_.stored(saved, trial, over_.has_value());
  if (!answer.settled) return;
  const bool good = saved.error.empty();
  if (!good) log_.info("trial={} checkpoint={}: {}", saved.job_id, saved.checkpoint, saved.error);
  const std::string id = good ? saved.checkpoint : "";
  if (answer.decider_waits && !decider_lost_) {
    checkpoints_.hold(id);
    decider_.on_checkpoint(saved.job_id, id);
  }
  if (trial == nullptr) return;
  announcer_.changed(trial->record);
  if (trial->finished && !checkpoints_.decider_waits(*trial))
    return handle(*trial, *std::exchange(trial->finished, {}));
  if (trial->pausing != saved.checkpoint) return;
  trial->pausing.clear();
  if (trial->record.status == TrialStatus::pending)
    return checkpoints_.start_from(*trial, trial->resumes_from());
  // Once for a trial: one that never saves would fill the output with the same words.
  if (trial->resumes_from().empty() && !std::exchange(trial->said_unsaved, true)) {
    announcer_.warn(
        fmt::format("trial {} was paused and has saved no checkpoint ({}): it will start from "
                    "scratch; save into $ATTUNE_CHECKPOINT_DIR",
                    saved.job_id, saved.error),
        saved.job_id);
  }
  // A trial that an assessor has paused continues when there is nothing new.
  proposals_.may_have_more();
  if (!decider_lost_) decider_.on_paused(saved.job_id, id);
}

// ---- how trials end: another attempt, a pause, the record

void TrialRunner::handle(LiveTrial& trial, const TrialFinished& finished) {
  using Kind = EndAsked::Kind;
  TrialRecord& record = trial.record;
  record.end_time = finished.time;
  TrialFinished end = finished;
  const auto asked = trial.asked;
  const bool cannot_judge = asked && asked->kind == Kind::fail;
  if (cannot_judge) {
    end.how = Ending::failed;
    end.detail = asked->reason;
  }
  const auto failure = failure_class(end.how);
  const bool by_itself = end.how != Ending::stopped && end.how != Ending::paused;
  if (failure && by_itself && (!asked || cannot_judge || asked->kind == Kind::by_user))
    ++record.failures;
  // Of a paused attempt the FINAL results do not count: the trial will go on, and report others.
  const bool well = end.how == Ending::succeeded || end.how == Ending::stopped;
  const bool has_said = well && !trial.finals.empty();
  if (well) reports_.tell_results(trial, decider_lost_);
  trial.finals.clear();
  status_.on_attempt_end(trial.time.advance(finished.time, finished.ran));
  store_.end_attempt(record, end);
  // A trial that was stopped after it had reported its final result has succeeded.
  const bool by_user = asked && asked->kind == Kind::by_user;
  const bool early = asked && asked->kind == Kind::early_stop;
  if (early) trial.save_at_end |= trial.rules->checkpoint_at_end;
  const bool cut_off = end.how == Ending::stopped || early;
  const bool has_result = well && !record.final_metric.is_null() && (has_said || !by_user);
  if (cut_off && has_result) return conclude(trial, TrialStatus::succeeded, "");
  if (asked && !cannot_judge) {
    switch (asked->kind) {
      case Kind::complete:
        return conclude(trial, TrialStatus::succeeded, "");
      case Kind::early_stop:
        return conclude(trial, TrialStatus::early_stopped, asked->reason);
      case Kind::interrupt:
        if (end.how == Ending::succeeded) break;
        return give_back(trial);
      case Kind::pause:
        if (end.how == Ending::paused) return finish_pause(trial, true);
        if (failure && pause_without_attempt(trial, *failure, end.with_grace)) return;
        // While the experiment ends no attempt starts, so that the retry is left to a later
        // manager.
        if (over_ && failure && retry_from(trial, *failure)) return give_back(trial);
        break;
      case Kind::by_user:
        if (end.how == Ending::stopped)
          return conclude(trial, TrialStatus::user_canceled, asked->reason);
        if (failure && by_itself) return conclude(trial, TrialStatus::failed, end.detail);
        break;
      case Kind::fail:
        break;
    }
  }
  if (failure && !over_ && end.with_grace && save_and_resume(trial, *failure)) return;
  if (failure && !over_ && try_again(trial, *failure)) return;
  if (end.how != Ending::succeeded) return conclude(trial, TrialStatus::failed, end.detail);
  trial.save_at_end = trial.rules->checkpoint_at_end;
  conclude(trial, TrialStatus::succeeded,
           record.final_metric.is_null() ? "it ended without a final metric" : "");
}

// Checkpoints the files that the lost attempt left, then requeues the trial to go on from them.
bool TrialRunner::save_and_resume(LiveTrial& trial, FailureClass failure) {
  TrialRecord& record = trial.record;
  const RetryRule& rule = trial.rules->retries[failure];
  if (!rule.resumes() || record.failures > rule.limit) return false;
  store_.add_decision({record.job_id, "resume", "runner",
                       fmt::format("failure {} (lost with what it has saved)", record.failures)});
  fail_pause(trial);
  trial.asked.reset();
  record.end_time = 0;
  set_status(trial, TrialStatus::pending, "what it has saved becomes a checkpoint");
  trial.pausing = checkpoints_.save(trial);
  return true;
}

bool TrialRunner::try_again(LiveTrial& trial, FailureClass failure) {
  TrialRecord& record = trial.record;
  const auto from = retry_from(trial, failure);
  if (!from) return false;
  store_.add_decision({record.job_id, from->empty() ? "restart" : "resume", "runner",
                       fmt::format("failure {} ({})", record.failures,
                                   kFailureClasses[static_cast<std::size_t>(failure)])});
  fail_pause(trial);
  checkpoints_.start_from(trial, *from);
  start_trial(trial);
  return true;
}

// The attempt was stopped because the experiment ends. If the experiment can be resumed, and the
// retry rules allow it, the trial becomes pending again, and its files become a checkpoint: if the
// attempt has begun, else they are those of an earlier one.
void TrialRunner::give_back(LiveTrial& trial) {
  TrialRecord& record = trial.record;
  const bool has_begun = !trial.waits;
  const bool resumable = over_->kind != ExperimentEnd::Kind::completed;
  const bool again = resumable && trial.rules->retries[FailureClass::stopped].how != RetryHow::skip;
  if (!again) return conclude(trial, TrialStatus::user_canceled, trial.asked->reason);
  record.end_time = 0;
  fail_pause(trial);
  set_status(trial, TrialStatus::pending,
             "it was stopped with the experiment, and goes on with it");
  trial.asked.reset();  // the request was about the attempt, which has ended
  if (has_begun) checkpoints_.save(trial);
}

// If the decider waits for a pause, tells it that the pause has failed: the trial gets another
// attempt instead, and nothing else would answer the decider.
void TrialRunner::fail_pause(const LiveTrial& trial) {
  const bool pauses = trial.asked && trial.asked->kind == EndAsked::Kind::pause;
  if (pauses && !decider_lost_) decider_.on_pause_failed(trial.record.job_id);
}

// The attempt was lost before the pause reached it. If a retry would go on from the newest
// checkpoint, the trial waits with that one, as it was to wait anyway: an attempt at once would
// have to be paused again, and its training may never be needed.
bool TrialRunner::pause_without_attempt(LiveTrial& trial, FailureClass failure, bool with_files) {
  const auto from = retry_from(trial, failure);
  if (!from || *from != trial.resumes_from()) return false;
  finish_pause(trial, with_files && trial.rules->retries[failure].resumes());
  return true;
}

// `with_files`: the attempt has left files, which become a checkpoint. One that still waited for
// the backend has none: what is there is of an earlier attempt.
void TrialRunner::finish_pause(LiveTrial& trial, bool with_files) {
  const bool has_begun = !trial.waits;
  trial.record.end_time = 0;
  set_status(trial, TrialStatus::paused, trial.asked->reason);
  trial.asked.reset();
  if (with_files && has_begun) {
    trial.pausing = checkpoints_.save(trial);
    return;
  }
  proposals_.may_have_more();
  if (!decider_lost_) decider_.on_paused(trial.record.job_id, "");
}

// Ends the trial for good. Destroys `trial`.
void TrialRunner::conclude(LiveTrial& trial, TrialStatus status, std::string reason) {
  const std::string job_id = trial.record.job_id;
  const bool save_now = trial.save_at_end && trial.record.attempts > 0 && !trial.waits;
  if (save_now) checkpoints_.save(trial);
  checkpoints_.start_from(trial, "");
  const auto removed = table_.remove(job_id);
  TrialRecord& record = removed->record;
  status_.on_end(job_id);
  record.status = status;
  record.reason = std::move(reason);
  if (record.end_time == 0) record.end_time = clock_.wall();
  proposals_.may_have_more();
  count_end(record);
  log_.info("trial={} {} {}", job_id, to_text(status), record.reason);
  update_tally();
  announcer_.changed(record);
  if (!decider_lost_) tell_end(record);
  checkpoints_.ended(job_id, *removed);
  give_up_if_hopeless(record);
}

void TrialRunner::count_end(const TrialRecord& trial) {
  switch (trial.status) {
    case TrialStatus::succeeded:
      ++tally_.succeeded;
      status_.on_completed();
      if (const auto standing = results_.take(trial))
        status_.on_score(*standing, options_.objective().maximize, options_.stop);
      break;
    case TrialStatus::failed:
      ++tally_.failed;
      status_.on_failed();
      break;
    case TrialStatus::early_stopped:
      ++tally_.early_stopped;
      status_.on_stopped();
      break;
    default:
      ++tally_.user_canceled;
      status_.on_stopped();
  }
}

void TrialRunner::tell_end(const TrialRecord& trial) {
  switch (trial.status) {
    case TrialStatus::succeeded:
      return decider_.on_complete(trial.job_id, trial.final_metric);
    case TrialStatus::failed:
      return decider_.on_error(trial.job_id);
    case TrialStatus::early_stopped:
      return decider_.on_remove(trial.job_id, TrialEnd::Event::early_stopped);
    default:
      return decider_.on_remove(trial.job_id, TrialEnd::Event::user_canceled);
  }
}

void TrialRunner::give_up_if_hopeless(const TrialRecord& last) {
  const std::int64_t enough = std::max(kHopelessFailures, table_.concurrency());
  if (!results_.any_result() && results_.silent() >= enough) {
    return stop_experiment({ExperimentEnd::Kind::failed,
                            fmt::format("{} trials have ended well, but none has a result: {}",
                                        results_.silent(), results_.wanted_result())});
  }
  const bool all = options_.max_trials && tally_.failed >= *options_.max_trials;
  if (tally_.failed != tally_.finished() || (tally_.failed < enough && !all)) return;
  const auto file = backend_.stderr_path(last.job_id);
  const std::string words = last_lines(file, 5);
  stop_experiment({ExperimentEnd::Kind::failed,
                   fmt::format("all {} trials failed; the last one with {}. {}:\n{}", tally_.failed,
                               last.reason, file.string(), words.empty() ? "(empty)" : words)});
}

}  // namespace attune
