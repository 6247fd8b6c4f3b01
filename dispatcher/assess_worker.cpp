#include "dispatcher/assess_worker.h"

#include <algorithm>

#include "dispatcher/metrics.h"
#include "dispatcher/trial_name.h"

namespace attune {
namespace {

// Reports beyond a gap wait for it to close; a trial that never sends step 0 must not fill memory.
constexpr std::size_t kMostBeyondGap = 10'000;

}  // namespace

WorkerMessages AssessWorker::handle(AssessMessage message) {
  WorkerMessages messages = std::visit([this](auto& m) { return on(m); }, message);
  if (!assessor_) return messages;
  std::string notes = assessor_->take_notes();
  if (!notes.empty()) messages.insert(messages.begin(), Noted{std::move(notes)});
  return messages;
}

void AssessWorker::replay_notes(const std::string& notes) {
  if (assessor_) assessor_->replay_notes(notes);
}

void AssessWorker::end_replay() {
  if (assessor_) assessor_->end_replay();
}

WorkerMessages AssessWorker::on(IntermediateResult& m) {
  if (!assessor_) return {};
  auto metrics = to_metrics(m.value, metric_);
  if (!metrics) {
    log_.warning("intermediate result {} of {} ignored: {}", m.step, trial_name(m.trial),
                 metrics.error().message);
    return {};
  }
  History& history = history_of(m.trial, m.step);
  if (history.stopped) return {};
  Report report{m.trial, m.step, *std::move(metrics)};
  const auto known = std::ssize(history.reports);
  if (m.step > known) {
    if (history.later.size() >= kMostBeyondGap) {
      log_.warning("intermediate result {} of {} ignored: step {} is still missing", m.step,
                   trial_name(m.trial), known);
      return {};
    }
    history.later.insert_or_assign(m.step, std::move(report));
    return {};
  }
  if (m.step < known) {
    history.reports[static_cast<std::size_t>(m.step)] = std::move(report);
  } else {
    history.reports.push_back(std::move(report));
    // The gap is closed: what waited becomes visible at once, and is assessed as a whole.
    auto next = history.later.begin();
    while (next != history.later.end() && next->first == std::ssize(history.reports)) {
      history.reports.push_back(std::move(next->second));
      next = history.later.erase(next);
    }
  }
  longest_ = std::max(longest_, history.reports.size());
  Decision decision = assessor_->assess(m.trial, history.reports);
  if (decision.action == Action::keep_going) return {};
  history.stopped = decision.action == Action::stop;
  // The report in hand may be an earlier one that was missing, or is told again.
  json last = decision.complete ? to_value(history.reports.back().metrics) : std::move(m.value);
  json expected;
  if (history.stopped && !decision.complete && stopped_.assume != StoppedTrials::ignore) {
    expected = to_value(expected_end(stopped_, history.reports, longest_));
  }
  return {Decided{std::move(decision), std::move(last), std::move(expected)}};
}

AssessWorker::History& AssessWorker::history_of(TrialId trial, std::int64_t step) {
  if (auto former = former_.extract(trial)) {
    if (step > 0) {
      histories_.insert(std::move(former));
    } else {
      assessor_->trial_end(trial, End::failed);
    }
  }
  return histories_[trial];
}

WorkerMessages AssessWorker::on(TrialsEnded& m) {
  for (const TrialId trial : m.trials) {
    const auto known = histories_.erase(trial) + former_.erase(trial);
    if (known > 0) assessor_->trial_end(trial, m.end);
  }
  return {};
}

WorkerMessages AssessWorker::on(Barrier& m) { return {Passed{m.number}}; }

}  // namespace attune
