#pragma once
// Pixels of a PNG, and what stands in an SVG.
#include <string>
#include <string_view>
#include <vector>

#include "plots/canvas.h"

namespace attune::plots {

struct Image {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;

  Colour at(double x, double y) const;  // of a pixel
  bool near(double x, double y, Colour colour, double tolerance = 0.03) const;
  // The smallest box of pixels of a colour, in units of `scale` pixels. Without any its width is 0.
  Box box_of(Colour colour, double scale, double tolerance = 0.03) const;
  std::size_t count(Colour colour, double tolerance = 0.03) const;
};

Image image_of(const std::string& png);

std::size_t occurrences(std::string_view text, std::string_view part);
// The text of the element <desc>, line after line, as it is written.
std::vector<std::string> texts_of(const std::string& svg);
bool has_text(const std::string& svg, std::string_view text);

}  // namespace attune::plots
