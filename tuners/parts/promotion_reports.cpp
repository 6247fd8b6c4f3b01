// What reports and ends of trials change in the rungs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/standing.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"
#include "tuners/parts/promotion_tuner.h"

namespace attune {
namespace {

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
}

}  // namespace

// Nothing: the rule cannot place the report.
std::optional<PromotionTuner::Measured> PromotionTuner::measure(const Report& report) const {
  const auto progress = progress_of(report, options_.resource, objective_);
  const auto cost = cost_in(report.metrics);
  auto values = values_in(report.metrics);
  if (!progress || !cost || !values) return std::nullopt;
  const bool finite = !std::isnan(progress->loss) && all_finite(*values);
  Measured now{.resource = progress->resource, .cost = *cost, .metrics = report.metrics};
  if (finite) now.value = value_of(progress->loss, report.metrics);
  now.values = *std::move(values);
  return now;
}

// Of several objectives, as losses; of one: an empty list. Nothing: the metrics lack one.
std::optional<std::vector<double>> PromotionTuner::values_in(const Metrics& metrics) const {
  std::vector<double> values;
  if (!several()) return values;
  for (const Objective& objective : objectives_) {
    const auto loss = loss_in(metrics, objective);
    if (!loss) return std::nullopt;
    values.push_back(*loss);
  }
  return values;
}

// 0 for a rule without costs. Nothing: the metrics lack it.
std::optional<double> PromotionTuner::cost_in(const Metrics& metrics) const {
  if (options_.rungs.rule != PromotionRungs::Rule::cost) return 0;
  const auto cost = metric_in(metrics, options_.cost);
  return cost && std::isfinite(*cost) && *cost >= 0 ? cost : std::nullopt;
}

RungValue PromotionTuner::value_of(double loss, const Metrics& metrics) const {
  std::vector<double> excesses;
  for (const Objective& limit : limits_) {
    const auto value = metric_in(metrics, limit.metric);
    if (value && std::isfinite(*value)) excesses.push_back(to_minimise(*value, limit));
  }
  return {violation(excesses, 0), loss};
}

std::vector<Decision> PromotionTuner::on_report(const Report& report) {
  const auto found = arm_of(report.trial);
  if (found == arms_.end() || found->second.state == State::over || found->second.ended) return {};
  const auto now = measure(report);
  if (!now) return {};
  Arm& arm = found->second;
  quota_.ran(report.trial);
  if (now->resource > arm.last) arm.step = now->resource - arm.last;
  arm.last = now->resource;
  arm.cost = now->cost;
  if (arm.state == State::waits) {
    // One that is being paused may report once more. One that could not be paused runs on.
    if (now->resource < static_cast<double>(rungs_.level(arm.rung + 1))) return {};
    rungs_.give_up(arm.rung, found->first);
    arm.from = static_cast<double>(rungs_.level(arm.rung));
    arm.spent.runs_on();
    move(arm, arm.rung + 1, State::runs);
  } else if (now->resource <= arm.from) {
    arm.spent.began_again();
    return {};
  }
  std::vector<Decision> decisions = judge(found, *now);
  if (pasha_ && now->value && now->resource < static_cast<double>(options_.rungs.max_t)) {
    const auto losses = several() ? std::span<const double>(now->values)
                                  : std::span<const double>(&now->value->loss, 1);
    pasha_->report(found->first, now->resource, losses);
  }
  grow();
  return decisions;
}

std::vector<Decision> PromotionTuner::judge(Arms::iterator found, const Measured& now) {
  auto& [id, arm] = *found;
  const std::int64_t level = rungs_.level(arm.rung);
  if (now.resource < static_cast<double>(level)) return {};
  if (!now.value) {
    lose(id, arm);
    move(arm, arm.rung, State::over);
    return {{arm.trial, Action::stop,
             fmt::format("rung {}: {} is not finite", level,
                         several() ? "one of the objectives" : '"' + objective_.metric + '"')},
            {arm.trial, Action::drop_checkpoint, ""}};
  }
  const std::int64_t max_t = options_.rungs.max_t;
  if (now.resource >= static_cast<double>(max_t)) {
    searcher_.observe(id, static_cast<double>(max_t), now.value->loss, now.metrics);
    move(arm, rungs_.size(), State::over);
    return {{arm.trial, Action::stop, fmt::format("{} has reached {}", options_.resource, max_t),
             /*complete=*/true}};
  }
  if (now.value->violation > 0 && rungs_.any_kept(arm.rung)) {
    enter(id, arm, now, /*waits=*/false);
    move(arm, arm.rung, State::over);
    return {{arm.trial, Action::stop,
             fmt::format("rung {}: {}, which others there keep", level, shown(*now.value, {}))},
            {arm.trial, Action::drop_checkpoint, ""}};
  }
  enter(id, arm, now, /*waits=*/true);
  arm.at = now.resource;
  move(arm, arm.rung, State::waits);
  return {{arm.trial, Action::pause, reason(id, arm, now)}};
}

void PromotionTuner::enter(TrialId id, Arm& arm, const Measured& now, bool waits) {
  const PromotionRungs::Arrival arrival{*now.value, arm.spent.total(now.cost), arm.candidate, waits,
                                        now.values};
  if (rungs_.enter(arm.rung, id, arrival) && pasha_) pasha_->enter(rungs_, arm.rung, id);
  arm.spent.reached(now.cost);
  searcher_.observe(id, static_cast<double>(rungs_.level(arm.rung)), now.value->loss, now.metrics);
}

// Why the trial goes on.
std::string PromotionTuner::reason(const PromotionRungs::Promotion& promotion,
                                   std::size_t to) const {
  const auto standing = rungs_.standing(promotion.rung, promotion.trial);
  const PromotionRungs::Place& place = *rungs_.place(promotion.rung, promotion.trial);
  return rank_text("rung", static_cast<double>(rungs_.level(promotion.rung)),
                   shown(place.value, place.values), standing.rank, standing.size) +
         fmt::format(", the best that waits: goes on to {}", rungs_.level(to));
}

// The result as the user sees it.
std::string PromotionTuner::shown(const RungValue& value, const std::vector<double>& values) const {
  if (value.violation > 0) return over_limits_text(value.violation);
  if (values.empty()) return result_text(objective_, value.loss);
  return results_text(objectives_, values);
}

// Why the trial is paused at its rung.
std::string PromotionTuner::reason(TrialId id, const Arm& arm, const Measured& now) const {
  const auto level = rungs_.level(arm.rung);
  std::string text = fmt::format("rung {}: {}", level, shown(*now.value, now.values));
  if (!rungs_.place(arm.rung, id)) return text + " does not count, it is not the trial's first";
  const auto standing = rungs_.standing(arm.rung, id);
  if (standing.size == 1) return text + " is the first there and waits for others";
  text += fmt::format(" ranks {} of {}", standing.rank, standing.size);
  if (level >= limit()) return text + fmt::format(" and waits; no trial goes beyond {} yet", level);
  if (standing.good_enough) {
    return text + fmt::format(" and may go on to {}", rungs_.level(arm.rung + 1));
  }
  text += " and waits";
  if (several()) {
    text += fmt::format("; the best {:.3g} % go on", 100 * rungs_.share(arm.rung));
  } else if (standing.needed) {
    text += "; needs " + result_text(objective_, *standing.needed);
  }
  if (options_.rungs.rule == PromotionRungs::Rule::cost) {
    text += fmt::format("; the best go on, with {:.3g} of the cost", rungs_.share(arm.rung));
  }
  return text;
}

// The trial does not reach its milestone, or will not be resumed.
void PromotionTuner::lose(TrialId id, Arm& arm) {
  if (arm.state == State::waits) {
    rungs_.give_up(arm.rung, id);
    return;
  }
  if (arm.rung < rungs_.size()) {
    rungs_.enter(arm.rung, id,
                 {RungValue::worst(), arm.spent.total(arm.cost), arm.candidate, /*waits=*/false});
  }
  searcher_.observe(id, static_cast<double>(rungs_.level(arm.rung)), std::nullopt);
}

void PromotionTuner::tell(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    const auto arm = arm_of(outcome.trial);
    const bool declined = quota_.end(outcome.trial, outcome.end);
    has_result_ = has_result_ || (outcome.end == End::completed && outcome.usable());
    if (declined && arm != arms_.end() && arm->first == outcome.trial) {
      candidates_ -= arm->second.candidate;
      searcher_.put_back(outcome.trial);
      remove(arm);
    } else if (arm == arms_.end()) {
      // The result of a trial that another has followed comes too late.
      if (!arms_.contains(outcome.trial)) import(outcome);
    } else if (outcome.end == End::completed && arm->second.state != State::over) {
      completed(arm, outcome);
    } else {
      if (arm->second.state != State::over) lose(arm->first, arm->second);
      searcher_.end(arm->first);
      remove(arm);
    }
    grow();
  }
}

void PromotionTuner::completed(Arms::iterator found, const Outcome& outcome) {
  auto& [id, arm] = *found;
  if (arm.state == State::waits) {
    const bool runs_on = arm.last > std::max(arm.at, static_cast<double>(rungs_.level(arm.rung)));
    arm.ended = !runs_on;
    if (!runs_on) return;
    // It could not be paused, and had its own end before the next level.
    rungs_.give_up(arm.rung, id);
    arm.spent.runs_on();
    move(arm, arm.rung + 1, State::runs);
  } else if (arm.rung > 0 && arm.last <= arm.from &&
             outcome.budget.value_or(HUGE_VAL) <= arm.from) {
    // It was promoted, but had completed before it could be resumed.
    const std::size_t former = rung_at(arm.from);
    rungs_.put_back(former, id);
    move(arm, former, State::waits);
    arm.at = arm.from;
    arm.ended = true;
    return;
  }

  const auto level = static_cast<double>(rungs_.level(arm.rung));
  const auto max_t = static_cast<double>(options_.rungs.max_t);
  Measured now{.cost = cost_in(outcome.metrics).value_or(arm.cost), .metrics = outcome.metrics};
  if (const auto said = metric_in(outcome.metrics, options_.resource)) {
    now.resource = *said;
  } else if (arm.last > arm.from) {
    now.resource = arm.last + arm.step;  // as far as its next report would have been
  } else {
    now.resource = arm.proposed ? level : outcome.budget.value_or(max_t);
  }
  auto values = values_in(outcome.metrics);
  if (!outcome.usable() || !values || !all_finite(*values)) {
    lose(id, arm);
  } else {
    now.value = value_of(*outcome.loss, outcome.metrics);
    now.values = *std::move(values);
    if (arm.rung == rungs_.size() || now.resource >= max_t) {
      searcher_.observe(id, max_t, outcome.loss, outcome.metrics);
    } else {
      const bool continues = now.resource >= level;  // else it had no more to do
      enter(id, arm, now, continues);
      if (continues) {
        arm.at = now.resource;
        arm.ended = true;
        return move(arm, arm.rung, State::waits);
      }
    }
  }
  searcher_.end(id);
  remove(found);
}

void PromotionTuner::grow() {
  if (pasha_) pasha_->grow(rungs_);
}

// The lowest rung with this level, or a higher one.
std::size_t PromotionTuner::rung_at(double level) const {
  std::size_t rung = 0;
  while (static_cast<double>(rungs_.level(rung)) < level) ++rung;
  return rung;
}

// Equal for equal points, and without NaN.
std::vector<double> PromotionTuner::key_of(const Point& point) {
  std::vector<double> key = point.values;
  for (double& x : key) {
    if (std::isnan(x)) x = -HUGE_VAL;
  }
  return key;
}

void PromotionTuner::import(const Outcome& outcome) {
  const auto max_t = static_cast<double>(options_.rungs.max_t);
  double level = std::min(outcome.budget.value_or(max_t), max_t);
  if (outcome.extra.is_object()) {
    const auto budget = outcome.extra.find(kBudget);
    const bool is_budget = budget != outcome.extra.end() && budget->is_number() && *budget > 0;
    if (is_budget) level = std::min(budget->get<double>(), max_t);
  }
  searcher_.import(outcome, level);
  auto values = values_in(outcome.metrics);
  if (!outcome.usable() || !values || !all_finite(*values)) return;
  const std::size_t rung = rung_at(level);
  if (static_cast<double>(rungs_.level(rung)) != level) return;  // no trial of ours stops there

  const auto [known, is_new] = foreign_of_.try_emplace(key_of(outcome.point), next_foreign_);
  next_foreign_ -= is_new;
  const TrialId id = known->second;
  Foreign& foreign = foreign_[id];
  const bool is_highest = is_new || rung > foreign.rung;
  if (is_highest) {
    if (!is_new) rungs_.give_up(foreign.rung, id);
    foreign = {.point = outcome.point, .rung = rung};
    if (outcome.trial >= 0) foreign.trial = outcome.trial;
  }
  if (rung == rungs_.size()) return;
  const double cost = cost_in(outcome.metrics).value_or(0);
  rungs_.enter(rung, id,
               {value_of(*outcome.loss, outcome.metrics), cost, /*candidate=*/false, is_highest,
                *std::move(values)});
  if (pasha_) pasha_->enter(rungs_, rung, id);
}

}  // namespace attune
