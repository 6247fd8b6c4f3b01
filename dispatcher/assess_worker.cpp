#include "dispatcher/assess_worker.h"

#include <algorithm>

#include "base/saved_numbers.h"
#include "dispatcher/metrics.h"

namespace attune {
namespace {

// Reports beyond a gap wait for it to close; a trial that never sends step 0 must not fill memory.
constexpr std::size_t kMostBeyondGap = 10'000;

}  // namespace

WorkerMessages AssessWorker::handle(AssessMessage message) {
  return std::visit([this](auto& m) { return on(m); }, message);
}

WorkerMessages AssessWorker::on(IntermediateResult& m) {
  if (!assessor_) return {};
  auto metrics = to_metrics(m.value);
  if (!metrics) {
    log_.warning("intermediate result {} of trial {} ignored: {}", m.step, m.trial,
                 metrics.error().message);
    return {};
  }
  History& history = histories_[m.trial];
  if (history.stopped) return {};
  Report report{m.trial, m.step, *std::move(metrics)};
  const auto known = std::ssize(history.reports);
  if (m.step > known) {
    if (history.later.size() >= kMostBeyondGap) {
      log_.warning("intermediate result {} of trial {} ignored: step {} is still missing", m.step,
                   m.trial, known);
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
  Decision decision = assessor_->assess(m.trial, history.reports);
  if (decision.action == Action::keep_going) return {};
  history.stopped = decision.action == Action::stop;
  log_.info("trial {} is stopped early: {}", m.trial, decision.reason);
  return {Decided{std::move(decision), std::move(m.value)}};
}

WorkerMessages AssessWorker::on(TrialsEnded& m) {
  for (const TrialId trial : m.trials) {
    if (histories_.erase(trial) > 0) assessor_->trial_end(trial, m.end);
  }
  return {};
}

WorkerMessages AssessWorker::on(SaveState& m) {
  if (!assessor_) return {AssessorState{m.number, nullptr}};
  std::vector<TrialId> running;
  for (const auto& [trial, history] : histories_) running.push_back(trial);
  std::ranges::sort(running);
  json state;
  state["running"] = std::move(running);
  state["assessor"] = assessor_->save();
  WorkerMessages messages;  // an initialiser list would copy the state
  messages.emplace_back(AssessorState{m.number, std::move(state)});
  return messages;
}

Result<void> AssessWorker::load(const json& state) {
  if (!assessor_ || state.is_null()) return {};
  TRY(assessor_->load(TRY(value_at(state, "assessor"))));
  for (const json& trial : TRY(array_at(state, "running"))) {
    if (!trial.is_number_integer()) return fail("saved state: a trial is an integer");
    assessor_->trial_end(trial, End::failed);
  }
  return {};
}

WorkerMessages AssessWorker::on(Barrier& m) { return {Passed{m.number}}; }

}  // namespace attune
