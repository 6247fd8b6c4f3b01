#include "tuners/parts/bracket_pauses.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kFailedLoss = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void PausingTuner::set_state(Trial& trial, State state) {
  if (trial.state == State::running) --running_;
  trial.state = state;
  if (trial.state == State::running) ++running_;
}

Proposal PausingTuner::start(TrialId id, const Point& point, double level, bool pauses) {
  trials_[id] = {.origin = id, .level = level, .pauses = pauses};
  ++running_;
  quota_.begin(id);
  return {.point = point, .budget = level};
}

PausingTuner::Continued PausingTuner::go_on(TrialId id, TrialId waiting, double level,
                                            bool pauses) {
  Trial& trial = trials_.at(waiting);
  trial.level = level;
  trial.pauses = pauses;
  Proposal proposal{.point = *searcher().point_of(trial.origin), .budget = level};
  proposal.reason = fmt::format("{}: goes on to {:g}", trial.why, level);
  if (!trial.ended) {
    set_state(trial, State::running);
    proposal.resume = waiting;
    return {std::move(proposal), waiting};
  }
  quota_.begin(id);
  proposal.checkpoint_from = waiting;
  Trial next = trial;
  next.ended = false;
  next.from = waiting;
  trials_.erase(waiting);
  set_state(trials_[id] = next, State::running);
  return {std::move(proposal), id};
}

void PausingTuner::finish(TrialId waiting, const std::string& reason) {
  const auto found = trials_.find(waiting);
  ATTUNE_CHECK(found != trials_.end() && found->second.state == State::waiting);
  searcher().end(found->second.origin);
  if (!found->second.ended) decide({waiting, Action::stop, reason});
  decide({waiting, Action::drop_checkpoint, reason});
  set_state(found->second, State::over);
  if (found->second.ended) trials_.erase(found);
}

void PausingTuner::judge(const SyncBrackets::Full& full) {
  const auto reason = [&](const SyncBrackets::Full::Placed& one) {
    return rank_text("rung", static_cast<double>(full.level), result(one.loss), one.rank,
                     full.results) +
           kept_text(full.best.size(), result(full.best.back().loss));
  };
  for (const auto& one : full.best) trials_.at(one.trial).why = reason(one);
  for (const auto& one : full.rest) finish(one.trial, reason(one));
}

Answer PausingTuner::nothing_now() const {
  return running_ > 0 ? Answer(NotYet{}) : Answer(Exhausted{});
}

// The trial has its result at its level.
void PausingTuner::settle(TrialId id, double loss, const Metrics& metrics) {
  Trial& trial = trials_.at(id);
  const bool failed = std::isnan(loss);
  searcher().observe(trial.origin, trial.level, failed ? std::nullopt : std::optional(loss),
                     metrics);
  // Its own checkpoint has taken the place of the one from which it started.
  if (trial.from)
    decide({*trial.from, Action::drop_checkpoint, "another trial has gone on from it"});
  trial.from.reset();
  trial.why.clear();
  const bool waits = trial.pauses && !failed;
  set_state(trial, waits ? State::waiting : State::over);
  if (!waits) {
    searcher().end(trial.origin);
    if (trial.ended) trials_.erase(id);
  }
  reached(id, loss);
}

void PausingTuner::report(const Report& report, double resource, double loss) {
  const TrialId id = report.trial;
  const Trial& known = trials_.at(id);
  quota_.ran(id);
  // One that begins again passes levels that it is through with.
  if (known.state != State::running || resource < known.level) return;
  const double level = known.level;
  const bool pauses = known.pauses;
  settle(id, loss, report.metrics);
  if (std::isnan(loss)) {
    decide({id, Action::stop, not_finite_text(resource_attr(), resource, metric())});
  } else if (!pauses) {
    decide({id, Action::stop, used_up_text(resource_attr(), resource, level, result(loss)), true});
  } else if (trials_.at(id).state == State::waiting) {  // the full rung has not left it behind
    decide({id, Action::pause, waiting_text(id, loss)});
  }
}

std::string PausingTuner::waits_in(const SyncBrackets& brackets, TrialId trial, double loss) const {
  const std::string& why = trials_.at(trial).why;
  if (!why.empty()) return why + "; this one does when its turn comes";
  const auto now = brackets.filling(trial);
  if (!now) return result(loss);
  return rank_text("rung", static_cast<double>(now->level), result(loss), now->rank, now->of) +
         waits_text(now->missing);
}

void PausingTuner::ended(const Outcome& outcome) {
  const TrialId id = outcome.trial;
  Trial& trial = trials_.at(id);
  const bool declined = quota_.end(id, outcome.end);
  if (declined && trial.origin == id) {
    searcher().put_back(id);
    return never_ran(id);
  }
  trial.ended = true;
  if (trial.state == State::over) {
    trials_.erase(id);
  } else if (trial.state == State::running) {
    // It was to go on, but had ended by itself before, with its former budget.
    if (outcome.usable() && outcome.budget && *outcome.budget < trial.level) {
      set_state(trial, State::waiting);
      again(id);
    } else {
      settle(id, outcome.usable() ? *outcome.loss : kFailedLoss, outcome.metrics);
    }
  } else if (outcome.end != End::completed) {
    searcher().end(trial.origin);
    decide({id, Action::drop_checkpoint, "the trial is lost"});
    trials_.erase(id);
    lost(id);
  }
}

void PausingTuner::withdrawn(TrialId id) {
  quota_.take_back(id);
  Trial& trial = trials_.at(id);
  // The trial was to take the place of another one, whose point the space accepted once. It cannot
  // be replaced.
  if (trial.origin != id) {
    trial.ended = true;
    return settle(id, kFailedLoss, {});
  }
  searcher().withdraw(id);
  never_ran(id);
}

void PausingTuner::never_ran(TrialId id) {
  set_state(trials_.at(id), State::over);
  trials_.erase(id);
  take_back(id);
}

void PausingTuner::forget() {
  trials_.clear();
  running_ = 0;
  forget_rule();
}

PausingTuner::Runs PausingTuner::runs_of(const SyncBrackets& brackets) {
  Runs runs;
  for (const auto& [trial, place] : brackets.places()) runs[trial] = brackets.runs(trial);
  return runs;
}

json PausingTuner::save_rule() const {
  json trials = json::array();
  for (const auto& [id, trial] : trials_) {
    json from = json::array();
    if (trial.from) from.push_back(*trial.from);
    trials.push_back({id, trial.origin, save_numbers(std::array{trial.level}),
                      static_cast<int>(trial.state), trial.ended, trial.pauses, std::move(from),
                      trial.why});
  }
  return {{"trials", std::move(trials)}, {"brackets", save_brackets()}, {"quota", quota_.save()}};
}

Result<BracketTuner::Loaded> PausingTuner::load_rule(const json& rule) {
  std::map<TrialId, Trial> trials;
  Runs runs;
  Loaded loaded;
  for (const json& one : TRY(array_at(rule, "trials"))) {
    const bool well_formed = one.is_array() && one.size() == 8 && one[0].is_number_integer() &&
                             one[1].is_number_integer() && one[3].is_number_integer() &&
                             one[3] >= 0 && one[3] <= static_cast<int>(State::over) &&
                             one[4].is_boolean() && one[5].is_boolean() && one[6].is_array() &&
                             (one[6].empty() || one[6][0].is_number_integer()) &&
                             one[7].is_string();
    if (!well_formed) return fail("saved state: a trial of a bracket is damaged");
    const auto level = TRY(numbers(one[2]));
    if (level.size() != 1 || !std::isfinite(level[0])) {
      return fail("saved state: a trial of a bracket needs a level");
    }
    Trial trial{.origin = one[1],
                .level = level[0],
                .state = static_cast<State>(one[3].get<int>()),
                .ended = one[4],
                .pauses = one[5],
                .why = one[7]};
    if (!one[6].empty()) trial.from = one[6][0].get<TrialId>();
    const auto id = one[0].get<TrialId>();
    if (trial.ended && trial.state != State::waiting) {
      return fail("saved state: a trial has ended, and yet it is not forgotten");
    }
    if (trial.state != State::over) {
      runs[id] = trial.state == State::running;
      loaded.origins.push_back(trial.origin);
    }
    if (!trials.emplace(id, trial).second) return fail("saved state: a trial stands twice");
  }
  TrialQuota quota = quota_;
  TRY(quota.load(TRY(object_at(rule, "quota"))));
  auto commit = TRY(load_brackets(TRY(object_at(rule, "brackets")), runs));
  loaded.commit = [this, trials = std::move(trials), runs, quota, commit = std::move(commit)] {
    commit();
    trials_ = trials;
    quota_ = quota;
    running_ = 0;
    for (const auto& [id, runs_now] : runs) running_ += runs_now ? 1 : 0;
  };
  return loaded;
}

}  // namespace attune
