// Saves and loads everything that shapes later answers of a PromotionTuner.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "space/saved_point.h"
#include "tuners/parts/promotion_tuner.h"

namespace attune {
namespace {

constexpr std::size_t kPromotionArmNumbers = 14, kPromotionForeignNumbers = 3;

std::unexpected<Error> damaged_promotion(const std::string& what) {
  return fail("saved state: " + what);
}

}  // namespace

json PromotionTuner::save() const {
  json state = {
      {"rng", to_json(rng_)},   {"searcher", searcher_.save()}, {"rungs", rungs_.save()},
      {"arms", save_arms()},    {"foreign", save_foreign()},    {"candidates", candidates_},
      {"quota", quota_.save()}, {"has_result", has_result_},    {"exhausted", exhausted_}};
  if (pasha_) state["pasha"] = pasha_->save();
  return state;
}

json PromotionTuner::save_arms() const {
  const auto flag = [](bool is) { return is ? 1.0 : 0.0; };
  std::vector<double> numbers;
  numbers.reserve(arms_.size() * kPromotionArmNumbers);
  for (const auto& [id, arm] : arms_) {
    numbers.insert(
        numbers.end(),
        {static_cast<double>(id), static_cast<double>(arm.trial), static_cast<double>(arm.rung),
         static_cast<double>(arm.state), flag(arm.ended), flag(arm.proposed), flag(arm.candidate),
         arm.from, arm.at, arm.last, arm.step, arm.cost, arm.spent.former, arm.spent.run});
  }
  return save_numbers(numbers);
}

json PromotionTuner::save_foreign() const {
  std::vector<const Point*> points;
  std::vector<double> numbers;
  for (const auto& [id, foreign] : foreign_) {
    points.push_back(&foreign.point);
    const double trial = foreign.trial ? static_cast<double>(*foreign.trial) : -1;
    numbers.insert(numbers.end(),
                   {static_cast<double>(id), static_cast<double>(foreign.rung), trial});
  }
  return {
      {"points", save_points(points)}, {"numbers", save_numbers(numbers)}, {"next", next_foreign_}};
}

// NOLINTNEXTLINE(readability-function-size): one check after the other
Result<void> PromotionTuner::load(const json& state) {
  const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
  PromotionRungs rungs(options_.rungs);
  TRY(rungs.load(TRY(value_at(state, "rungs"))));
  Arms arms = TRY(load_arms(TRY(value_at(state, "arms")), rungs.size()));
  const json foreign_state = TRY(object_at(state, "foreign"));
  std::map<TrialId, Foreign> foreign;
  TRY(load_foreign(foreign_state, searcher_.space(), rungs.size(), foreign));
  const TrialId next_foreign = TRY(integer_at(foreign_state, "next"));
  const auto candidates = TRY(integer_at(state, "candidates"));
  TrialQuota quota = quota_;
  TRY(quota.load(TRY(object_at(state, "quota"))));
  const bool has_result = TRY(boolean_at(state, "has_result"));
  const bool exhausted = TRY(boolean_at(state, "exhausted"));
  if (next_foreign >= kImportedTrial ||
      (!foreign.empty() && foreign.begin()->first <= next_foreign)) {
    return damaged_promotion("the next import has a key that is taken");
  }
  if (candidates < 0) return damaged_promotion("less than no candidates");

  // Whoever can be promoted must be known.
  for (std::size_t k = 0; k < rungs.size(); ++k) {
    for (const auto& [id, place] : rungs.places(k)) {
      if (!place.waits) continue;
      const auto arm = arms.find(id);
      const auto other = foreign.find(id);
      const bool known = arm != arms.end()
                             ? arm->second.state == State::waits && arm->second.rung == k
                             : other != foreign.end() && other->second.rung == k;
      if (!known) return damaged_promotion("a trial waits at a rung that is not there");
    }
  }
  std::map<TrialId, TrialId> successors;
  std::size_t running = 0, climbing = 0;
  for (const auto& [id, arm] : arms) {
    if (arm.state == State::runs) ++running;
    if (arm.state == State::runs && arm.rung < rungs.size()) ++climbing;
    if (arm.trial == id) continue;
    if (arms.contains(arm.trial) || !successors.emplace(arm.trial, id).second) {
      return damaged_promotion("a trial follows two others");
    }
  }
  std::map<std::vector<double>, TrialId> foreign_of;
  for (const auto& [id, one] : foreign) {
    if (!foreign_of.emplace(key_of(one.point), id).second) {
      return damaged_promotion("one configuration is imported as two");
    }
  }
  std::optional<Pasha> pasha;
  if (pasha_) {
    pasha.emplace(rungs, options_.rungs.objectives);
    TRY(pasha->load(TRY(object_at(state, "pasha")), rungs));
  }

  const json before = searcher_.save();
  TRY(searcher_.load(TRY(object_at(state, "searcher"))));
  const auto known = [this](const auto& one) { return searcher_.point_of(one.first) != nullptr; };
  if (!std::ranges::all_of(arms, known)) {
    ATTUNE_CHECK(searcher_.load(before).has_value());
    return damaged_promotion("the searcher does not know a trial");
  }
  rng_ = rng;
  rungs_ = std::move(rungs);
  pasha_ = std::move(pasha);
  arms_ = std::move(arms);
  successors_ = std::move(successors);
  foreign_ = std::move(foreign);
  foreign_of_ = std::move(foreign_of);
  next_foreign_ = next_foreign;
  running_ = running;
  climbing_ = climbing;
  quota_ = std::move(quota);
  has_result_ = has_result;
  candidates_ = candidates;
  exhausted_ = exhausted;
  return {};
}

Result<PromotionTuner::Arms> PromotionTuner::load_arms(const json& state, std::size_t rungs) {
  const auto all = TRY(numbers(state));
  if (all.size() % kPromotionArmNumbers != 0)
    return damaged_promotion("a trial of a rung is damaged");
  const auto is_flag = [](double x) { return x == 0 || x == 1; };
  Arms arms;
  for (std::size_t i = 0; i < all.size(); i += kPromotionArmNumbers) {
    const double* const x = &all[i];
    const bool waits = x[3] == static_cast<double>(State::waits);
    const bool valid = is_whole(x[0]) && is_whole(x[1]) &&
                       is_index(x[2], static_cast<double>(rungs + (waits ? 0 : 1))) &&
                       is_index(x[3], 3) && is_flag(x[4]) && is_flag(x[5]) && is_flag(x[6]) &&
                       std::all_of(x + 7, x + kPromotionArmNumbers,
                                   [](double y) { return std::isfinite(y) && y >= 0; });
    if (!valid) return damaged_promotion("a trial of a rung is damaged");
    const Arm arm{.trial = static_cast<TrialId>(x[1]),
                  .rung = static_cast<std::size_t>(x[2]),
                  .state = static_cast<State>(static_cast<int>(x[3])),
                  .ended = x[4] == 1,
                  .proposed = x[5] == 1,
                  .candidate = x[6] == 1,
                  .from = x[7],
                  .at = x[8],
                  .last = x[9],
                  .step = x[10],
                  .cost = x[11],
                  .spent = {x[12], x[13]}};
    if (!arms.emplace(static_cast<TrialId>(x[0]), arm).second) {
      return damaged_promotion("a trial stands twice");
    }
  }
  return arms;
}

Result<void> PromotionTuner::load_foreign(const json& state, const Space& space, std::size_t rungs,
                                          std::map<TrialId, Foreign>& foreign) {
  const auto all = TRY(numbers_at(state, "numbers"));
  if (all.size() % kPromotionForeignNumbers != 0) return damaged_promotion("an import is damaged");
  auto points = TRY(
      load_points(space, TRY(value_at(state, "points")), all.size() / kPromotionForeignNumbers));
  for (std::size_t i = 0; i < all.size(); i += kPromotionForeignNumbers) {
    const double* const x = &all[i];
    const bool valid = is_whole(x[0]) && x[0] < static_cast<double>(kImportedTrial) &&
                       is_index(x[1], static_cast<double>(rungs + 1)) && is_whole(x[2]) &&
                       x[2] >= -1;
    if (!valid) return damaged_promotion("an import is damaged");
    Foreign one{
        std::move(points[i / kPromotionForeignNumbers]), static_cast<std::size_t>(x[1]), {}};
    if (x[2] >= 0) one.trial = static_cast<TrialId>(x[2]);
    if (!foreign.emplace(static_cast<TrialId>(x[0]), std::move(one)).second) {
      return damaged_promotion("an import stands twice");
    }
  }
  return {};
}

}  // namespace attune
