// How a curve model is saved and loaded.
#include <algorithm>
#include <functional>

#include "base/saved_numbers.h"
#include "tuners/parts/curve_model.h"

namespace attune {

json CurveModel::save() const {
  json state = results_.save();
  state.update({{"members", save_numbers(std::vector<double>(members_.begin(), members_.end()))},
                {"known", known_},
                {"mapped", mapped_},
                {"fitted_at", fitted_at_},
                {"fits", fits_},
                {"process", process_.save()}});
  return state;
}

// The weights are not saved: those of the next decision are new.
Result<void> CurveModel::load(const json& state, std::span<const std::vector<double>> rows) {
  const auto damaged = [] { return fail("saved state: a model that does not fit its results"); };
  const auto index_at = [&](std::string_view key) -> Result<std::size_t> {
    const auto n = TRY(integer_at(state, key));
    if (n < 0) return fail("saved state: " + std::string(key) + " is negative");
    return static_cast<std::size_t>(n);
  };
  const auto members = TRY(numbers_at(state, "members"));
  CurveModel loaded(categories_, results_.shape(), positions_);
  loaded.known_ = TRY(index_at("known"));
  loaded.mapped_ = TRY(index_at("mapped"));
  loaded.fitted_at_ = TRY(index_at("fitted_at"));
  loaded.fits_ = TRY(index_at("fits"));
  for (const auto& row : rows) loaded.add(row);
  TRY(loaded.results_.load(state, rows.size(), loaded.mapped_));
  const bool possible =
      loaded.known_ <= loaded.observations() && loaded.mapped_ <= loaded.known_ &&
      loaded.fitted_at_ <= loaded.known_ && loaded.known_ - loaded.fitted_at_ <= members.size() &&
      std::ranges::all_of(
          members, [&](double i) { return is_index(i, static_cast<double>(loaded.known_)); }) &&
      std::ranges::adjacent_find(members, std::greater_equal<>()) == members.end() &&
      (loaded.fits_ == 0) == members.empty() && (loaded.fits_ > 0 || loaded.known_ == 0) &&
      members.size() <= 2 * kMostRows;
  if (!possible) return damaged();
  loaded.tells_trials_apart_ = loaded.needs_numbers(loaded.fitted_at_);
  loaded.members_.assign(members.begin(), members.end());
  const auto process = TRY(object_at(state, "process"));
  TRY(loaded.process_.load(process, loaded.gather(loaded.members_), loaded.targets()));
  if (loaded.process_.assigned() != members.size() - (loaded.known_ - loaded.fitted_at_)) {
    return damaged();
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
