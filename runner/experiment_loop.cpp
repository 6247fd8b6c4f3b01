#include "runner/experiment_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "protocol/codec.h"
#include "runner/files.h"

namespace attune {

ExperimentLoop::ExperimentLoop(LoopLimits limits, Decider& decider, TrialBackend& backend,
                               const Clock& clock, LoopObserver& observer, Log log)
    : limits_(limits),
      decider_(decider),
      backend_(backend),
      clock_(clock),
      observer_(observer),
      log_(std::move(log)) {}

void ExperimentLoop::start() {
  started_at_ = clock_.now();
  if (auto started = decider_.start(*this); !started) on_failure(started.error());
}

// ---- what the decider wants

void ExperimentLoop::on_ready() {
  if (phase_ != Phase::starting) return;
  phase_ = Phase::running;
  advance();
}

void ExperimentLoop::on_proposal(ProposedTrial proposal) {
  if (!requests_.empty() && --requests_.front() == 0) requests_.pop_front();
  exhausted_ = false;
  waiting_.push_back(std::move(proposal));
  advance();
}

void ExperimentLoop::on_exhausted(const std::string& reason) {
  log_.info("no more trials for now: {}", reason.empty() ? "no reason given" : reason);
  if (!requests_.empty()) requests_.pop_front();
  exhausted_ = true;
  advance();
}

void ExperimentLoop::on_stop(const std::string& job_id, const std::string& reason) {
  const auto found = running_.find(job_id);
  if (found == running_.end()) {  // it may have ended while the decision was on its way
    log_.info("trial={} cannot be stopped: it does not run", job_id);
    return;
  }
  stop_trial(found->second, TrialEnd::Event::early_stopped, reason);
}

void ExperimentLoop::on_failure(Error error) {
  decider_lost_ = true;
  stop_experiment({Outcome::Kind::failed, std::move(error.message)});
  if (phase_ == Phase::closing) finish();
  advance();
}

void ExperimentLoop::on_closed() { finish(); }

// ---- trials

void ExperimentLoop::advance() {
  // A decider may answer from inside next(): then the outer call goes round once more.
  advance_again_ = true;
  if (std::exchange(advancing_, true)) return;
  while (std::exchange(advance_again_, false)) {
    ask();
    start_waiting();
    close_when_idle();
  }
  advancing_ = false;
}

int ExperimentLoop::unanswered() const {
  return std::accumulate(requests_.begin(), requests_.end(), 0);
}

void ExperimentLoop::ask() {
  if (phase_ != Phase::running || exhausted_) return;
  const auto coming = static_cast<std::int64_t>(waiting_.size()) + unanswered();
  std::int64_t count = limits_.concurrency - static_cast<std::int64_t>(running_.size()) - coming;
  if (limits_.max_trials) count = std::min(count, *limits_.max_trials - tally_.started - coming);
  if (count <= 0) return;
  requests_.push_back(static_cast<int>(count));
  decider_.next(static_cast<int>(count));
}

void ExperimentLoop::start_waiting() {
  while (phase_ == Phase::running && !waiting_.empty() &&
         running_.size() < static_cast<std::size_t>(limits_.concurrency) &&
         (!limits_.max_trials || tally_.started < *limits_.max_trials)) {
    ProposedTrial proposal = std::move(waiting_.front());
    waiting_.pop_front();
    start_trial(std::move(proposal));
  }
}

void ExperimentLoop::start_trial(ProposedTrial proposal) {
  TrialRecord record;
  record.sequence = tally_.started;
  record.job_id = job_id_of(record.sequence);
  record.proposed = std::move(proposal);
  record.status = TrialStatus::running;
  record.start_time = clock_.wall();
  const auto started = backend_.start({record.job_id, record.sequence, record.proposed.text});
  if (!started) {
    // A full disk, no more processes: the next trial would not fare better.
    stop_experiment({Outcome::Kind::failed, fmt::format("trial {} cannot be started: {}",
                                                        record.job_id, started.error().message)});
    return;
  }
  log_.info("trial={} starts parameter_id={} parameters={}", record.job_id,
            to_text(record.proposed.parameter_id), dump_json(record.proposed.parameters));
  ++tally_.started;
  ++tally_.running;
  const double deadline =
      clock_.now() + limits_.max_trial_seconds.value_or(std::numeric_limits<double>::infinity());
  const std::string job_id = record.job_id;
  decider_.on_add(job_id, record.proposed);
  running_.emplace(job_id, Running{std::move(record), deadline, std::nullopt});
  observer_.on_change(tally_);
}

void ExperimentLoop::stop_trial(Running& trial, TrialEnd::Event event, const std::string& reason) {
  if (trial.stopped_as) return;
  log_.info("trial={} is stopped: {}", trial.record.job_id, reason);
  trial.stopped_as = event;
  trial.record.reason = reason;
  backend_.stop(trial.record.job_id);
}

// ---- what the backend has

void ExperimentLoop::pump() {
  if (phase_ == Phase::done) return;
  // Unread metrics wait in the trials' files until the decider can take more. At the end of the
  // experiment there is nothing to hold back: reports of stopped trials do not count.
  if (phase_ == Phase::running && decider_.congested()) return;
  for (const TrialEvent& event : backend_.fetch_status_results()) handle(event);
  advance();
}

void ExperimentLoop::handle(const TrialEvent& event) {
  const std::string& job_id =
      std::visit([](const auto& e) -> const auto& { return e.job_id; }, event);
  const auto found = running_.find(job_id);
  if (found == running_.end()) return;
  if (const auto* report = std::get_if<TrialReport>(&event)) {
    handle_report(found->second, *report);
  } else if (const auto* problem = std::get_if<TrialProblem>(&event)) {
    warn(fmt::format("trial {}: {}", job_id, problem->text));
  } else {
    Running trial = std::move(running_.extract(found).mapped());
    handle_end(std::move(trial), std::get<TrialFinished>(event));
  }
}

void ExperimentLoop::handle_report(Running& trial, const TrialReport& report) {
  TrialRecord& record = trial.record;
  if (trial.stopped_as || decider_lost_) return;
  if (report.metric.type == ReportMetricData::Type::request_parameter) {
    warn(fmt::format("trial {} asks for a second configuration, which is not supported",
                     record.job_id));
    return;
  }
  if (report.metric.parameter_id != record.proposed.parameter_id) {
    // It would be taken for the result of another configuration.
    warn(fmt::format(
        "trial {}: a metric with parameter_id {} was ignored: copy \"parameter_id\" from "
        "parameter.cfg, where it is {}",
        record.job_id, to_text(report.metric.parameter_id), to_text(record.proposed.parameter_id)));
    return;
  }
  if (report.metric.type == ReportMetricData::Type::final) {
    record.final_metric = report.metric.value;
    if (!record.score()) {
      warn(fmt::format(
          "trial {}: the final metric {} is neither a finite number nor an object whose "
          "\"default\" is one",
          record.job_id, dump_json(record.final_metric)));
    }
  } else {
    record.intermediate.push_back(report.metric.value);
  }
  decider_.on_result(record.job_id, report.text);
}

void ExperimentLoop::handle_end(Running trial, const TrialFinished& finished) {
  TrialRecord& record = trial.record;
  record.end_time = clock_.wall();
  --tally_.running;
  if (trial.stopped_as) {
    const bool early = *trial.stopped_as == TrialEnd::Event::early_stopped;
    record.status = early ? TrialStatus::early_stopped : TrialStatus::user_canceled;
    ++(early ? tally_.early_stopped : tally_.user_canceled);
    if (!decider_lost_) decider_.on_remove(record.job_id, *trial.stopped_as);
  } else if (finished.success) {
    record.status = TrialStatus::succeeded;
    ++tally_.succeeded;
    if (!decider_lost_) decider_.on_complete(record.job_id);
  } else {
    record.status = TrialStatus::failed;
    record.reason = finished.detail;
    ++tally_.failed;
    if (!decider_lost_) decider_.on_error(record.job_id);
  }
  exhausted_ = false;
  if (record.status == TrialStatus::succeeded && record.score()) ++scored_;
  log_.info("trial={} {} {}", record.job_id, to_text(record.status), record.reason);
  observer_.on_change(tally_);
  if (auto kept = observer_.on_trial_end(record); !kept) {
    stop_experiment({Outcome::Kind::failed, kept.error().message});
  }
  give_up_if_hopeless(record);
}

void ExperimentLoop::give_up_if_hopeless(const TrialRecord& last) {
  const std::int64_t enough = std::max(kHopelessFailures, limits_.concurrency);
  const bool all = limits_.max_trials && tally_.failed >= *limits_.max_trials;
  if (tally_.failed != tally_.finished() || (tally_.failed < enough && !all)) return;
  const auto file = backend_.stderr_path(last.job_id);
  const std::string words = last_lines(file, 5);
  stop_experiment({Outcome::Kind::failed,
                   fmt::format("all {} trials failed; the last one with {}. {}:\n{}", tally_.failed,
                               last.reason, file.string(), words.empty() ? "(empty)" : words)});
}

// ---- time and the end

std::optional<double> ExperimentLoop::next_deadline() const {
  if (phase_ == Phase::done) return std::nullopt;
  double deadline = std::numeric_limits<double>::infinity();
  if (limits_.max_seconds && phase_ <= Phase::running)
    deadline = started_at_ + *limits_.max_seconds;
  for (const auto& [job_id, trial] : running_) {
    if (!trial.stopped_as) deadline = std::min(deadline, trial.deadline);
  }
  if (deadline == std::numeric_limits<double>::infinity()) return std::nullopt;
  return deadline;
}

void ExperimentLoop::tick() {
  const double now = clock_.now();
  if (limits_.max_seconds && now >= started_at_ + *limits_.max_seconds) {
    stop_experiment({Outcome::Kind::completed, "maxExperimentDuration is over"});
  }
  for (auto& [job_id, trial] : running_) {
    if (now >= trial.deadline) {
      stop_trial(trial, TrialEnd::Event::early_stopped, "maxTrialDuration is over");
    }
  }
  advance();
}

void ExperimentLoop::interrupt(const std::string& reason) {
  if (phase_ == Phase::done) return;
  if (!std::exchange(interrupted_, true)) {
    stop_experiment({Outcome::Kind::interrupted, reason});
    advance();
    return;
  }
  backend_.kill_all();
  decider_.kill();
  decider_lost_ = true;
  if (phase_ == Phase::closing) finish();
}

void ExperimentLoop::stop_experiment(Outcome outcome) {
  if (phase_ >= Phase::stopping) return;
  phase_ = Phase::stopping;
  outcome_ = std::move(outcome);
  log_.info("the experiment stops: {}", outcome_.reason);
  requests_.clear();
  waiting_.clear();
  for (auto& [job_id, trial] : running_) {
    stop_trial(trial, TrialEnd::Event::user_canceled, "the experiment ended");
  }
  advance();
}

void ExperimentLoop::close_when_idle() {
  if (phase_ >= Phase::closing || phase_ == Phase::starting || !running_.empty()) return;
  if (phase_ == Phase::running) {
    const bool all_run = limits_.max_trials && tally_.started >= *limits_.max_trials;
    if (!all_run && !(exhausted_ && waiting_.empty() && requests_.empty())) return;
    outcome_.reason =
        all_run ? "maxTrialNumber is reached" : "the tuner has no more configurations";
  }
  phase_ = Phase::closing;
  if (decider_lost_) {
    finish();
  } else {
    decider_.close();
  }
}

void ExperimentLoop::finish() {
  if (std::exchange(phase_, Phase::done) == Phase::done) return;
  if (outcome_.kind == Outcome::Kind::completed && scored_ == 0) {
    outcome_ = {
        Outcome::Kind::failed,
        fmt::format("{}, but no trial reported a final metric ({} succeeded, {} failed, {} "
                    "stopped): nni.report_final_result(number) in Python, or a FINAL record "
                    "in $NNI_SYS_DIR/.nni/metrics",
                    outcome_.reason, tally_.succeeded, tally_.failed,
                    tally_.early_stopped + tally_.user_canceled)};
  }
  observer_.on_done(outcome_);
}

void ExperimentLoop::warn(const std::string& text) {
  log_.warning("{}", text);
  observer_.on_warning(text);
}

}  // namespace attune
