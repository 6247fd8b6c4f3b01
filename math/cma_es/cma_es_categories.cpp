#include "math/cma_es/cma_es_categories.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

double chance(const CategoryGroup& group) {
  return static_cast<double>(group.chosen) / static_cast<double>(group.categories);
}

}  // namespace

CmaCategories::CmaCategories(std::vector<CategoryGroup> groups) : groups_(std::move(groups)) {
  for (const CategoryGroup& group : groups_) {
    ATTUNE_CHECK(group.chosen > 0 && group.chosen < group.categories);
    probabilities_.insert(probabilities_.end(), group.categories, chance(group));
  }
}

std::vector<double> CmaCategories::sample(Rng& rng) const {
  std::vector<double> flags(size());
  std::size_t begin = 0;
  for (const CategoryGroup& group : groups_) {
    const std::size_t end = begin + group.categories;
    // Draws one after the other, in proportion to the probabilities of those that are left.
    for (std::size_t k = 0; k < group.chosen; ++k) {
      double total = 0;
      for (std::size_t i = begin; i < end; ++i) total += (1 - flags[i]) * probabilities_[i];
      double left = rng.uniform() * total;
      std::size_t drawn = end;
      for (std::size_t i = begin; i < end; ++i) {
        if (flags[i] != 0) continue;
        drawn = i;  // the last one, if rounding leaves something
        left -= probabilities_[i];
        if (left < 0) break;
      }
      flags[drawn] = 1;
    }
    begin = end;
  }
  return flags;
}

void CmaCategories::update(std::span<const CategoryResult> best, std::span<const double> weights,
                           double effective) {
  // The learning rate: the evidence of these results, against 2 plus the number of groups that they
  // must tell apart.
  const double rate = effective / (effective + 2 + static_cast<double>(groups_.size()));
  std::size_t begin = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t end = begin + groups_[g].categories;
    for (std::size_t i = begin; i < end; ++i) {
      double gradient = 0;
      for (std::size_t k = 0; k < best.size(); ++k) {
        if (!best[k].active.empty() && !best[k].active[g]) continue;
        gradient += weights[k] * (best[k].flags[i] - probabilities_[i]);
      }
      probabilities_[i] += rate * gradient;
    }
    begin = end;
  }
  keep_margin();
}

void CmaCategories::learn(std::span<const CategoryResult> good, double share) {
  std::size_t begin = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t end = begin + groups_[g].categories;
    const auto active = [g](const CategoryResult& one) {
      return one.active.empty() || one.active[g];
    };
    const auto count = static_cast<double>(std::ranges::count_if(good, active));
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0;
      for (const CategoryResult& one : good) sum += active(one) ? one.flags[i] : 0;
      const double uniform = chance(groups_[g]);
      probabilities_[i] = count > 0 ? share * sum / count + (1 - share) * uniform : uniform;
    }
    begin = end;
  }
  keep_margin();
}

// Raises each probability to the least one (and lowers it to the most), so that no category dies.
// The difference is spread over the others in proportion to their distance from that bound, so that
// a group still adds up to `chosen`.
void CmaCategories::keep_margin() {
  const auto count = static_cast<double>(std::max<std::size_t>(groups_.size(), 1));
  std::size_t begin = 0;
  for (const CategoryGroup& group : groups_) {
    const std::size_t n = group.categories;
    const auto others = static_cast<double>(n - 1);
    const double fair = std::min(chance(group), 1 - chance(group));
    const double least = std::min((1 - std::pow(0.73, 1 / count)) / others, fair / 2);
    const auto part = std::span(probabilities_).subspan(begin, n);
    for (double& p : part) p = std::clamp(p, least, 1 - least);
    const double excess =
        std::accumulate(part.begin(), part.end(), 0.0) - static_cast<double>(group.chosen);
    double room = 0;
    for (const double p : part) room += excess > 0 ? p - least : 1 - least - p;
    if (room > 0) {
      for (double& p : part) p -= excess / room * (excess > 0 ? p - least : 1 - least - p);
    }
    begin += n;
  }
}

json CmaCategories::save() const { return save_numbers(probabilities_); }

Result<void> CmaCategories::load(const json& state) {
  auto probabilities = TRY(numbers(state));
  const auto possible = [](double p) { return p > 0 && p < 1; };
  if (probabilities.size() != size() || !std::ranges::all_of(probabilities, possible)) {
    return fail("saved state: cma: impossible probabilities of categories");
  }
  probabilities_ = std::move(probabilities);
  return {};
}

}  // namespace attune
