#include "bench/quality/belief.h"

#include <algorithm>
#include <cmath>

#include "space/features.h"
#include "space/sample.h"

namespace attune::bench {
namespace {

constexpr int kDraws = 1000;
constexpr int kSteps = 6000;  // of the search for the best point

// Changes one to three parameters: positions by a step of any size, others anew.
Point changed(const Space& space, const Features& features, const Point& from, Rng& rng) {
  Point point = from;
  const std::vector<double> row = features.encode(from);
  const double rate = rng.uniform(1, 3) / static_cast<double>(space.params.size());
  const double step = std::pow(10, rng.uniform(-4, -0.3));
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const bool woken = !point.active(i);
    if (!is_active(space, point, i)) {
      point.values[i] = Point::kInactive;
    } else if (const auto at = features.position(i); !woken && at) {
      if (rng.uniform() < rate) {
        point.values[i] = features.value(i, row[*at] + step * rng.normal());
      }
    } else if (woken || rng.uniform() < rate) {
      point.values[i] = sample(space.params[i].domain, rng);
    }
  }
  return point;
}

// The best of many random points, then improved in small steps; or the worst of them.
Point found(const Space& space, const Features& features, const Problem& problem, bool best) {
  Rng rng = Rng(0).fork(problem.name);
  const auto value = [&](const Point& point) { return problem.value(to_json(space, point)); };
  Point top;
  double least = HUGE_VAL;
  for (int i = 0; i < kDraws + (best ? kSteps : 0); ++i) {
    Point point = i < kDraws ? sample(space, rng) : changed(space, features, top, rng);
    const double now = best ? value(point) : -value(point);
    if (now > least || (std::isnan(now) && !top.values.empty())) continue;
    least = now;
    top = std::move(point);
  }
  return top;
}

// As good as `sure` says.
double missed(const Features& features, const Space& space, std::size_t i, double value, Rng& rng) {
  const auto at = features.position(i);
  if (const auto* choice = std::get_if<Choice>(&space.params[i].domain)) {
    return rng.uniform() < Prior::kSure ? value
                                        : static_cast<double>(rng.index(choice->candidates.size()));
  }
  if (!at) return value;
  constexpr double kDeviation = 0.1 / 1.036;  // within a tenth of the range with probability 0.7
  return features.value(i, features.position_of(i, value) + kDeviation * rng.normal());
}

}  // namespace

void believe(Space& space, const Problem& problem, std::string_view kind, std::uint64_t seed) {
  const Features features(space);
  Rng rng = Rng(seed).fork("belief in " + problem.name);
  const Point point =
      kind == "random" ? sample(space, rng) : found(space, features, problem, kind == "good");
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    Param& param = space.params[i];
    if (std::holds_alternative<Subset>(param.domain) || !point.active(i)) continue;
    const double value = point.values[i];
    param.prior = {.value = kind == "good" ? missed(features, space, i, value, rng) : value};
  }
}

}  // namespace attune::bench
