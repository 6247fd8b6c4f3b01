#include "analysis/evidence.h"

#include <algorithm>
#include <functional>

namespace attune {

Importances in_order(const Space& space, std::span<const double> shares) {
  Importances all;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    all.emplace_back(space.params[i].path, shares[i]);
  }
  std::ranges::stable_sort(all, std::greater{}, &Importances::value_type::second);
  return all;
}

Importances shares_of(const Space& space, std::span<const double> amounts) {
  double sum = 0;
  for (const double amount : amounts) sum += amount;
  std::vector<double> shares(amounts.begin(), amounts.end());
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return in_order(space, shares);
}

Space with_own_names(Space space) {
  for (Param& param : space.params) param.name = param.path;
  return space;
}

}  // namespace attune
