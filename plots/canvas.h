#pragma once
// What pictures are drawn on: a page in an SVG or a PNG file. The only user of cairo.
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "plots/colour.h"

namespace attune::plots {

enum class Format { svg, png };

// Lengths are in units of which CSS and SVG have 96 to the inch ("px"); y points down.
struct Place {
  double x = 0, y = 0;
};
struct Box {
  double left = 0, top = 0, width = 0, height = 0;
  double right() const { return left + width; }
  double bottom() const { return top + height; }
  Place centre() const { return {left + width / 2, top + height / 2}; }
};

struct PageSettings {
  Format format = Format::svg;
  double width = 720, height = 450;  // 100 to 10000
  double pixels = 2;                 // PNG: of each unit, 0.5 to 8; at most 50 million in all
};

struct Stroke {
  Colour colour = kInk;
  double width = 1;
  bool dashed = false;
};

struct TextStyle {
  double size = 11;  // height of the font
  Colour colour = kInk;
  bool bold = false;
  double across = 0, up = 0.5;  // which point of the text lies at the place: 0 left or bottom, 1
                                // right or top
  bool upright = false;         // turned, to be read from the right
};

// Not thread safe; different canvases are independent. Coordinates must be finite; far outside of
// the page they are clipped. Equal calls give equal PNGs with equal fonts and version of cairo, and
// equal SVGs but for the numbers of cairo's ids.
class Canvas {
 public:
  // A white page. `title`: what the picture shows, for those who cannot see it; any text. The error
  // says which size is not possible.
  static Result<Canvas> make(const PageSettings& settings, std::string_view title);
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  Canvas(Canvas&&) noexcept;
  Canvas& operator=(Canvas&&) noexcept;
  ~Canvas();

  Box page() const;

  void line(std::span<const Place> places, const Stroke& stroke);  // open; of 2 places or more
  void area(std::span<const Place> places, Colour colour);         // closed; of 3 or more
  void rectangle(const Box& box, Colour colour);
  void frame(const Box& box, const Stroke& stroke);
  // Discs, as one mark: where they overlap a colour that is not opaque does not add up.
  void dots(std::span<const Place> places, double radius, Colour colour);
  void ring(Place place, double radius, const Stroke& stroke);
  // columns x rows cells, row by row from the top. Smooth: colours in between are interpolated.
  void cells(const Box& box, std::size_t columns, std::span<const Colour> colours, bool smooth);

  // Any text: label() is applied. Width in units, without turning.
  void text(Place place, std::string_view text, const TextStyle& style = {});
  double text_width(std::string_view text, const TextStyle& style = {});
  // label(text), cut to the width at its end.
  std::string fitted(std::string_view text, double width, const TextStyle& style = {});

  // Nothing is drawn outside of the box until `draw` returns.
  void clipped(const Box& box, const std::function<void()>& draw);
  // The same, and an SVG gets an image of what is drawn: for thousands of marks. The image has
  // colours of 4 bits, and over a whole page 350,000 pixels, which takes less than 1 MB. It holds
  // no text.
  void as_image(const Box& box, const std::function<void()>& draw);

  // The bytes of the file. In an SVG letters are drawn as shapes, which look the same everywhere,
  // and its <desc> has the texts. Ends the canvas.
  Result<std::string> finish();

 private:
  struct Impl;
  explicit Canvas(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune::plots
