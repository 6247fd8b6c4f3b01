#include "plots/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attune::plots {

Colour series_colour(std::size_t index) {
  static constexpr std::array<Colour, kSeriesColours> kColours = {{
      {0.000, 0.447, 0.698},  // blue
      {0.835, 0.369, 0.000},  // vermilion
      {0.000, 0.620, 0.451},  // bluish green
      {0.800, 0.475, 0.655},  // reddish purple
      {0.902, 0.624, 0.000},  // orange
      {0.337, 0.706, 0.914},  // sky blue
  }};
  return kColours[index % kColours.size()];
}

Colour graded_colour(double part) {
  static constexpr std::array<Colour, 3> kStops = {
      {{0.04, 0.14, 0.38}, {0.49, 0.49, 0.47}, {0.99, 0.90, 0.28}}};
  const double place = part > 0 ? std::min(part, 1.0) * (kStops.size() - 1) : 0;
  const auto below = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double share = place - static_cast<double>(below);
  const Colour &a = kStops[below], &b = kStops[below + 1];
  return {std::lerp(a.red, b.red, share), std::lerp(a.green, b.green, share),
          std::lerp(a.blue, b.blue, share), 1};
}

Colour with_opacity(Colour colour, double opacity) {
  colour.opacity = opacity;
  return colour;
}

}  // namespace attune::plots
