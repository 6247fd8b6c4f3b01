#include "space/space.h"

#include <algorithm>
#include <functional>
#include <set>

#include "space/combinations.h"
#include "space/scale.h"

namespace attune {
namespace {

using Count = std::optional<std::uint64_t>;  // nothing: infinite, or above kMaxCount

constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53;

// Multiples of q beyond this are too close together for every one to be hit by some double on the
// logarithmic scale, so counting them would be a guess.
constexpr double kMaxMultiple = 0x1p40;

Count limited(std::uint64_t n) { return n <= kMaxCount ? Count(n) : std::nullopt; }

Count plus(const Count& a, const Count& b) { return a && b ? limited(*a + *b) : std::nullopt; }

Count times(const Count& a, const Count& b) {
  if (!a || !b || *a > kMaxCount / std::max<std::uint64_t>(*b, 1)) return std::nullopt;
  return *a * *b;
}

Count count_values(const Choice& domain) {
  return std::set(domain.canonical.begin(), domain.canonical.end()).size();
}

Count count_values(const Subset& domain) {
  return binomial(domain.candidates.size(), domain.chosen);
}

Count count_values(const IntRange& domain) { return limited(domain.high - domain.low); }

Count count_values(const Uniform& domain) {
  if (domain.low == domain.high) return 1;
  if (!domain.q) return std::nullopt;
  const double first = multiple_of(*domain.q, natural(domain, quantile(domain, 0)));
  const double last = multiple_of(*domain.q, natural(domain, quantile(domain, 1)));
  if (std::max(-first, last) > kMaxMultiple) return std::nullopt;
  // Clipping moves the first and the last multiple by at most q/2, and merges none.
  return static_cast<std::uint64_t>(last - first) + 1;
}

Count count_values(const Normal& domain) { return domain.sigma == 0 ? Count(1) : std::nullopt; }

}  // namespace

bool Point::operator==(const Point& other) const {
  if (values.size() != other.values.size() || parameters != other.parameters) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (active(i) != other.active(i)) return false;
    if (active(i) && values[i] != other.values[i]) return false;
  }
  return true;
}

bool is_active(const Space& space, const Point& point, std::size_t i) {
  const auto& condition = space.params[i].condition;
  // An inactive parent is NaN, which equals no branch.
  return !condition || point.values[condition->parent] == static_cast<double>(condition->branch);
}

Space unread_space(json search_space) {
  Space space;
  space.unread = std::move(search_space);
  return space;
}

std::optional<std::uint64_t> point_count(const Space& space) {
  if (!space.unread.is_null()) return std::nullopt;
  // From the last parameter to the first: a branch is complete when its choice comes up.
  std::vector<std::vector<Count>> branches(space.params.size());
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const auto* choice = std::get_if<Choice>(&space.params[i].domain);
    if (choice && choice->nested) branches[i].assign(choice->candidates.size(), 1);
  }
  Count total = 1;
  for (std::size_t i = space.params.size(); i-- > 0;) {
    const Param& param = space.params[i];
    Count count;
    if (branches[i].empty()) {
      count = std::visit([](const auto& domain) { return count_values(domain); }, param.domain);
    } else {
      count = 0;
      for (const Count& branch : branches[i]) count = plus(count, branch);
    }
    Count& scope =
        param.condition ? branches[param.condition->parent][param.condition->branch] : total;
    scope = times(scope, count);
  }
  return total;
}

bool Choice::is_scale() const {
  const auto ascends = [](const json& a, const json& b) {
    return a.is_number() && b.is_number() && a.get<double>() < b.get<double>();
  };
  return candidates.size() >= 3 &&
         std::ranges::adjacent_find(candidates, std::not_fn(ascends)) == candidates.end();
}

bool is_continuous(const Domain& domain) {
  if (const auto* d = std::get_if<Uniform>(&domain)) return !d->q && d->low < d->high;
  if (const auto* d = std::get_if<Normal>(&domain)) return !d->q && d->sigma > 0;
  return false;
}

}  // namespace attune
