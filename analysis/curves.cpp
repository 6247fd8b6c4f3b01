#include "analysis/curves.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "math/percentile.h"

namespace attune {
namespace {

using Curve = std::vector<PlotPoint>;

Curve finite(std::span<const PlotPoint> curve) {
  Curve all;
  for (const PlotPoint& point : curve) {
    if (std::isfinite(point.y)) all.push_back(point);
  }
  return all;
}

PlotPoint mean_of(std::span<const PlotPoint> points) {
  PlotPoint mean;
  const auto n = static_cast<double>(points.size());
  for (const PlotPoint& point : points) {
    mean.x += point.x / n;
    mean.y += point.y / n;
  }
  return mean;
}

// Twice the area, of coordinates of any magnitude: each is divided before differences are taken.
double triangle(const PlotPoint& a, const PlotPoint& b, const PlotPoint& c, double height) {
  const double ab = b.y / height - a.y / height, ac = c.y / height - a.y / height;
  return std::abs((b.x - a.x) * ac - (c.x - a.x) * ab);
}

double value_at(const std::vector<double>& ascending, double share) {
  return percentile(ascending.size(), 100 * share, [&](std::size_t i) { return ascending[i]; });
}

}  // namespace

std::vector<PlotPoint> thinned(std::span<const PlotPoint> curve, std::size_t most) {
  ATTUNE_CHECK(most >= 3);
  Curve all = finite(curve);
  if (all.size() <= most) return all;
  double height = 1;
  for (const PlotPoint& point : all) height = std::max(height, std::abs(point.y));
  const std::size_t buckets = most - 2, inner = all.size() - 2;
  const auto begin = [&](std::size_t bucket) { return 1 + bucket * inner / buckets; };
  Curve kept = {all.front()};
  for (std::size_t k = 0; k < buckets; ++k) {
    const std::size_t end = begin(k + 1);
    const std::size_t next_end = k + 1 < buckets ? begin(k + 2) : all.size();
    const PlotPoint next = mean_of(std::span(all).subspan(end, next_end - end));
    std::size_t best = begin(k);
    double largest = -1;
    for (std::size_t i = best; i < end; ++i) {
      const double area = triangle(kept.back(), all[i], next, height);
      if (area <= largest) continue;
      largest = area;
      best = i;
    }
    kept.push_back(all[best]);
  }
  kept.push_back(all.back());
  return kept;
}

std::vector<BandPoint> band(std::span<const std::vector<PlotPoint>> curves, std::size_t most,
                            const BandShares& shares) {
  ATTUNE_CHECK(most >= 2);
  ATTUNE_CHECK(0 <= shares.low && shares.low <= 0.5 && 0.5 <= shares.high && shares.high <= 1);
  std::vector<Curve> all;
  for (const Curve& curve : curves) {
    if (Curve points = finite(curve); !points.empty()) all.push_back(std::move(points));
  }
  if (all.empty()) return {};
  double from = all.front().front().x, to = all.front().back().x;
  for (const Curve& curve : all) {
    from = std::min(from, curve.front().x);
    to = std::max(to, curve.back().x);
  }
  std::vector<std::size_t> next(all.size(), 0);  // the first point of each curve behind the place
  std::vector<BandPoint> found;
  std::vector<double> values;
  const std::size_t places = from < to ? most : 1;
  for (std::size_t k = 0; k < places; ++k) {
    const double part = places > 1 ? static_cast<double>(k) / static_cast<double>(places - 1) : 0;
    const double x = k + 1 == places ? to : from * (1 - part) + to * part;
    values.clear();
    for (std::size_t c = 0; c < all.size(); ++c) {
      const Curve& curve = all[c];
      while (next[c] < curve.size() && curve[next[c]].x <= x) ++next[c];
      if (next[c] > 0 && x <= curve.back().x) values.push_back(curve[next[c] - 1].y);
    }
    if (values.empty()) continue;
    std::ranges::sort(values);
    found.push_back({.x = x,
                     .low = value_at(values, shares.low),
                     .middle = value_at(values, 0.5),
                     .high = value_at(values, shares.high),
                     .curves = values.size()});
  }
  return found;
}

}  // namespace attune
