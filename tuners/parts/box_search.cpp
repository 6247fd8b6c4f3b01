#include "tuners/parts/box_search.h"

#include <algorithm>
#include <cmath>

#include "math/maximise.h"
#include "space/dedup.h"
#include "space/sample.h"

namespace attune {
namespace {

// Parameters that change in a candidate, on average; the paper's constant.
constexpr double kChanged = 20;

class BoxSearch {
 public:
  BoxSearch(const Space& space, const Features& features, const Acquisition& acquisition,
            const SearchBox& box, const BoxSearchSettings& settings, Rng& rng)
      : space_(space),
        features_(features),
        acquisition_(acquisition),
        box_(box),
        settings_(settings),
        rng_(rng),
        centre_(features.encode(box.centre)) {}

  std::vector<Found> run() {
    std::vector<Found> found = valued(candidates());
    std::ranges::stable_sort(found, std::greater<>(), &Found::value);
    const auto climbers = std::min<std::size_t>(found.size(), settings_.climbs);
    std::vector<Point> tops;
    for (std::size_t i = 0; i < climbers; ++i) {
      Point top = swept(ascended(found[i].point), settings_.candidates / settings_.climbs);
      if (space_.feasible(top)) tops.push_back(std::move(top));
    }
    for (Found& top : valued(std::move(tops))) found.push_back(std::move(top));
    std::ranges::stable_sort(found, std::greater<>(), &Found::value);
    SeenPoints reached(space_);
    // The centre itself is no candidate, and several climbs may have reached the same top.
    reached.insert(box_.centre);
    std::erase_if(found, [&](const Found& one) { return !reached.insert(one.point); });
    return found;
  }

 private:
  struct Interval {
    double low = 0, high = 1;
  };

  // The part of a position's dimension that lies in the box. It always reaches the next level on
  // both sides: otherwise an integer could not change any more once the box is small.
  Interval interval(std::size_t dimension) const {
    const std::size_t levels = features_.dimensions()[dimension].levels;
    const double least = levels > 1 ? 1.01 / static_cast<double>(levels - 1) : 0;
    const double half = std::max(box_.sides[dimension] / 2, least);
    const double x = centre_[dimension];
    if (x != x) return {};  // not active in the centre
    return {std::max(x - half, 0.0), std::min(x + half, 1.0)};
  }

  std::vector<Point> candidates() {
    std::vector<std::size_t> active;
    std::size_t categories = 0;
    for (std::size_t i = 0; i < space_.params.size(); ++i) {
      if (!box_.centre.active(i)) continue;
      active.push_back(i);
      categories += features_.position(i) ? 0 : 1;
    }
    std::vector<Point> all;
    if (active.empty()) return all;
    SeenPoints drawn(space_);
    drawn.insert(box_.centre);
    const double rate = std::min(1.0, kChanged / static_cast<double>(active.size()));
    const double one = 1 / std::max(1.0, static_cast<double>(categories));
    // Of the categories that would change only a share does, but on average at least one.
    const double category_rate = std::max(rate * box_.share, std::min(rate, one));
    for (int k = 0; k < settings_.candidates; ++k) {
      std::vector<bool> changes(space_.params.size());
      for (const std::size_t i : active) {
        changes[i] = rng_.uniform() < (features_.position(i) ? rate : category_rate);
      }
      if (std::ranges::find(changes, true) == changes.end()) {
        // A candidate must differ from the centre.
        changes[active[rng_.index(active.size())]] = true;
      }
      Point point = changed(changes);
      if (space_.feasible(point) && drawn.insert(point)) all.push_back(std::move(point));
    }
    return all;
  }

  // Switches parameter i off if it is inactive, and draws it if another choice has just made it
  // active. Returns whether it did either.
  bool settle(Point& point, std::size_t i) {
    const bool woken = !point.active(i);
    const bool active = is_active(space_, point, i);
    if (!active) point.values[i] = Point::kInactive;
    if (active && woken) point.values[i] = sample(space_.params[i].domain, rng_);
    return !active || woken;
  }

  Point changed(const std::vector<bool>& changes) {
    Point point = box_.centre;
    for (std::size_t i = 0; i < point.values.size(); ++i) {
      if (!settle(point, i) && changes[i]) point.values[i] = other_value(i, point.values[i]);
    }
    return point;
  }

  double other_value(std::size_t i, double old) {
    if (const auto dimension = features_.position(i)) {
      const auto [low, high] = interval(*dimension);
      return features_.value(i, rng_.uniform(low, high));
    }
    if (const auto* subset = std::get_if<Subset>(&space_.params[i].domain)) {
      return exchanged(*subset, static_cast<std::uint64_t>(old));
    }
    return sample(space_.params[i].domain, rng_);
  }

  // Exchanges one chosen candidate of the subset for one that is not chosen.
  double exchanged(const Subset& subset, std::uint64_t mask) {
    const std::size_t n = subset.candidates.size();
    if (subset.chosen == 0 || subset.chosen == n) return static_cast<double>(mask);
    const auto nth = [&](bool chosen, std::size_t k) {
      std::size_t bit = 0;
      while (((mask >> bit & 1) == 1) != chosen || k-- > 0) ++bit;
      return std::uint64_t{1} << bit;
    };
    const std::uint64_t out = nth(true, rng_.index(subset.chosen));
    const std::uint64_t in = nth(false, rng_.index(n - subset.chosen));
    return static_cast<double>((mask & ~out) | in);
  }

  // Visits the active categories in random order, and makes at most `most` evaluations.
  Point swept(Point at, int most) {
    std::vector<std::size_t> categories;
    for (std::size_t i = 0; i < space_.params.size(); ++i) {
      if (std::holds_alternative<Choice>(space_.params[i].domain) && !features_.position(i)) {
        categories.push_back(i);
      }
    }
    if (categories.empty()) return at;
    double value = valued({at}).front().value;
    for (std::size_t k = categories.size(); k > 0 && most > 0; --k) {
      std::swap(categories[k - 1], categories[rng_.index(k)]);
      const std::size_t i = categories[k - 1];
      if (!at.active(i)) continue;
      std::vector<Found> others = valued(with_others(at, i, most));
      most -= static_cast<int>(others.size());
      for (Found& other : others) {
        if (!(other.value > value)) continue;
        value = other.value;
        at = std::move(other.point);
      }
    }
    return at;
  }

  // `from` with the other values of choice i: all, or `most` random ones.
  std::vector<Point> with_others(const Point& from, std::size_t i, int most) {
    std::vector<double> values;
    const auto count = std::get<Choice>(space_.params[i].domain).candidates.size();
    for (std::size_t k = 0; k < count; ++k) {
      if (static_cast<double>(k) != from.values[i]) values.push_back(static_cast<double>(k));
    }
    std::vector<Point> all;
    for (std::size_t n = values.size(); n > 0 && std::ssize(all) < most; --n) {
      std::swap(values[n - 1], values[rng_.index(n)]);
      Point point = from;
      point.values[i] = values[n - 1];
      for (std::size_t k = i + 1; k < point.values.size(); ++k) settle(point, k);
      if (space_.feasible(point)) all.push_back(std::move(point));
    }
    return all;
  }

  std::vector<Found> valued(std::vector<Point> points) const {
    if (points.empty()) return {};
    const std::size_t d = features_.size();
    std::vector<double> rows(points.size() * d);
    for (std::size_t i = 0; i < points.size(); ++i) {
      features_.encode(points[i], std::span(rows).subspan(i * d, d));
    }
    const std::vector<double> values = acquisition_.values(rows);
    std::vector<Found> all;
    for (std::size_t i = 0; i < points.size(); ++i)
      all.push_back({std::move(points[i]), values[i]});
    return all;
  }

  // Climbs over the positions by the gradient, inside of the box. Levels are treated as continuous
  // and rounded at the end.
  Point ascended(const Point& from) const {
    std::vector<std::size_t> params, dimensions;
    Box box;
    std::vector<double> row = features_.encode(from), slope(row.size()), start;
    for (std::size_t i = 0; i < space_.params.size(); ++i) {
      const auto dimension = features_.position(i);
      if (!from.active(i) || !dimension) continue;
      const auto [low, high] = interval(*dimension);
      params.push_back(i);
      dimensions.push_back(*dimension);
      box.low.push_back(low);
      box.high.push_back(high);
      start.push_back(row[*dimension]);
    }
    if (params.empty()) return from;
    const auto value = [&](std::span<const double> x, std::span<double> gradient) {
      for (std::size_t k = 0; k < x.size(); ++k) row[dimensions[k]] = x[k];
      const double result = acquisition_.climb(row, slope);
      for (std::size_t k = 0; k < x.size(); ++k) gradient[k] = slope[dimensions[k]];
      return result;
    };
    const Maximum top = maximise(value, box, std::move(start), settings_.evaluations, 1e-4);
    Point moved = from;
    for (std::size_t k = 0; k < params.size(); ++k)
      moved.values[params[k]] = features_.value(params[k], top.x[k]);
    return moved;
  }

  const Space& space_;
  const Features& features_;
  const Acquisition& acquisition_;
  const SearchBox& box_;
  const BoxSearchSettings& settings_;
  Rng& rng_;
  std::vector<double> centre_;  // encoded
};

}  // namespace

std::vector<Found> search_box(const Space& space, const Features& features,
                              const Acquisition& acquisition, const SearchBox& box,
                              const BoxSearchSettings& settings, Rng& rng) {
  return BoxSearch(space, features, acquisition, box, settings, rng).run();
}

std::vector<double> box_sides(const Features& features, std::span<const double> log_weights,
                              double length) {
  const auto& dimensions = features.dimensions();
  double mean = 0, positions = 0;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i].categories > 0) continue;
    mean -= 0.5 * log_weights[i];
    ++positions;
  }
  mean /= std::max(positions, 1.0);
  std::vector<double> sides(dimensions.size());
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i].categories == 0) sides[i] = length * std::exp(-0.5 * log_weights[i] - mean);
  }
  return sides;
}

}  // namespace attune
