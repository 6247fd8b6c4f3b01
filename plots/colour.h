#pragma once
// The colours of pictures, on a white page.
#include <cstddef>

namespace attune::plots {

// Each in [0, 1].
struct Colour {
  double red = 0, green = 0, blue = 0, opacity = 1;
  bool operator==(const Colour&) const = default;
};

inline constexpr Colour kInk = {0.13, 0.13, 0.13};    // text
inline constexpr Colour kFaint = {0.40, 0.40, 0.40};  // ticks, notes
inline constexpr Colour kGrid = {0.90, 0.90, 0.90};
inline constexpr Colour kBorder = {0.60, 0.60, 0.60};
inline constexpr Colour kMuted = {0.66, 0.66, 0.66};  // marks that matter less
inline constexpr Colour kPaper = {1, 1, 1};

// Colours for categories that people with any colour vision tell apart: Okabe, Ito, "Color
// Universal Design" (2008), without black and yellow, which text and paper leave no room for. There
// are kSeriesColours; after those they repeat.
inline constexpr std::size_t kSeriesColours = 6;
Colour series_colour(std::size_t index);

// From dark blue over grey to yellow, for amounts from 0 to 1; others, and NaN, count as the
// nearest end. Lightness increases evenly, so that it can also be read in grey. Blue and yellow
// differ for who does not tell red from green.
Colour graded_colour(double part);

Colour with_opacity(Colour colour, double opacity);

}  // namespace attune::plots
