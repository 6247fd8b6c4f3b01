#include "tuners/parts/curve_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"

namespace attune {
namespace {

const std::vector<double> kFailed = {NAN};

}  // namespace

CurveLedger::CurveLedger(CurveMetrics metrics, CurveLevels levels, const Space& space, Begin begin)
    : metrics_(std::move(metrics)),
      levels_(std::move(levels)),
      features_(space),
      model_(features_, metrics_.shape(), levels_.all()),
      pauses_(begin == Begin::pausing) {}

CurveLedger CurveLedger::renewed(const Space& space) const {
  CurveLedger ledger(metrics_, levels_, space);
  ledger.begun_ = begun_;
  ledger.pauses_ = pauses_;
  return ledger;
}

std::size_t CurveLedger::add(const Point& point, TrialId trial, std::size_t until,
                             Curve::State state) {
  model_.add(features_.encode(point));
  return trials_.add({.point = point, .trial = trial, .state = state, .until = until});
}

// Where nobody knows what a full training is, a trial's own end is what must be learnt.
std::optional<double> CurveLedger::budget_of(std::size_t until) const {
  if (levels_.learns()) return std::nullopt;
  return until <= levels_.last() ? levels_.all()[until] : levels_.end();
}

// The resource at which the trial is to be paused.
double CurveLedger::pause_of(const Curve& curve) const {
  return pauses_ && curve.until < levels_.last() ? levels_.all()[curve.until] : HUGE_VAL;
}

void CurveLedger::change_levels(std::optional<std::size_t> kept) {
  if (kept) model_ = model_.with_levels(levels_.all(), *kept);
}

void CurveLedger::begin_pauses(TrialId probed) {
  pauses_ = true;
  unneeded_.insert(probed);
}

Proposal CurveLedger::start(TrialId id, const Point& point, std::size_t until) {
  add(point, id, until);
  ++proposed_;
  ++begun_;
  return {.point = point, .budget = budget_of(until)};
}

Proposal CurveLedger::go_on(TrialId id, std::size_t number, const std::string& why) {
  const Curve& curve = trials_[number];
  const std::size_t until = levels_.after(curve.reached);
  Proposal proposal{.point = curve.point, .budget = budget_of(until)};
  const std::vector<double> last =
      curve.last.empty()
          ? model_.last_result(number).value_or(std::vector<double>(metrics_.shape().width(), NAN))
          : curve.last;
  const double goal = levels_.all()[until];
  proposal.reason =
      fmt::format("{}{}; {}: goes on to {}", at(curve.reached), metrics_.text(last), why,
                  curve.reached < goal ? fmt::format("{:.6g}", goal) : "its own end");
  if (curve.state == Curve::State::paused) {
    proposal.resume = curve.trial;
  } else {
    proposal.checkpoint_from = curve.trial;
    trials_.hand_over(number, id);
    ++begun_;
  }
  trials_.run(number, until);
  return proposal;
}

// No such trial runs. Its configuration is not tried again.
void CurveLedger::withdraw(TrialId id) {
  const auto number = trials_.find(id);
  if (!number || trials_[*number].state != Curve::State::running) return;
  const bool is_new = trials_[*number].from == Curve::kNoTrial;
  if (is_new && proposed_ > 0) --proposed_;
  if (begun_ > 0) --begun_;
  finish(*number, Checkpoint::kept);
}

void CurveLedger::tell(const Outcome& outcome) {
  const auto number = outcome.end == End::imported ? std::nullopt : trials_.find(outcome.trial);
  if (!number) return learn(outcome);
  const Curve& curve = trials_[*number];
  if (!curve.lives()) return;
  if (outcome.end != End::completed) {
    if (outcome.end != End::stopped) fail_at_next(*number);
    return finish(*number, curve.waits() ? Checkpoint::dropped : Checkpoint::kept);
  }
  if (levels_.learns()) return tell_learnt(*number, outcome);
  // It ended by itself. At its budget: it may go on in another trial. Elsewhere: this was all.
  const std::vector<double>& levels = levels_.all();
  const double budget = outcome.budget.value_or(levels_.end());
  const auto found = std::ranges::find(levels, budget);
  const bool at_budget = found != levels.end() && budget < levels_.end() && curve.reached <= budget;
  const std::size_t level =
      at_budget ? static_cast<std::size_t>(found - levels.begin()) : levels_.last();
  const auto result = metrics_(outcome);
  model_.observe(*number, level, result.value_or(kFailed));
  if (!at_budget || !std::isfinite(model_.loss(*number, level))) {
    return finish(*number, Checkpoint::kept);
  }
  release_origin(*number);
  trials_.end(*number, budget, result.value_or(std::vector<double>()), levels_.after(budget));
}

// Where it ended by itself is the end of a full training.
void CurveLedger::tell_learnt(std::size_t number, const Outcome& outcome) {
  if (outcome.usable()) change_levels(levels_.end_at(trials_[number].reached));
  model_.observe(number, levels_.last(), metrics_(outcome).value_or(kFailed));
  finish(number, Checkpoint::kept);
}

// A result from elsewhere, or of the search space before.
void CurveLedger::learn(const Outcome& outcome) {
  const auto result = metrics_(outcome);
  if (!result) return;
  const std::size_t count = outcome.budget ? levels_.within(*outcome.budget) : levels_.last() + 1;
  if (count == 0) return;
  const std::size_t number =
      add(outcome.point, Curve::kNoTrial, Curve::kToItsEnd, Curve::State::over);
  model_.observe(number, count - 1, *result);
}

// It has failed on the way to the next level.
void CurveLedger::fail_at_next(std::size_t number) {
  const std::vector<double>& levels = levels_.all();
  const auto found = std::ranges::lower_bound(levels, trials_[number].reached);
  auto level = std::min(static_cast<std::size_t>(found - levels.begin()), levels_.last());
  while (level < levels_.last() && !std::isnan(model_.loss(number, level))) ++level;
  model_.observe(number, level, NAN);
}

void CurveLedger::finish(std::size_t number, Checkpoint checkpoint) {
  release_origin(number);
  if (checkpoint == Checkpoint::dropped) unneeded_.insert(trials_[number].trial);
  trials_.finish(number);
}

// The trial has a checkpoint of its own now, or needs none.
void CurveLedger::release_origin(std::size_t number) {
  const TrialId origin = trials_.release_origin(number);
  if (origin != Curve::kNoTrial) unneeded_.insert(origin);
}

json CurveLedger::save() const {
  json state = {{"model", model_.save()},
                {"trials", trials_.save(metrics_.shape().width())},
                {"unneeded", unneeded_},
                {"proposed", proposed_},
                {"begun", begun_}};
  if (levels_.learns()) {
    state["levels"] = levels_.save();
    state["pauses"] = pauses_;
  }
  return state;
}

Result<void> CurveLedger::load(const Space& space, const json& state) {
  const auto count_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto count = TRY(integer_at(state, key));
    if (count < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(count);
  };
  CurveLevels levels = levels_;
  if (levels.learns()) TRY(levels.load(TRY(object_at(state, "levels"))));
  CurveLedger loaded(metrics_, std::move(levels), space);
  if (levels_.learns()) loaded.pauses_ = TRY(boolean_at(state, "pauses"));
  loaded.trials_ =
      TRY(CurveTrials::load(space, metrics_.shape().width(), TRY(object_at(state, "trials"))));
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < loaded.trials_.size(); ++i) {
    rows.push_back(features_.encode(loaded.trials_[i].point));
  }
  TRY(loaded.model_.load(TRY(object_at(state, "model")), rows));
  for (const std::size_t number : loaded.trials_.waiting()) {
    const bool can_wait = levels_.learns() || loaded.trials_[number].reached < loaded.levels_.end();
    if (!can_wait || !loaded.model_.rough_end(number)) {
      return fail("saved state: a trial waits that cannot go on");
    }
  }
  loaded.unneeded_ = TRY(trials_at(state, "unneeded"));
  loaded.proposed_ = TRY(count_at("proposed"));
  loaded.begun_ = TRY(count_at("begun"));
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
