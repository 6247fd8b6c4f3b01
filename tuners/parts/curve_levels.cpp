#include "tuners/parts/curve_levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"

namespace attune {
namespace {

double next_level(double level, double factor) {
  return std::max(level + 1, std::round(level * factor));
}

}  // namespace

CurveLevels::CurveLevels(std::int64_t most, double factor)
    : factor_(factor), given_(static_cast<double>(most)) {
  set_levels();
}

CurveLevels::CurveLevels(double factor) : factor_(factor) {}

// A trial that runs on where others have ended shows that this was not the end of a full training.
double CurveLevels::end() const {
  if (given_) return *given_;
  return ended_at_ > 0 && ended_at_ >= most_reached_ ? ended_at_ : HUGE_VAL;
}

std::size_t CurveLevels::within(double resource) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(all_, resource) - all_.begin());
}

std::size_t CurveLevels::after(double resource) const { return std::min(within(resource), last()); }

std::optional<std::size_t> CurveLevels::reach(double resource) {
  if (given_ || resource <= most_reached_ || resource > kMost) return std::nullopt;
  most_reached_ = resource;
  return set_levels();
}

std::optional<std::size_t> CurveLevels::end_at(double resource) {
  if (given_ || resource <= ended_at_ || resource > kMost) return std::nullopt;
  ended_at_ = resource;
  return set_levels();
}

std::optional<std::size_t> CurveLevels::set_levels() {
  const bool known = end() < HUGE_VAL;
  std::vector<double> changed;
  double level = 1;
  for (; known ? level < end() : level <= most_reached_; level = next_level(level, factor_)) {
    changed.push_back(level);
  }
  changed.push_back(known ? end() : level);
  if (changed == all_) return std::nullopt;
  const std::size_t kept = std::min(last(), changed.size() - 1);
  all_ = std::move(changed);
  return kept;
}

json CurveLevels::save() const {
  return {{"most_reached", most_reached_}, {"ended_at", ended_at_}};
}

Result<void> CurveLevels::load(const json& state) {
  const double reached = TRY(number_at(state, "most_reached"));
  const double ended = TRY(number_at(state, "ended_at"));
  const auto possible = [](double resource) { return resource >= 0 && resource <= kMost; };
  if (given_ || !possible(reached) || !possible(ended)) {
    return fail("saved state: impossible levels of training");
  }
  most_reached_ = reached;
  ended_at_ = ended;
  set_levels();
  return {};
}

}  // namespace attune
