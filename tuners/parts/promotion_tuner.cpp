#include "tuners/parts/promotion_tuner.h"

#include <algorithm>

#include "rungs/levels.h"

namespace attune {
namespace {

std::vector<Objective> promotion_objectives(const Context& context, bool limited) {
  std::vector<Objective> all;
  for (const Objective& objective : context.objectives) {
    if (objective.limit.has_value() == limited) all.push_back(objective);
  }
  return all;
}

}  // namespace

PromotionTuner::PromotionTuner(Options options, Searcher searcher, const Context& context, Rng rng)
    : options_(std::move(options)),
      objective_(context.objectives.at(0)),
      objectives_(promotion_objectives(context, /*limited=*/false)),
      limits_(promotion_objectives(context, /*limited=*/true)),
      probabilities_(syne_bracket_probabilities(options_.rungs.levels, options_.rungs.max_t,
                                                options_.brackets)),
      rng_(rng),
      searcher_(std::move(searcher)),
      rungs_(options_.rungs),
      quota_(context.max_trials) {
  if (options_.grows) pasha_.emplace(rungs_, options_.rungs.objectives);
}

Result<void> PromotionTuner::set_space(const Space& space) {
  TRY(searcher_.set_space(space));
  rungs_ = PromotionRungs(options_.rungs);
  if (pasha_) pasha_.emplace(rungs_, options_.rungs.objectives);
  arms_.clear();
  successors_.clear();
  foreign_.clear();
  foreign_of_.clear();
  next_foreign_ = kImportedTrial - 1;
  running_ = climbing_ = 0;
  candidates_ = 0;
  has_result_ = exhausted_ = false;
  return {};
}

std::vector<Answer> PromotionTuner::ask(std::span<const TrialId> ids) {
  return ask_each(ids, [this](TrialId id) { return ask(id); });
}

Answer PromotionTuner::ask(TrialId id) {
  if (exhausted_) return Exhausted{};
  const std::size_t bracket = draw_bracket();
  if (const auto promotion = rungs_.promote(limit())) {
    return promote(id, *promotion, promotion->rung + 1);
  }
  const bool all_begun = quota_.used_up();
  if (!all_begun) {
    Answer answer = begin(id, bracket);
    // A searcher that waits for trials that do not run waits for ever.
    const bool waits = std::holds_alternative<NotYet>(answer) && running_ > 0;
    if (waits || std::holds_alternative<Proposal>(answer)) return answer;
  }
  // A trial that runs to a rung may make another one good enough. One that runs to max_t may fail.
  if (climbing_ > 0 || (running_ > 0 && (all_begun || !has_result_))) return NotYet{};
  if (!has_result_) {
    if (const auto best = rungs_.promote_best()) return promote(id, *best, rungs_.size());
  }
  if (all_begun) {  // perhaps the number was raised
    Answer answer = begin(id, bracket);
    if (std::holds_alternative<Proposal>(answer)) return answer;
  }
  exhausted_ = true;
  return Exhausted{};
}

// With a new configuration.
Answer PromotionTuner::begin(TrialId id, std::size_t bracket) {
  Answer answer = searcher_.ask(id);
  if (auto* proposal = std::get_if<Proposal>(&answer)) {
    start(id, bracket, /*proposed=*/true);
    proposal->budget = static_cast<double>(rungs_.level(bracket));
  }
  return answer;
}

std::size_t PromotionTuner::draw_bracket() {
  if (probabilities_.size() < 2) return 0;
  double rest = rng_.uniform();
  for (std::size_t bracket = 0; bracket + 1 < probabilities_.size(); ++bracket) {
    rest -= probabilities_[bracket];
    if (rest < 0) return bracket;
  }
  return probabilities_.size() - 1;
}

Proposal PromotionTuner::promote(TrialId id, const PromotionRungs::Promotion& promotion,
                                 std::size_t rung) {
  Proposal proposal{.point = {}, .budget = static_cast<double>(rungs_.level(rung))};
  const auto from = static_cast<double>(rungs_.level(promotion.rung));
  proposal.reason = reason(promotion, rung);
  if (const auto foreign = foreign_.find(promotion.trial); foreign != foreign_.end()) {
    proposal.point = foreign->second.point;
    proposal.checkpoint_from = foreign->second.trial;
    foreign_of_.erase(key_of(proposal.point));
    foreign_.erase(foreign);
    searcher_.adopt(id, proposal.point);
    start(id, rung, /*proposed=*/true).from = from;
    return proposal;
  }
  Arm& arm = arms_.at(promotion.trial);
  proposal.point = *searcher_.point_of(promotion.trial);
  move(arm, rung, State::runs);
  arm.proposed = true;
  arm.from = from;
  arm.last = std::min(arm.last, from);
  arm.cost = 0;
  if (std::exchange(arm.ended, false)) {
    proposal.checkpoint_from = arm.trial;
    successors_.erase(arm.trial);
    successors_.emplace(id, promotion.trial);
    arm.trial = id;
    quota_.begin(id);
  } else {
    proposal.resume = arm.trial;
  }
  return proposal;
}

PromotionTuner::Arm& PromotionTuner::start(TrialId id, std::size_t rung, bool proposed) {
  Arm& arm = arms_[id];
  arm = {.trial = id, .rung = rung, .proposed = proposed};
  if (candidates_ < options_.candidates) {
    arm.candidate = true;
    ++candidates_;
  }
  if (proposed) quota_.begin(id);
  count(arm, 1);
  return arm;
}

void PromotionTuner::count(const Arm& arm, int by) {
  if (arm.state != State::runs) return;
  running_ += static_cast<std::size_t>(by);
  if (arm.rung < rungs_.size()) climbing_ += static_cast<std::size_t>(by);
}

void PromotionTuner::move(Arm& arm, std::size_t rung, State state) {
  count(arm, -1);
  arm.rung = rung;
  arm.state = state;
  count(arm, 1);
}

void PromotionTuner::remove(Arms::iterator arm) {
  count(arm->second, -1);
  if (pasha_) pasha_->end(arm->first);
  successors_.erase(arm->second.trial);
  arms_.erase(arm);
}

PromotionTuner::Arms::iterator PromotionTuner::arm_of(TrialId trial) {
  const auto successor = successors_.find(trial);
  const auto arm = arms_.find(successor == successors_.end() ? trial : successor->second);
  // The first trial of an arm is over once another has followed it.
  return arm != arms_.end() && arm->second.trial == trial ? arm : arms_.end();
}

void PromotionTuner::withdraw(TrialId id) {
  const auto arm = arm_of(id);
  if (arm == arms_.end() || arm->second.state != State::runs) return;
  quota_.take_back(id);
  if (arm->first == id) {
    candidates_ -= arm->second.candidate;
    searcher_.withdraw(id);
  } else {
    searcher_.end(arm->first);
  }
  remove(arm);
}

void PromotionTuner::adopt(TrialId id, const Point& point) {
  if (const auto arm = arm_of(id); arm != arms_.end()) {
    arm->second.ended = false;  // it was told as completed, and its result comes still
    return;
  }
  if (arms_.contains(id)) return;  // another trial has followed it
  searcher_.adopt(id, point);
  start(id, 0, /*proposed=*/false);
}

// A plain manager of NNI hands back the parameters of an earlier trial with the budget that it had.
Result<Point> PromotionTuner::point_from(const Space& space, const json& parameters) const {
  if (!parameters.is_object() || !parameters.contains(kBudget)) {
    return point_from_json(space, parameters);
  }
  json own = parameters;
  if (std::ranges::count(space.params, kBudget, &Param::name) == 0) own.erase(kBudget);
  return point_from_json(space, own);
}

void PromotionTuner::skip_ahead() {
  rng_ = rng_.fork("skip ahead");
  searcher_.skip_ahead();
}

}  // namespace attune
