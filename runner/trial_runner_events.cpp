// What trials do: their results, their ends, their checkpoints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/codec.h"
#include "runner/files.h"
#include "runner/trial_runner.h"

namespace attune {
namespace {

// The same result as `metric`, as the trial's final one.
std::string final_text(ReportMetricData metric) {
  metric.type = ReportMetricData::Type::final;
  metric.sequence = 0;
  return encode(metric).payload;
}

// What the decider hears of an intermediate result.
std::string intermediate_text(const TrialReport& report, std::int64_t reports_before) {
  if (reports_before == 0) return report.text;
  ReportMetricData metric = report.metric;
  metric.sequence += reports_before;
  return encode(metric).payload;
}

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

std::optional<double> value_of(const Metrics& metrics, const std::string& name) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  if (found == metrics.end()) return std::nullopt;
  return found->second;
}

const std::string& job_of(const TrialEvent& event) {
  return std::visit([](const auto& e) -> const std::string& { return e.job_id; }, event);
}

}  // namespace

bool TrialRunner::fetch() {
  if (!inbox_.empty()) return true;
  // Unread metrics wait with the trials until the decider can take more. At the end of the
  // experiment there is nothing to hold back: reports of stopped trials do not count.
  if (!woken_ || (!over_ && decider_.congested())) return false;
  woken_ = false;
  for (TrialEvent& event : backend_.fetch_status_results()) inbox_.push_back(std::move(event));
  return !inbox_.empty();
}

// Whether it only carries out what was decided before: that is no step of its own.
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
  handle_event(event);
}

void TrialRunner::handle_event(const TrialEvent& event) {
  if (const auto* saved = std::get_if<CheckpointStored>(&event)) return handle(*saved);
  LiveTrial* trial = table_.find(job_of(event));
  if (const auto* problem = std::get_if<TrialProblem>(&event)) {
    warn(fmt::format("trial {}: {}", problem->job_id, problem->text));
  } else if (trial == nullptr || trial->record.status != TrialStatus::running) {
    log_.debug("trial={} has an event after its end", job_of(event));
  } else if (const auto* place = std::get_if<TrialPlace>(&event)) {
    handle(*trial, *place);
  } else if (const auto* report = std::get_if<TrialReport>(&event)) {
    handle(*trial, *report);
  } else {
    handle(*trial, std::get<TrialFinished>(event));
  }
}

// Time in which it waits is none of its own.
void TrialRunner::handle(LiveTrial& trial, const TrialPlace& place) {
  const bool waits = !place.waits_for.empty();
  table_.set_waits(trial, waits);
  trial.record.reason = place.waits_for;
  if (!waits) trial.last_result = std::max(trial.last_result, place.since);
  if (options_.max_trial_seconds && !trial.asked) {
    const double ran = std::max(clock_.wall() - place.since, 0.0);
    const double left = std::max(*options_.max_trial_seconds - ran, 1e-3);
    table_.set_deadline(trial, waits ? 0 : clock_.now() + left);
  }
  observer_.on_trial_changed(trial.record);
  update_tally();
}

// ---- results

void TrialRunner::handle(LiveTrial& trial, const TrialReport& report) {
  using Type = ReportMetricData::Type;
  TrialRecord& record = trial.record;
  const ReportMetricData& metric = report.metric;
  const auto ignore = [&](const std::string& why) { observer_.on_report(record, report, why); };
  if (decider_lost_) return ignore("the decider has gone");
  if (trial.asked) {
    const bool last_word =
        trial.asked->kind == EndAsked::Kind::by_user && metric.type == Type::final;
    if (!last_word) return ignore("after the decision: " + trial.asked->reason);
  } else if (report.late) {
    return ignore("after the trial was stopped");
  }
  if (metric.type == Type::request_parameter) {
    observer_.on_report(record, report, "a request for a configuration");
    decider_.on_result(record.job_id, report.text);
    return;
  }
  if (std::ranges::find(trial.ids, metric.parameter_id) == trial.ids.end()) {
    // It would be taken for the result of another configuration.
    const std::string why = fmt::format(
        "a metric with parameter_id {} was ignored: copy \"parameter_id\" from parameter.cfg, "
        "where it is {}",
        to_text(metric.parameter_id), to_text(record.proposed.parameter_id));
    warn(fmt::format("trial {}: {}", record.job_id, why));
    return ignore(why);
  }
  const bool second = metric.type == Type::final &&
                      std::ranges::find(trial.finals, metric.parameter_id) != trial.finals.end();
  if (second) return ignore("the trial has had its final result before");
  const Metrics metrics = metrics_of(metric.value);
  const double since = std::max(report.time - trial.last_result, 0.0);
  trial.last_result = report.time;
  status_.on_report(record.job_id, metrics, value_of(metrics, "time_this_iter_s").value_or(since));
  if (!trial.asked) return judge(trial, report, metrics);
  TrialReport last_word = report;  // it may have been on its way when the trial was stopped
  last_word.late = true;
  judge(trial, last_word, metrics);
}

void TrialRunner::judge(LiveTrial& trial, const TrialReport& report, const Metrics& metrics) {
  TrialRecord& record = trial.record;
  const bool final = report.metric.type == ReportMetricData::Type::final;
  const auto number = value_of(metrics, options_.objective().metric);
  const std::string flaw =
      number && std::isfinite(*number)
          ? ""
          : fmt::format("it has no finite \"{}\"", options_.objective().metric);
  bool complete = false;  // the trial, with this result
  if (!final) {
    const auto met = meets_criterion(*trial.rules, metrics);
    if (!met) {
      observer_.on_report(record, report, met.error().message);
      ask_end(trial, EndAsked::Kind::fail, met.error().message, "runner");
      return;
    }
    ++record.reports;
    record.last_metric = report.metric.value;
    ++trial.attempt_reports;
    complete = *met;
    if (complete) record.final_metric = report.metric.value;
  } else {
    record.final_metric = report.metric.value;
    trial.finals.push_back(report.metric.parameter_id);
    if (trial.asked) trial.final_after_ask = true;
    const std::string lack = lack_text(record.final_metric, options_.objectives);
    if (!lack.empty()) warn(fmt::format("trial {}: the final metric {}", record.job_id, lack));
  }
  observer_.on_report(record, report, flaw);
  const Action action =
      decider_.on_result(record.job_id, complete ? final_text(report.metric)
                                        : final  ? report.text
                                                 : intermediate_text(report, trial.reports_before));
  observer_.on_trial_changed(record);
  if (final) return;  // it ends by itself
  const bool stop = complete || action == Action::stop;
  const bool due = saves_after(trial, metrics, stop);
  if (stop) {
    trial.save_at_end = due;
    if (complete) ask_end(trial, EndAsked::Kind::complete, kOwnCriterion, "runner");
    if (!complete) ask_end(trial, EndAsked::Kind::early_stop, "the decider said so", "decider");
  } else if (action == Action::pause) {
    ask_end(trial, EndAsked::Kind::pause, "the decider said so", "decider");
  } else if (due || action == Action::checkpoint) {
    save(trial);
  }
}

// Whether a checkpoint is due after a result; `stop`: the trial ends with it.
bool TrialRunner::saves_after(const LiveTrial& trial, const Metrics& metrics, bool stop) {
  const double iteration =
      value_of(metrics, "training_iteration").value_or(static_cast<double>(trial.record.reports));
  const std::int64_t frequency = trial.rules->checkpoint_frequency;
  return (stop && trial.rules->checkpoint_at_end) ||
         (frequency > 0 && static_cast<std::int64_t>(iteration) % frequency == 0);
}

// After Ray Tune's should_stop(): `done`, or any threshold that is reached, whatever the direction.
Result<bool> TrialRunner::meets_criterion(const TrialRules& rules, const Metrics& metrics) const {
  if (value_of(metrics, "done").value_or(0) != 0) return true;
  bool met = false;
  for (const auto& [name, threshold] : rules.stop) {
    const auto value = value_of(metrics, name);
    if (!value)
      return fail(fmt::format("its result has no \"{}\", which stop.trial compares", name));
    met = met || *value >= threshold;
  }
  return met;
}

// ---- ends

void TrialRunner::handle(LiveTrial& trial, const TrialFinished& finished) {
  using Kind = EndAsked::Kind;
  TrialRecord& record = trial.record;
  record.end_time = finished.time;
  status_.on_attempt_end(std::max(finished.time - trial.last_result, 0.0));
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
  observer_.on_attempt_end(record, end);
  // What has its final result has it, whatever ended it.
  const bool has_result = asked && !record.final_metric.is_null() &&
                          (asked->kind == Kind::early_stop || asked->kind == Kind::interrupt);
  if (has_result) return conclude(trial, TrialStatus::succeeded, "");
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
        if (end.how == Ending::stopped && !trial.final_after_ask)
          return conclude(trial, TrialStatus::user_canceled, asked->reason);
        if (end.how == Ending::stopped) return conclude(trial, TrialStatus::succeeded, "");
        if (failure && by_itself) return conclude(trial, TrialStatus::failed, end.detail);
        break;
      case Kind::fail:
        break;
    }
  }
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
  observer_.on_decision({record.job_id, from->empty() ? "restart" : "resume", "runner",
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
  const bool resumable = over_->kind != Outcome::Kind::completed;
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
  observer_.on_trial_changed(record);
  if (!decider_lost_) tell_decider(record);
  if (removed->saving > 0) {
    ended_saving_[job_id] = static_cast<int>(removed->saving);
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
  const bool all = options_.max_trials && tally_.failed >= *options_.max_trials;
  if (tally_.failed != tally_.finished() || (tally_.failed < enough && !all)) return;
  const auto file = backend_.stderr_path(last.job_id);
  const std::string words = last_lines(file, 5);
  stop_experiment({Outcome::Kind::failed,
                   fmt::format("all {} trials failed; the last one with {}. {}:\n{}", tally_.failed,
                               last.reason, file.string(), words.empty() ? "(empty)" : words)});
}

}  // namespace attune
