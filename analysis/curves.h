#pragma once
// Learning curves for a picture: fewer points of one, and the band in which many lie.
#include <cstddef>
#include <span>
#include <vector>

namespace attune {

struct PlotPoint {
  double x = 0, y = 0;
  bool operator==(const PlotPoint&) const = default;
};

// At most `most` >= 3 of the points, among them the first and the last; all if they are not more.
// x ascends and is finite. Points whose y is NaN or infinite are left out first.
//
// Largest triangle three buckets: Steinarsson, "Downsampling Time Series for Visual Representation"
// (University of Iceland 2013), section 4.2. The points between the ends are divided into buckets,
// and each keeps the point that makes the largest triangle with the one kept before it and the mean
// of the next bucket. So peaks stay. O(points).
std::vector<PlotPoint> thinned(std::span<const PlotPoint> curve, std::size_t most);

// Of the curves that have begun and not ended at x: quantiles of their newest y up to x.
struct BandPoint {
  double x = 0;
  double low = 0, middle = 0, high = 0;
  std::size_t curves = 0;  // at least 1
};

struct BandShares {
  double low = 0.25, high = 0.75;  // 0 <= low <= 0.5 <= high <= 1
};

// The band at `most` >= 2 places, evenly spread from the smallest x of all curves to the largest
// (at one place if they are equal). A place at which no curve runs is left out. Requirements for
// each curve, and what is left out of it, as above. Quantiles as in math/percentile.h. With n
// points and c curves O(n + most c log c).
std::vector<BandPoint> band(std::span<const std::vector<PlotPoint>> curves, std::size_t most,
                            const BandShares& shares = {});

}  // namespace attune
