#include "tuners/parts/acquisition_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/maximise.h"
#include "space/dedup.h"
#include "space/sample.h"

namespace attune {
namespace {

// A sweep tries all categories of a choice with at most this many; otherwise this many random ones.
constexpr std::size_t kMostCategories = 20;

// A sweep tries so many values, divided by the number of parameters, as each of them costs a time
// in proportion to that number. Of up to 122 parameters it tries all.
constexpr std::size_t kMostSwept = 300'000;

class Search {
 public:
  Search(const Space& space, const Features& features, const Acquisition& acquisition,
         std::span<const Point> good, const SearchSettings& settings, Rng& rng)
      : space_(space),
        features_(features),
        acquisition_(acquisition),
        good_(good),
        settings_(settings),
        rng_(rng) {}

  std::vector<Found> run() {
    std::vector<Found> found = ranked(candidates());
    const auto climbers = std::min<std::size_t>(found.size(), settings_.climbs);
    for (std::size_t i = 0; i < climbers; ++i) {
      Found top = found[i];  // keep the start too: the caller may have tried the top before
      climb(top);
      found.push_back(std::move(top));
    }
    std::ranges::stable_sort(found, std::greater<>(), &Found::value);
    SeenPoints reached(space_);  // several climbs may have reached the same top
    std::erase_if(found, [&](const Found& one) { return !reached.insert(one.point); });
    return found;
  }

 private:
  std::vector<Point> candidates() {
    std::vector<Point> all;
    SeenPoints drawn(space_);
    const auto keep = [&](Point point) {
      if (settings_.within) enter(space_, *settings_.within, point, rng_);
      if (space_.feasible(point) && drawn.insert(point)) all.push_back(std::move(point));
    };
    for (int i = 0; i < settings_.candidates; ++i) keep(sample(space_, rng_));
    if (!good_.empty()) {
      for (int i = 0; i < settings_.neighbours; ++i) {
        // Half of the neighbours are around the best point.
        const std::size_t k = i % 2 == 0 ? 0 : rng_.index(good_.size());
        keep(neighbour(good_[k]));
      }
    }
    return all;
  }

  // Changes some of the active parameters: positions move a little, categories are drawn again. In
  // half of the neighbours every position moves. The step is log-uniform, so that some neighbours
  // refine a good point and others leave it.
  Point neighbour(const Point& from) {
    Point point = from;
    const auto n =
        static_cast<double>(std::ranges::count_if(from.values, [](double x) { return x == x; }));
    // From one to three parameters change, on average, unless all positions move.
    const double rate = std::min(1.0, std::max(1.0, 3 * rng_.uniform()) / std::max(n, 1.0));
    const double step = std::pow(10.0, rng_.uniform(-2.5, -0.5));
    const bool all_positions = rng_.index(2) == 0;
    const std::vector<double> row = features_.encode(from);
    for (std::size_t i = 0; i < point.values.size(); ++i) {
      const auto position = features_.position(i);
      const bool woken = !point.active(i);  // a choice has just made it active, or it is a gap
      if (!is_active(space_, point, i)) {
        point.values[i] = Point::kInactive;
      } else if (woken || (!position && rng_.uniform() < rate)) {
        point.values[i] = sample(space_.params[i].domain, rng_);
      } else if (position && (all_positions || rng_.uniform() < rate)) {
        point.values[i] = features_.value(i, row[*position] + step * rng_.normal());
      }
    }
    return point;
  }

  std::vector<double> encode(std::span<const Point> points) const {
    const std::size_t d = features_.size();
    std::vector<double> rows(points.size() * d);
    for (std::size_t i = 0; i < points.size(); ++i) {
      features_.encode(points[i], std::span(rows).subspan(i * d, d));
    }
    return rows;
  }

  std::vector<Found> ranked(std::vector<Point> points) const {
    if (points.empty()) return {};
    const std::vector<double> values = acquisition_.values(encode(points));
    std::vector<Found> all;
    for (std::size_t i = 0; i < points.size(); ++i)
      all.push_back({std::move(points[i]), values[i]});
    std::ranges::stable_sort(all, std::greater<>(), &Found::value);
    return all;
  }

  void climb(Found& at) {
    for (int round = 0; round < settings_.rounds; ++round) {
      const double before = at.value;
      if (acquisition_.climb) ascend(at);
      sweep(at);
      // Another round would hardly improve a point that this one has not improved.
      if (!(at.value > before + 1e-6)) break;
    }
  }

  // Climbs over the positions of the active parameters by the gradient. Levels are treated as
  // continuous and rounded at the end, so the result is taken only if it is better after rounding.
  void ascend(Found& at) {
    std::vector<std::size_t> params, dimensions;
    for (std::size_t i = 0; i < space_.params.size(); ++i) {
      if (!at.point.active(i)) continue;
      if (const auto position = features_.position(i)) {
        params.push_back(i);
        dimensions.push_back(*position);
      }
    }
    if (params.empty()) return;
    std::vector<double> row = features_.encode(at.point), slope(row.size());
    const auto value = [&](std::span<const double> x, std::span<double> gradient) {
      for (std::size_t k = 0; k < x.size(); ++k) row[dimensions[k]] = x[k];
      const double result = acquisition_.climb(row, slope);
      for (std::size_t k = 0; k < x.size(); ++k) gradient[k] = slope[dimensions[k]];
      return result;
    };
    std::vector<double> start;
    for (const std::size_t d : dimensions) start.push_back(row[d]);
    const std::size_t n = start.size();
    const Maximum top = maximise(value, {std::vector(n, 0.0), std::vector(n, 1.0)},
                                 std::move(start), settings_.evaluations, 1e-4);
    Point moved = at.point;
    for (std::size_t k = 0; k < n; ++k)
      moved.values[params[k]] = features_.value(params[k], top.x[k]);
    take_if_better(std::vector{std::move(moved)}, at);
  }

  bool take_if_better(std::vector<Point> points, Found& at) const {
    std::erase_if(points, [&](const Point& point) { return !space_.feasible(point); });
    if (points.empty()) return false;
    const std::vector<double> values = acquisition_.values(encode(points));
    const auto best = std::ranges::max_element(values) - values.begin();
    const auto i = static_cast<std::size_t>(best);
    if (!(values[i] > at.value)) return false;
    at = {std::move(points[i]), values[i]};
    return true;
  }

  // Tries other values of one active parameter after the other, and keeps each improvement. Of
  // many parameters it tries some, in random order.
  void sweep(Found& at) {
    std::vector<std::size_t> order(space_.params.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t most = kMostSwept / std::max<std::size_t>(order.size(), 1);
    if (order.size() * kMostCategories > most) shuffle(order);
    std::size_t tried = 0;
    for (const std::size_t i : order) {
      if (!at.point.active(i) || (settings_.within && i == settings_.within->choice)) continue;
      std::vector<Point> others = alternatives(at.point, i);
      tried += others.size();
      take_if_better(std::move(others), at);
      if (tried >= most) return;
    }
  }

  void shuffle(std::vector<std::size_t>& order) {
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[rng_.index(k)]);
  }

  std::vector<Point> alternatives(const Point& from, std::size_t i) {
    std::vector<Point> all;
    const auto add = [&](double value) {
      if (value == from.values[i]) return;
      Point point = from;
      point.values[i] = value;
      settle(point, i);
      all.push_back(std::move(point));
    };
    const auto position = features_.position(i);
    const Domain& domain = space_.params[i].domain;
    if (position) {
      const std::size_t levels = features_.dimensions()[*position].levels;
      if (levels == 0 && settings_.exchanges == 0) return all;
      const double x = features_.encode(from)[*position];
      if (levels == 0) {
        for (int k = 0; k < settings_.exchanges; ++k) {
          add(features_.value(i, x + std::pow(10.0, rng_.uniform(-2.5, -0.5)) * rng_.normal()));
        }
        return all;
      }
      const double step = 1.0 / static_cast<double>(levels);
      const auto* real = std::get_if<Uniform>(&domain);
      for (const double k : {-3.0, -2.0, -1.0, 1.0, 2.0, 3.0}) {
        // The steps of a log scale are not equally wide, so count in multiples of q.
        if (real && real->q) {
          const double level = (std::nearbyint(from.values[i] / *real->q) + k) * *real->q;
          const double inside = std::clamp(level, real->low, real->high);
          add(from_internal(domain, to_internal(domain, inside)));
        } else {
          add(features_.value(i, x + k * step));
        }
      }
    } else if (const auto* choice = std::get_if<Choice>(&domain)) {
      const std::size_t n = choice->candidates.size();
      for (std::size_t k = 0; k < std::min(n, kMostCategories); ++k) {
        add(static_cast<double>(n > kMostCategories ? rng_.index(n) : k));
      }
    } else {
      for (int k = 0; k < 10; ++k) add(sample(domain, rng_));
    }
    return all;
  }

  // Parameter i was changed: switches off the parameters that became inactive, and gives values to
  // those that became active. These take the values of the best good point with the same value of
  // i, if there is one; otherwise they are random.
  void settle(Point& point, std::size_t i) {
    const Point* model = nullptr;
    for (const Point& candidate : good_) {
      if (candidate.values[i] == point.values[i]) {
        model = &candidate;
        break;
      }
    }
    for (std::size_t k = i + 1; k < point.values.size(); ++k) {
      if (!is_active(space_, point, k)) {
        point.values[k] = Point::kInactive;
      } else if (!point.active(k)) {
        point.values[k] =
            model && model->active(k) ? model->values[k] : sample(space_.params[k].domain, rng_);
      }
    }
  }

  const Space& space_;
  const Features& features_;
  const Acquisition& acquisition_;
  std::span<const Point> good_;
  const SearchSettings& settings_;
  Rng& rng_;
};

}  // namespace

std::vector<Found> search_acquisition(const Space& space, const Features& features,
                                      const Acquisition& acquisition, std::span<const Point> good,
                                      const SearchSettings& settings, Rng& rng) {
  return Search(space, features, acquisition, good, settings, rng).run();
}

}  // namespace attune
