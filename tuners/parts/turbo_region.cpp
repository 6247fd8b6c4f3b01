#include "tuners/parts/turbo_region.h"

#include <algorithm>
#include <utility>

#include "base/saved_numbers.h"
#include "base/standing.h"

namespace attune {
namespace {

constexpr std::size_t kLeastFailures = 4;
// A success must be better than the best result by more than this share of the distance between the
// best and the lower quartile. The paper requires 0.1 % of the best result, which depends on where
// the scale of the losses has its zero.
constexpr double kLeastImprovement = 1e-3;

// Results that keep the limits come first, the others by how much they break them.
std::pair<double, double> rank_of(std::span<const double> values) {
  return {violation(values, 1), values[0]};
}

}  // namespace

TurboRegion::TurboRegion(const Features& features, const TrustRegionSettings& settings,
                         std::size_t limits, std::set<TrialId> strangers,
                         std::shared_ptr<const EarlierModels> earlier)
    : trust_(settings, std::max(features.size(), kLeastFailures)),
      history_(features.size(), 1, limits),
      model_(features, Scale::standardised, {}, 1, limits),
      strangers_(std::move(strangers)) {
  if (earlier) model_.learn_from(std::move(earlier));
}

void TurboRegion::start(TrialId id, bool guided) {
  withdraw(id);
  if (guided) guided_.insert(id);
}

void TurboRegion::withdraw(TrialId id) {
  guided_.erase(id);
  strangers_.erase(id);
}

void TurboRegion::learn(const History& all, TrialId id) {
  if (strangers_.erase(id) > 0) return;
  const std::size_t i = all.size() - 1;
  if (const auto found = guided_.find(id); found != guided_.end()) {
    trust_.count(all.kind(i) == History::Kind::usable && improves(all.values(i)), guided_.size());
    guided_.erase(found);
  }
  add(all, i);
}

void TurboRegion::add(const History& all, std::size_t i) {
  const bool usable = all.kind(i) == History::Kind::usable;
  if (usable &&
      (history_.usable() == 0 || rank_of(all.values(i)) < rank_of(history_.values(best_)))) {
    best_ = members_.size();
  }
  history_.add(all.row(i), all.kind(i), all.values(i));
  members_.push_back(i);
}

std::size_t TurboRegion::centre() const {
  if (history_.limits() > 0) return members_[best_];
  for (const std::size_t i : model_.objective().most_promising(history_.size())) {
    if (history_.kind(i) == History::Kind::usable) return members_[i];
  }
  return members_[best_];
}

bool TurboRegion::improves(std::span<const double> values) const {
  if (history_.usable() == 0) return true;
  const double broken = violation(values, 1), least = violation(history_.values(best_), 1);
  if (broken > 0 || least > 0) return broken < least;
  std::vector<double> losses;  // of the results that keep the limits
  for (std::size_t i = 0; i < history_.size(); ++i) {
    if (history_.kind(i) == History::Kind::usable && violation(history_.values(i), 1) == 0) {
      losses.push_back(history_.loss(i));
    }
  }
  const double loss = values[0], best = history_.loss(best_);
  const auto quartile = losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 4);
  std::ranges::nth_element(losses, quartile);
  // Halves, because the difference of two losses may overflow.
  return best / 2 - loss / 2 > kLeastImprovement * (*quartile / 2 - best / 2);
}

const GpModel& TurboRegion::model(std::span<const std::span<const double>> running) {
  model_.update(history_, running);
  return model_;
}

json TurboRegion::save() const {
  return {{"trust", trust_.save()},
          {"models", model_.save()},
          {"members", save_numbers(std::vector<double>(members_.begin(), members_.end()))},
          {"guided", guided_},
          {"strangers", strangers_}};
}

Result<void> TurboRegion::load(const json& state, const History& all) {
  TRY(trust_.load(TRY(value_at(state, "trust"))));
  const auto members = TRY(numbers_at(state, "members"));
  const auto end = static_cast<double>(all.size());
  if (!std::ranges::all_of(members, [end](double i) { return is_index(i, end); }) ||
      std::ranges::adjacent_find(members, std::greater_equal<>()) != members.end()) {
    return fail("saved state: a region of impossible results");
  }
  for (const double i : members) add(all, static_cast<std::size_t>(i));
  guided_ = TRY(trials_at(state, "guided"));
  strangers_ = TRY(trials_at(state, "strangers"));
  // A former version had no limits, and one model.
  const json models = state.contains("surrogate")
                          ? json::array({TRY(object_at(state, "surrogate"))})
                          : TRY(array_at(state, "models"));
  return model_.load(models, history_);
}

}  // namespace attune
