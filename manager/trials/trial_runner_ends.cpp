// How trials end, and what follows: another attempt, a pause, the record.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "manager/trials/trial_runner.h"
#include "os/private_file.h"

namespace attune {
namespace {

// The metrics of a result that lacks the one that is searched for, and how to search for one.
std::string other_metrics(const json& value) {
  std::vector<std::string> names;
  if (value.is_object()) {
    for (const auto& [name, number] : value.items()) {
      if (number.is_number()) names.push_back(name);
    }
  }
  if (names.empty()) return "";
  return fmt::format("; the trials report {}: write `objectives: [{{metric: {}}}]`",
                     fmt::join(names, ", "), names.front());
}

}  // namespace

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
  // A pause goes before a result: the decider lets the trial go on, and it reports another one.
  const bool well = end.how == Ending::succeeded || end.how == Ending::stopped;
  const bool has_said = well && !trial.finals.empty();
  if (well) tell_results(trial);
  trial.finals.clear();
  status_.on_attempt_end(trial.time.advance(finished.time, finished.ran));
  store_.end_attempt(record, end);
  // What has its final result has it, whoever stopped it.
  const bool by_user = asked && asked->kind == Kind::by_user;
  const bool cut_off = end.how == Ending::stopped || (asked && asked->kind == Kind::early_stop);
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
        if (end.how == Ending::paused) return finish_pause(trial);
        // It had ended by itself. While the experiment ends, a later manager tries it again.
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

std::optional<std::string> TrialRunner::retry_from(const LiveTrial& trial, FailureClass failure) {
  return trial.rules->retries.start_again(failure, trial.record.failures, trial.record.checkpoint);
}

bool TrialRunner::try_again(LiveTrial& trial, FailureClass failure) {
  TrialRecord& record = trial.record;
  const auto from = retry_from(trial, failure);
  if (!from) return false;
  store_.add_decision({record.job_id, from->empty() ? "restart" : "resume", "runner",
                       fmt::format("failure {} ({})", record.failures,
                                   kFailureClasses[static_cast<std::size_t>(failure)])});
  fail_pause(trial);
  plan_start(trial, *from);
  start_trial(trial);
  return true;
}

// The experiment ends while the trial runs.
void TrialRunner::give_back(LiveTrial& trial) {
  TrialRecord& record = trial.record;
  const bool resumable = over_->kind != ExperimentEnd::Kind::completed;
  const bool again = resumable && trial.rules->retries[FailureClass::stopped].how != RetryHow::skip;
  if (!again) return conclude(trial, TrialStatus::user_canceled, trial.asked->reason);
  record.end_time = 0;
  fail_pause(trial);
  set_status(trial, TrialStatus::pending,
             "it was stopped with the experiment, and goes on with it");
  trial.asked.reset();  // what is decided from now on finds a trial that waits
  save(trial);
}

// A pause that was asked for has come to nothing: the trial goes on, and the decider has no other
// way to hear of that.
void TrialRunner::fail_pause(const LiveTrial& trial) {
  const bool pauses = trial.asked && trial.asked->kind == EndAsked::Kind::pause;
  if (pauses && !decider_lost_) decider_.on_pause_failed(trial.record.job_id);
}

void TrialRunner::finish_pause(LiveTrial& trial) {
  trial.record.end_time = 0;
  set_status(trial, TrialStatus::paused, trial.asked->reason);
  trial.asked.reset();
  trial.pausing = save(trial);
}

void TrialRunner::conclude(LiveTrial& trial, TrialStatus status, std::string reason) {
  const std::string job_id = trial.record.job_id;
  const bool save_now = trial.save_at_end && trial.record.attempts > 0;
  if (save_now) save(trial);
  plan_start(trial, "");
  const auto removed = table_.remove(job_id);
  TrialRecord& record = removed->record;
  status_.on_end(job_id);
  record.status = status;
  record.reason = std::move(reason);
  if (record.end_time == 0) record.end_time = clock_.wall();
  exhausted_ = false;
  switch (status) {
    case TrialStatus::succeeded: {
      ++tally_.succeeded;
      status_.on_completed();
      const auto standing = standing_of(record.final_metric, options_.objectives);
      if (!standing) {
        silent_ += is_silent(record.final_metric, options_.objectives) ? 1 : 0;
        const bool none = record.final_metric.is_null();
        if (!record.score(options_.objective().metric))
          misnamed_ = other_metrics(none ? record.last_metric : record.final_metric);
        break;
      }
      ++scored_;
      status_.on_score(*standing, options_.objective().maximize, options_.stop);
      break;
    }
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
  log_.info("trial={} {} {}", job_id, to_text(status), record.reason);
  update_tally();
  tell_change(record);
  if (!decider_lost_) tell_decider(record);
  if (!removed->saving.empty()) {
    ended_saving_[job_id] = std::move(removed->saving);
  } else {
    drop(keeper_.ended(job_id));
    backend_.release(job_id);
  }
  give_up_if_hopeless(record);
}

void TrialRunner::tell_decider(const TrialRecord& trial) {
  switch (trial.status) {
    case TrialStatus::succeeded:
      return decider_.on_complete(trial.job_id);
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
  if (scored_ == 0 && silent_ >= enough)
    return stop_experiment({ExperimentEnd::Kind::failed,
                            fmt::format("{} trials have ended well, but none has a result: {}",
                                        silent_, wanted_result())});
  const bool all = options_.max_trials && tally_.failed >= *options_.max_trials;
  if (tally_.failed != tally_.finished() || (tally_.failed < enough && !all)) return;
  const auto file = backend_.stderr_path(last.job_id);
  const std::string words = last_lines(file, 5);
  stop_experiment({ExperimentEnd::Kind::failed,
                   fmt::format("all {} trials failed; the last one with {}. {}:\n{}", tally_.failed,
                               last.reason, file.string(), words.empty() ? "(empty)" : words)});
}

std::string TrialRunner::wanted_result() const {
  return fmt::format("a final metric with a finite {} is wanted, {}{}",
                     missing_metrics(nullptr, options_.objectives), options_.result_place,
                     misnamed_);
}

}  // namespace attune
