#include "dispatcher/session.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "dispatcher/carry_over.h"
#include "dispatcher/metrics.h"
#include "dispatcher/trial_name.h"
#include "space/first_point.h"

namespace attune {
namespace {

// A trial that completed without a result is told at this request after its end. The first request
// would be too early: the manager may send it together with the end.
constexpr std::uint64_t kPatience = 2;

// A whole number without a decimal point, as NNI writes it: programs count up to it.
json as_number(double budget) {
  constexpr double kMostWhole = 1e15;
  const bool whole = budget == std::floor(budget) && std::abs(budget) <= kMostWhole;
  return whole ? json(static_cast<std::int64_t>(budget)) : json(budget);
}

}  // namespace

void append(Replies& all, Replies more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Session::Session(std::unique_ptr<Tuner> tuner, Objective objective, Log log, bool manager_pauses,
                 StoppedRule stopped)
    : tuner_(std::move(tuner)),
      objective_(std::move(objective)),
      says_budgets_(!(manager_pauses && tuner_->pauses_at_budget())),
      log_(std::move(log)),
      stand_ins_(std::move(stopped)) {}

Result<Effects> Session::set_space(Space space, const Complete& complete) {
  Effects effects;
  if (space_ && same_points(*space_, space) && (first_point(*space_) || first_point(space)) &&
      tuner_->set_priors(space)) {
    log_.info("new defaults and priors");
    space_ = std::move(space);
    first_due_ = first_point(*space_).has_value();
    effects.replies = answer_pending();
    return effects;
  }
  TRY(tuner_->set_space(space));
  const std::optional<Space> old = std::exchange(space_, std::move(space));
  first_due_ = first_point(*space_).has_value();
  learn_from_earlier();
  if (old) {
    auto moved = [&](TrialId id, const Point& point, Missing missing) {
      json parameters = tuner_->parameters(*old, point);
      if (complete) parameters = complete(id, std::move(parameters));
      return carried_point(*tuner_, *space_, parameters, missing);
    };
    // The tuner has forgotten everything (Tuner::set_space), so it is told and adopts again.
    std::vector<Outcome> kept;
    for (Outcome& outcome : history_) {
      // A trial without a result may be revived, and needs a whole point then.
      if (auto point = moved(outcome.trial, outcome.point,
                             outcome.is_result() ? Missing::open : Missing::drawn)) {
        outcome.point = *std::move(point);
        kept.push_back(std::move(outcome));
      }
    }
    log_.info("new search space: {} of {} results carry over", kept.size(), history_.size());
    history_ = std::move(kept);
    if (!history_.empty()) tuner_->tell(history_);
    for (auto& [id, trial] : trials_) {
      if (!trial.point) continue;
      auto point = moved(id, *trial.point, Missing::drawn);
      trial.point = point ? std::optional(*std::move(point)) : std::nullopt;
      if (trial.point && !trial.told) tuner_->adopt(id, *trial.point);
    }
    drop_unfit();
    index_history();
    effects.decisions = move_paused();
  }
  effects.replies = answer_pending();
  return effects;
}

std::optional<json> Session::parameters(TrialId id) const {
  const auto found = trials_.find(id);
  if (found == trials_.end() || !found->second.point) return std::nullopt;
  return tuner_->parameters(*space_, *found->second.point);
}

Result<void> Session::correct(TrialId id, const json& parameters) {
  Trial* const trial = live(id);
  if (!trial || !space_) return fail(trial_name(id) + " is not running");
  trial->point = TRY(carried_point(*tuner_, *space_, parameters, Missing::drawn));
  return {};
}

Replies Session::request(TrialId first, std::int64_t count, TrialId request) {
  Replies replies = settle_doubts();
  if (first == request && ++requests_ >= kPatience) {
    append(replies, tell_finished(requests_ - kPatience));
  }
  // No ask of an earlier request is left, so none can get a second NoMore.
  if (pending_.empty() && !announced_.contains(request)) announced_.clear();
  std::vector<Ask> asks;
  for (std::int64_t i = 0; i < count; ++i) asks.push_back({first + i, request});
  append(replies, answer(std::move(asks)));
  return replies;
}

Replies Session::request_for_job(TrialId id) {
  Replies replies = settle_doubts();
  append(replies, answer({{id, id, true}}));
  return replies;
}

Replies Session::answer_pending() {
  Replies replies;
  if (!pending_.empty()) replies = answer(std::exchange(pending_, {}));
  return replies;
}

Replies Session::answer(std::vector<Ask> asks) {
  Replies replies;
  if (!space_) {
    pending_.insert(pending_.end(), asks.begin(), asks.end());
    return replies;
  }
  asks = resume_held(offer_again(std::move(asks), replies), replies);
  asks = offer_first(std::move(asks), replies);
  std::vector<Ask> waiting;
  std::string reason = draw(give_starts(asks, replies), waiting, replies);
  // No trial runs, so no event would ever make the tuner answer. Perhaps it waits for the trials
  // that completed without a result: it is told of them now. If it still waits, the asks get
  // NoMore.
  if (!waiting.empty() && idle() && !finished_.empty()) {
    append(replies, tell_finished(requests_));
    reason = draw(std::exchange(waiting, {}), waiting, replies);
  }
  if (!waiting.empty() && idle()) {
    log_.error("{}: taken as no more trials", reason);
    for (const Ask& ask : waiting) announce_no_more(ask, reason, replies);
    waiting.clear();
  }
  pending_.insert(pending_.end(), waiting.begin(), waiting.end());
  return replies;
}

// Asks the tuner until all its proposals can be carried out, or too many could not. Asks without an
// answer go to `waiting`; returns the reason for their NoMore if nothing else runs.
std::string Session::draw(std::vector<Ask> asks, std::vector<Ask>& waiting, Replies& replies) {
  for (std::size_t draws = 1; !asks.empty(); ++draws) {
    asks = ask_tuner(asks, waiting, replies);
    if (asks.empty() || draws < most_draws()) continue;
    waiting.insert(waiting.end(), asks.begin(), asks.end());
    std::string reason =
        "none of the last " + std::to_string(draws) + " proposals could be carried out";
    log_.error("{}: the constraints leave too little of the search space", reason);
    return reason;
  }
  return "the tuner waits although no trial is running";
}

// Returns the asks whose proposals could not be carried out.
std::vector<Session::Ask> Session::ask_tuner(const std::vector<Ask>& asks,
                                             std::vector<Ask>& waiting, Replies& replies) {
  std::vector<TrialId> ids;
  for (const Ask& ask : asks) ids.push_back(ask.id);
  std::vector<Answer> answers = tuner_->ask(ids);
  ATTUNE_CHECK(answers.size() == asks.size());
  std::vector<Ask> again;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (auto* proposal = std::get_if<Proposal>(&answers[i])) {
      if (!carry_out(asks[i], std::move(*proposal), replies)) again.push_back(asks[i]);
    } else if (resume_set_aside(asks[i], replies)) {
      // It needed nothing new.
    } else if (std::holds_alternative<Exhausted>(answers[i])) {
      announce_no_more(asks[i], "the search space is exhausted", replies);
    } else {
      waiting.push_back(asks[i]);
    }
  }
  return again;
}

std::size_t Session::most_draws() const {
  constexpr std::uint64_t kAtLeast = 1'000, kAtMost = 100'000;
  return std::clamp(point_count(*space_).value_or(0), kAtLeast, kAtMost);
}

bool Session::carry_out(const Ask& ask, Proposal proposal, Replies& replies) {
  if (proposal.resume) return carry_out_resume(ask, std::move(proposal), replies);
  if (!space_->feasible(proposal.point)) {
    tuner_->withdraw(ask.id);
    return false;
  }
  replies.emplace_back(offer(ask, ask.id, proposal));
  return true;
}

Offer Session::offer(const Ask& ask, TrialId id, const Proposal& proposal) {
  auto [at, is_new] = trials_.try_emplace(id);
  at->second.point = proposal.point;
  at->second.budget = proposal.budget;
  at->second.checkpoint_from = proposal.checkpoint_from;
  set_state(at->second, State::running);
  if (is_new) ++untold_;
  return offer_of(ask, id, proposal);
}

Offer Session::offer_of(const Ask& ask, TrialId id, const Proposal& proposal) const {
  Offer offer{ask.id, id, tuner_->parameters(*space_, proposal.point), proposal.checkpoint_from,
              proposal.reason};
  const json extra = tuner_->extra_parameters(id);
  if (extra.is_object()) offer.parameters.update(extra);
  if (proposal.budget && says_budgets_)
    offer.parameters["TRIAL_BUDGET"] = as_number(*proposal.budget);
  return offer;
}

// Once a request, though its asks are answered in pieces and at different times.
void Session::announce_no_more(const Ask& ask, const std::string& reason, Replies& replies) {
  if (announced_.insert(ask.request).second) replies.emplace_back(NoMore{ask.request, reason});
}

// Finds a live trial of which something was just heard: it is no longer in doubt. Null: it has
// ended, or is not ours.
Session::Trial* Session::live(TrialId id) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) return nullptr;
  found->second.in_doubt = false;
  again_.erase(id);
  return &found->second;
}

Replies Session::final_result(TrialId id, const json& value) {
  const bool ended = finished_.contains(id) || resultless_.contains(id);
  if (resultless_.contains(id)) revive(id);
  Trial* const known = live(id);
  if (!known) {
    log_.warning("final result of {} ignored: it is not running (unknown, ended, or not ours)",
                 trial_name(id));
    return {};
  }
  Trial& trial = *known;
  if (trial.told) {
    log_.warning("final result of trial {} ignored: it had one before", id);
    return {};
  }
  Outcome outcome{.trial = id, .end = End::completed, .budget = trial.budget};
  if (auto metrics = to_metrics(value, objective_.metric)) {
    outcome.metrics = *std::move(metrics);
    outcome.loss = loss_of(outcome.metrics);
  } else {
    log_.warning("final result of trial {}: {}", id, metrics.error().message);
  }
  if (!outcome.loss) {
    outcome.end = End::diverged;
    log_.warning("trial {} is told as diverged: no finite \"{}\"", id, objective_.metric);
  }
  finished_.erase(id);
  Replies replies = conclude(trial, std::move(outcome));
  // Its TrialEnd came before: nothing else will remove it.
  if (ended) forget(trials_.find(id));
  return replies;
}

Replies Session::trial_end(TrialId id, End end) {
  const auto found = trials_.find(id);
  if (found == trials_.end()) {
    log_.debug("end of trial {} ignored: not running, or not proposed here", id);
    return {};
  }
  Replies replies;
  if (!found->second.told && end == End::completed) {
    live(id);
    set_state(found->second, State::running);
    release_held(id);
    finished_.emplace(id, requests_);
    return answer_pending();
  }
  if (!found->second.told) {
    finished_.erase(id);
    Outcome outcome{.trial = id, .end = end, .budget = found->second.budget};
    if (end == End::stopped) {
      outcome.metrics = std::move(found->second.assumed);
      outcome.loss = loss_of(outcome.metrics);
    }
    replies = conclude(found->second, std::move(outcome));
  }
  forget(found);
  return replies;
}

void Session::stopped_early(TrialId id, const Metrics& last, const Metrics& expected) {
  Trial* const trial = live(id);
  if (trial && !trial->told) trial->assumed = stand_ins_(last, expected);
}

// Tells the tuner the completed trials without a result whose end came when requests_ was `until`
// or less.
Replies Session::tell_finished(std::uint64_t until) {
  std::vector<TrialId> due;
  for (const auto& [id, at] : finished_) {
    if (at <= until) due.push_back(id);
  }
  Replies replies;
  for (const TrialId id : due) {
    // conclude() answers waiting asks, which may have told this one already.
    if (finished_.erase(id) == 0) continue;
    const auto trial = trials_.find(id);
    if (trial->second.point) resultless_.insert(id);
    log_.info("trial {} completed without a final result", id);
    append(replies,
           conclude(trial->second,
                    Outcome{.trial = id, .end = End::completed, .budget = trial->second.budget}));
    forget(trial);
  }
  return replies;
}

// Makes anew what is known of history_.
void Session::index_history() {
  resultless_.clear();
  stand_ins_.clear();
  for (const Outcome& outcome : history_) {
    stand_ins_.add(outcome);
    if (outcome.end == End::completed && !outcome.loss) resultless_.insert(outcome.trial);
  }
}

void Session::forget(Trials::iterator trial) {
  again_.erase(trial->first);
  trials_.erase(trial);
}

Replies Session::conclude(Trial& trial, Outcome outcome) {
  set_state(trial, State::running);
  release_held(outcome.trial);
  trial.told = true;
  --untold_;
  if (!trial.point) {
    log_.info("result of trial {} not used: it does not fit the present search space",
              outcome.trial);
    return answer_pending();
  }
  outcome.point = *trial.point;
  tuner_->tell(std::span(&outcome, 1));
  stand_ins_.add(outcome);
  history_.push_back(std::move(outcome));
  return answer_pending();
}

std::optional<double> Session::loss_of(const Metrics& metrics) const {
  const auto value = finite_metric(metrics, objective_.metric);
  if (!value) return std::nullopt;
  return objective_.maximize ? -*value : *value;
}

}  // namespace attune
