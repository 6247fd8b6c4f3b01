#include "rungs/population_ranks.h"

#include <algorithm>
#include <cmath>

namespace attune {

std::size_t PopulationRanks::place_of(const Ranked& wanted) const {
  const auto at = std::ranges::lower_bound(order_, wanted, [](const Ranked& a, const Ranked& b) {
    return a.loss != b.loss ? a.loss > b.loss : a.member < b.member;
  });
  return static_cast<std::size_t>(at - order_.begin());
}

std::optional<std::size_t> PopulationRanks::place_of(std::size_t member) const {
  if (member >= loss_of_.size() || !loss_of_[member]) return std::nullopt;
  return place_of(Ranked{*loss_of_[member], member});
}

void PopulationRanks::set(std::size_t member, double loss) {
  erase(member);
  if (loss_of_.size() <= member) loss_of_.resize(member + 1);
  loss_of_[member] = loss;
  const auto place = static_cast<std::ptrdiff_t>(place_of(Ranked{loss, member}));
  order_.insert(order_.begin() + place, {loss, member});
}

void PopulationRanks::erase(std::size_t member) {
  const auto place = place_of(member);
  if (!place) return;
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(*place));
  loss_of_[member].reset();
}

std::size_t PopulationRanks::rank(std::size_t member) const {
  return order_.size() - *place_of(member);
}

std::size_t PopulationRanks::count(double fraction) const {
  const std::size_t n = order_.size();
  if (n <= 1) return 0;
  const double wanted = std::ceil(static_cast<double>(n) * fraction);
  return wanted > static_cast<double>(n) / 2 ? n / 2 : static_cast<std::size_t>(wanted);
}

bool PopulationRanks::is_worst(std::size_t member, std::size_t count) const {
  const auto place = place_of(member);
  return place && *place < count;
}

bool PopulationRanks::is_best(std::size_t member, std::size_t count) const {
  const auto place = place_of(member);
  return place && *place + count >= order_.size();
}

std::vector<std::size_t> PopulationRanks::worst(std::size_t count) const {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(order_[i].member);
  return members;
}

std::vector<std::size_t> PopulationRanks::best(std::size_t count) const {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(best_at(i, count));
  return members;
}

std::size_t PopulationRanks::best_at(std::size_t index, std::size_t count) const {
  return order_[order_.size() - count + index].member;
}

}  // namespace attune
