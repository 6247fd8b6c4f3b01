#include "tuners/parts/turbo_region.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
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
                         std::size_t limits, std::shared_ptr<const EarlierModels> earlier)
    : settings_(settings),
      failure_tolerance_(std::max(features.size(), kLeastFailures)),
      trust_(settings_, failure_tolerance_),
      model_(features, Scale::standardised, {}, 1, limits) {
  if (earlier) model_.learn_from(std::move(earlier));
}

void TurboRegion::start(TrialId id, bool guided) {
  guided_.erase(id);
  if (guided) guided_.insert(id);
}

void TurboRegion::learn(const History& history, TrialId id) {
  const std::size_t i = history.size() - 1;
  if (const auto found = guided_.find(id); found != guided_.end()) {
    trust_.count(history.kind(i) == History::Kind::usable && improves(history, i), guided_.size());
    guided_.erase(found);
    if (trust_.ended()) {
      trust_ = TrustRegion(settings_, failure_tolerance_);
      guided_.clear();
    }
  }
  count(history, i);
}

void TurboRegion::count(const History& history, std::size_t i) {
  if (history.kind(i) != History::Kind::usable) return;
  if (!best_ || rank_of(history.values(i)) < rank_of(history.values(*best_))) best_ = i;
}

std::size_t TurboRegion::centre(const History& history) const {
  ATTUNE_CHECK(best_);
  if (history.limits() > 0) return *best_;
  for (const std::size_t i : model_.objective().most_promising(history.size())) {
    if (history.kind(i) == History::Kind::usable) return i;
  }
  return *best_;
}

// Whether result i is better than all before it.
bool TurboRegion::improves(const History& history, std::size_t i) const {
  if (!best_) return true;
  const std::span<const double> values = history.values(i);
  const double broken = violation(values, 1), least = violation(history.values(*best_), 1);
  if (broken > 0 || least > 0) return broken < least;
  const double loss = values[0], best = history.loss(*best_);
  if (loss >= best) return false;  // nearly always: what follows looks at all results
  std::vector<double> losses;      // of the results that keep the limits
  for (std::size_t k = 0; k < i; ++k) {
    if (history.kind(k) == History::Kind::usable && violation(history.values(k), 1) == 0) {
      losses.push_back(history.loss(k));
    }
  }
  const auto quartile = losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 4);
  std::ranges::nth_element(losses, quartile);
  // Halves, because the difference of two losses may overflow.
  return best / 2 - loss / 2 > kLeastImprovement * (*quartile / 2 - best / 2);
}

const GpModel& TurboRegion::model(const History& history,
                                  std::span<const std::span<const double>> running) {
  model_.update(history, running);
  return model_;
}

json TurboRegion::save() const {
  return {{"trust", trust_.save()}, {"models", model_.save()}, {"guided", guided_}};
}

Result<void> TurboRegion::load(const json& state, const History& history) {
  TRY(trust_.load(TRY(value_at(state, "trust"))));
  for (std::size_t i = 0; i < history.size(); ++i) count(history, i);
  guided_ = TRY(trials_at(state, "guided"));
  // A region of a former version forgot the results of those before it. Then its models are of
  // other results than ours, and are fitted anew.
  if (state.contains("members") && TRY(numbers_at(state, "members")).size() != history.size()) {
    return {};
  }
  // A version before that had no limits, and one model.
  const json models = state.contains("surrogate")
                          ? json::array({TRY(object_at(state, "surrogate"))})
                          : TRY(array_at(state, "models"));
  return model_.load(models, history);
}

}  // namespace attune
