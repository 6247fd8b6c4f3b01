#pragma once
// What most pictures consist of: a title, a legend, and panels with two axes.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plots/axis.h"
#include "plots/canvas.h"

namespace attune::plots {

inline constexpr std::size_t kMostMarks = 5000;  // more are drawn as an image

inline constexpr TextStyle kTitleStyle = {.size = 14, .bold = true};
inline constexpr TextStyle kNameStyle = {.size = 11};
inline constexpr TextStyle kTickStyle = {.size = 10, .colour = kFaint};
inline constexpr TextStyle kNoteStyle = {.size = 9, .colour = kFaint};

struct LegendEntry {
  std::string name;
  enum class Mark { dot, line, dashed, box } mark = Mark::dot;
  Colour colour;
};

// Draws the title, below it the legend in one line (entries that have no room are left out) and a
// note at the bottom. Returns the box that remains for panels.
Box draw_heading(Canvas& canvas, std::string_view title, std::span<const LegendEntry> legend,
                 std::string_view note = "");

// Divides a box evenly, row by row, into as many boxes of nearly the width and height of each
// other.
std::vector<Box> divided(const Box& box, std::size_t count);

// A value. Valid as long as its canvas.
class Panel {
 public:
  // Draws frame, grid, ticks and names of the axes into `outer`.
  Panel(Canvas& canvas, const Box& outer, Axis x, Axis y, std::string_view x_name,
        std::string_view y_name);

  const Box& box() const { return box_; }
  const Axis& x() const { return x_; }
  const Axis& y() const { return y_; }

  // Where values lie on the page; NaN for what has no place.
  Place at(double x, double y) const;

  // Draw what has a place, clipped to the panel. Lines are broken where there is none.
  void dots(std::span<const double> xs, std::span<const double> ys, double radius,
            Colour colour) const;
  void line(std::span<const double> xs, std::span<const double> ys, const Stroke& stroke) const;
  void band(std::span<const double> xs, std::span<const double> low, std::span<const double> high,
            Colour colour) const;

 private:
  void draw_x(const Box& outer, std::string_view name) const;
  void draw_y(const Box& outer, const std::vector<Tick>& ticks, std::string_view name) const;

  Canvas* canvas_;
  Axis x_, y_;
  Box box_;
};

bool has_place(const Place& place);

// "NAME (lower is better)".
std::string objective_text(std::string_view name, bool maximise);

// An axis around results of which the worse ones may lie anywhere: it ends where they are worse
// than the median by more than five distances between the quartiles. `beyond`: how many are worse.
struct ResultAxis {
  Axis axis;
  std::size_t beyond = 0;
};
ResultAxis result_axis(std::span<const double> results, bool maximise, Scale scale);

}  // namespace attune::plots
