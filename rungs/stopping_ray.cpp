#include "rungs/stopping_ray.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/percentile.h"
#include "rungs/levels.h"

namespace attune {
namespace {

// Ray has scores, which are the negated losses. The order of the operations decides exact ties.
double percentile_cutoff(const SortedNumbers& losses, double factor) {
  const auto score = [&](std::size_t i) { return -losses[losses.size() - 1 - i]; };
  return -percentile(losses.size(), (1 - 1 / factor) * 100, score);
}

}  // namespace

Milestones::Milestones(const MilestoneOptions& options) : options_(options) {
  std::vector<std::size_t> sizes;
  for (std::size_t s = 0; s < options.brackets; ++s) {
    milestones_.push_back(ray_milestones(options.max_t, options.grace_period,
                                         options.reduction_factor, static_cast<int>(s)));
    first_.push_back(size_);
    sizes.push_back(milestones_.back().size());
    size_ += sizes.back();
  }
  probabilities_ = ray_bracket_probabilities(sizes);
}

std::optional<std::size_t> Milestones::reached(const RungVisitor& visitor, double resource) const {
  const std::vector<double>& levels = milestones_[visitor.bracket];
  const auto above = std::ranges::upper_bound(levels, resource) - levels.begin();
  for (auto rung = static_cast<std::size_t>(above); rung-- > 0;) {
    if (!visitor.passed.contains(rung)) return rung;
    if (!options_.stop_last_trials) return std::nullopt;
  }
  return std::nullopt;
}

bool Milestones::possible(const RungVisitor& visitor) const {
  return visitor.bracket < milestones_.size() &&
         (visitor.passed.empty() || *visitor.passed.rbegin() < milestones_[visitor.bracket].size());
}

Decision AsyncHyperBandRule::judge(TrialId trial, RungVisitor& visitor, double resource,
                                   std::span<const double> losses) {
  if (milestones_.used_up(resource)) {
    return fully_used(trial, resource, milestones_.options().max_t);
  }
  return visit(trial, visitor, resource, losses[0]);
}

Decision AsyncHyperBandRule::visit(TrialId trial, RungVisitor& visitor, double resource,
                                   double loss) {
  const auto number = milestones_.reached(visitor, resource);
  if (!number) return {trial};
  visitor.passed.insert(*number);
  if (std::isnan(loss)) return {trial};

  SortedNumbers& rung = rungs_[milestones_.place(visitor, *number)];
  const double level = milestones_.level(visitor, *number);
  const double share = 1 / milestones_.options().reduction_factor;
  const double sign = maximise_ ? -1 : 1;
  const std::size_t better = rung.count_below(loss);
  const std::size_t of = rung.size() + 1;
  Decision decision{trial};
  if (!rung.empty() && rule_ == MilestoneRule::percentile) {
    const double cutoff = percentile_cutoff(rung, milestones_.options().reduction_factor);
    if (loss > cutoff) {
      decision = {trial, Action::stop,
                  at_cutoff(level, sign * loss, better + 1, of, share, sign * cutoff)};
    }
  } else if (static_cast<double>(better) / static_cast<double>(of) > share) {
    decision = {trial, Action::stop, at_rank(level, sign * loss, better + 1, of, share)};
  }
  rung.insert(loss);
  return decision;
}

Result<std::unique_ptr<StoppingRule>> AsyncHyperBandRule::loaded(const json& state) const {
  auto rule = std::make_unique<AsyncHyperBandRule>(*this);
  rule->rungs_ = TRY(load_rungs(state));
  if (rule->rungs_.size() != rungs_.size()) return fail("saved state: rungs: of other milestones");
  return rule;
}

}  // namespace attune
