#include "plots/isolines.h"

#include <array>
#include <cmath>

namespace attune::plots {

std::vector<std::pair<Place, Place>> isolines(std::span<const double> xs,
                                              std::span<const double> ys,
                                              std::span<const double> values, double level) {
  std::vector<std::pair<Place, Place>> pieces;
  for (std::size_t j = 0; j + 1 < ys.size(); ++j) {
    for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
      // Around the cell.
      const std::array<Place, 4> corners = {
          {{xs[i], ys[j]}, {xs[i + 1], ys[j]}, {xs[i + 1], ys[j + 1]}, {xs[i], ys[j + 1]}}};
      const std::size_t at = j * xs.size() + i;
      const std::array<double, 4> heights = {values[at], values[at + 1], values[at + xs.size() + 1],
                                             values[at + xs.size()]};
      double mean = 0;
      for (const double height : heights) mean += height / 4;
      if (!std::isfinite(mean)) continue;
      std::vector<Place> crossings;  // of the edges, in their order around the cell
      for (std::size_t e = 0; e < 4; ++e) {
        const double a = heights[e], b = heights[(e + 1) % 4];
        if ((a > level) == (b > level)) continue;
        const double share = (level - a) / (b - a);
        const Place &from = corners[e], &to = corners[(e + 1) % 4];
        crossings.push_back({std::lerp(from.x, to.x, share), std::lerp(from.y, to.y, share)});
      }
      if (crossings.size() == 2) pieces.emplace_back(crossings[0], crossings[1]);
      if (crossings.size() != 4) continue;
      // Lines cut off the corners 1 and 3, or 0 and 2: those on the other side than the middle.
      const bool odd = (heights[0] > level) == (mean > level);
      pieces.emplace_back(crossings[0], crossings[odd ? 1 : 3]);
      pieces.emplace_back(crossings[2], crossings[odd ? 3 : 1]);
    }
  }
  return pieces;
}

}  // namespace attune::plots
