#include "rungs/stopping_moasha.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "base/standing.h"

namespace attune {

MoashaRule::MoashaRule(const MilestoneOptions& options, std::vector<Objective> objectives,
                       RankOfLast rank)
    : milestones_(options),
      objectives_(std::move(objectives)),
      rank_(rank),
      width_(static_cast<std::size_t>(
          std::ranges::count_if(objectives_, [](const Objective& each) { return !each.limit; }))),
      rungs_(milestones_.size()) {}

Decision MoashaRule::judge(TrialId trial, RungVisitor& visitor, double resource,
                           std::span<const double> losses) {
  if (milestones_.used_up(resource)) {
    return fully_used(trial, resource, milestones_.options().max_t);
  }
  const auto number = milestones_.reached(visitor, resource);
  if (!number) return {trial};
  visitor.passed.insert(*number);

  std::vector<double> row, excesses;
  bool usable = true;
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    usable = usable && losses[i] < kWorstLoss;  // false for NaN
    (objectives_[i].limit ? excesses : row).push_back(losses[i]);
  }
  if (!usable) row.assign(width_, kWorstLoss);
  const double broken = usable ? violation(excesses, 0) : kWorstLoss;

  Rung& rung = rungs_[milestones_.place(visitor, *number)];
  const std::size_t better = better_than(rung, row, broken);
  const std::size_t of = rung.violations.size() + 1;
  Decision decision{trial};
  if (static_cast<double>(better) / static_cast<double>(of) >
      1 / milestones_.options().reduction_factor) {
    decision = {trial, Action::stop,
                reason(milestones_.level(visitor, *number), row, broken, better + 1, of)};
  }
  if (rung.violations.size() == kCompared) {
    rung.rows.erase(rung.rows.begin(), rung.rows.begin() + static_cast<std::ptrdiff_t>(width_));
    rung.violations.erase(rung.violations.begin());
  }
  rung.rows.insert(rung.rows.end(), row.begin(), row.end());
  rung.violations.push_back(broken);
  return decision;
}

// How many results of the rung rank before the new one.
std::size_t MoashaRule::better_than(const Rung& rung, std::span<const double> row,
                                    double broken) const {
  if (broken > 0) {
    return static_cast<std::size_t>(
        std::ranges::count_if(rung.violations, [&](double each) { return each < broken; }));
  }
  std::vector<double> rows;
  for (std::size_t i = 0; i < rung.violations.size(); ++i) {
    if (rung.violations[i] > 0) continue;
    const auto begin = rung.rows.begin() + static_cast<std::ptrdiff_t>(i * width_);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(width_));
  }
  rows.insert(rows.end(), row.begin(), row.end());
  return rank_(rows, width_);
}

std::string MoashaRule::reason(double level, std::span<const double> row, double broken,
                               std::size_t rank, std::size_t of) const {
  std::string what = results_text(objectives_, row);
  if (broken == kWorstLoss) {
    what = result_text(broken);
  } else if (broken > 0) {
    what += fmt::format(" breaks a limit by {:.6g} and", broken);
  }
  return rank_text("rung", level, what, rank, of) +
         fmt::format("; the best {:.3g} % go on", 100 / milestones_.options().reduction_factor);
}

json MoashaRule::save() const {
  json state = json::array();
  for (const Rung& rung : rungs_) {
    state.push_back(
        {{"rows", save_numbers(rung.rows)}, {"violations", save_numbers(rung.violations)}});
  }
  return state;
}

Result<std::unique_ptr<StoppingRule>> MoashaRule::loaded(const json& state) const {
  if (!state.is_array() || state.size() != rungs_.size())
    return fail("saved state: rungs: other milestones");
  auto rule = std::make_unique<MoashaRule>(*this);
  for (std::size_t i = 0; i < rungs_.size(); ++i) {
    Rung& rung = rule->rungs_[i];
    rung.rows = TRY(numbers_at(state[i], "rows"));
    rung.violations = TRY(numbers_at(state[i], "violations"));
    const std::size_t n = rung.violations.size();
    const auto finite = [](double x) { return std::isfinite(x); };
    if (n > kCompared || rung.rows.size() != n * width_ ||
        !std::ranges::all_of(rung.rows, finite) ||
        !std::ranges::all_of(rung.violations, [&](double x) { return finite(x) && x >= 0; })) {
      return fail("saved state: rungs: impossible results");
    }
  }
  return rule;
}

}  // namespace attune
