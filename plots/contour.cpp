// The picture of what a model expects over two parameters.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/isolines.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

constexpr std::size_t kCells = 160;  // of an axis of numbers
constexpr std::size_t kLevels = 8;
constexpr double kKeyWidth = 90;

// One side of the grid: where its values lie on their axis.
class Side {
 public:
  explicit Side(const Column& column)
      : axis_(!column.names.empty()
                  ? Axis::of_names(column.names)
                  : Axis(column.values.front(), column.values.back(), column.scale)) {
    for (const double v : column.values) places_.push_back(axis_.place(v));
  }
  const Axis& axis() const { return axis_; }
  const std::vector<double>& places() const { return places_; }

  // The index before a place, and how far it is to the next one; the nearest index for names.
  std::pair<std::size_t, double> index(double place) const {
    const auto next = std::ranges::upper_bound(places_, place) - places_.begin();
    const auto i = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(next - 1, 0, static_cast<std::ptrdiff_t>(places_.size()) - 2));
    const double share = std::clamp((place - places_[i]) / (places_[i + 1] - places_[i]), 0.0, 1.0);
    return {i, axis_.has_names() ? std::round(share) : share};
  }

 private:
  Axis axis_;
  std::vector<double> places_;
};

double value_at(const Contour& contour, const Side& x, const Side& y, double across, double up) {
  const auto column = x.index(across), row = y.index(up);
  const auto along = [&](std::size_t j) {
    const std::size_t left = j * contour.x.values.size() + column.first;
    return std::lerp(contour.mean[left], contour.mean[left + 1], column.second);
  };
  return std::lerp(along(row.first), along(row.first + 1), row.second);
}

// The scale of colours, at the right of the panel.
void draw_key(Canvas& canvas, const Box& panel, const Axis& values, const std::string& name) {
  const Box key = {panel.right() + 16, panel.top, 14, panel.height};
  std::vector<Colour> colours;
  for (int k = 0; k < 128; ++k) colours.push_back(graded_colour(1 - k / 127.0));
  canvas.cells(key, 1, colours, true);
  canvas.frame(key, {.colour = kBorder});
  for (const Tick& tick : values.ticks(kLevels)) {
    const double y = key.bottom() - key.height * values.place(tick.value);
    canvas.text({key.right() + 5, y}, canvas.fitted(tick.text, 44, kTickStyle), kTickStyle);
  }
  TextStyle style = kNameStyle;
  style.across = 0.5;
  style.upright = true;
  style.up = 0;
  canvas.text({key.right() + kKeyWidth - 34, key.centre().y},
              canvas.fitted(name, key.height, style), style);
}

void draw_levels(Canvas& canvas, const Panel& panel, const Contour& contour, const Side& x,
                 const Side& y, const Axis& values) {
  canvas.clipped(panel.box(), [&] {
    for (const Tick& tick : values.ticks(kLevels)) {
      for (const auto& [a, b] : isolines(x.places(), y.places(), contour.mean, tick.value)) {
        const auto place = [&](const Place& p) {
          return Place{panel.box().left + panel.box().width * p.x,
                       panel.box().bottom() - panel.box().height * p.y};
        };
        const Place piece[] = {place(a), place(b)};
        canvas.line(piece, {with_opacity(kPaper, 0.7), 0.8});
      }
    }
  });
}

}  // namespace

Result<std::string> picture(const Contour& contour, const PageSettings& page) {
  const std::size_t columns = contour.x.values.size(), rows = contour.y.values.size();
  ATTUNE_CHECK(columns >= 2 && rows >= 2 && contour.mean.size() == columns * rows &&
               contour.trials_x.size() == contour.trials_y.size());
  Canvas canvas = TRY(Canvas::make(page, contour.title));
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double mean : contour.mean) {
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  const Axis values = low <= high ? Axis(low, high) : Axis(0, 1);
  const Side x(contour.x), y(contour.y);
  using enum LegendEntry::Mark;
  std::vector<LegendEntry> legend;
  if (!contour.trials_x.empty()) legend.push_back({"trials", dot, kPaper});
  const bool with_best = std::isfinite(contour.best.x) && std::isfinite(contour.best.y);
  if (with_best) legend.push_back({"best", dot, series_colour(1)});
  if (!legend.empty() && legend.front().colour == kPaper) legend.front().colour = kMuted;
  Box rest = draw_heading(canvas, contour.title, legend);
  rest.width -= kKeyWidth;
  const Panel panel(canvas, rest, x.axis(), y.axis(), contour.x.name, contour.y.name);
  std::vector<Colour> colours;
  for (std::size_t j = 0; j < kCells; ++j) {
    const double up = 1 - (static_cast<double>(j) + 0.5) / kCells;
    for (std::size_t i = 0; i < kCells; ++i) {
      const double mean = value_at(contour, x, y, (static_cast<double>(i) + 0.5) / kCells, up);
      colours.push_back(std::isfinite(mean) ? graded_colour(values.place(mean)) : kMuted);
    }
  }
  const bool names = x.axis().has_names() || y.axis().has_names();
  canvas.cells(panel.box(), kCells, colours, !names);
  if (!names) draw_levels(canvas, panel, contour, x, y, values);
  // A dark rim, but around too many, which are an image, it would be a second image.
  if (contour.trials_x.size() <= kMostMarks) {
    panel.dots(contour.trials_x, contour.trials_y, 2.6, kInk);
  }
  panel.dots(contour.trials_x, contour.trials_y, 1.8, kPaper);
  if (with_best) {
    const double bx[] = {contour.best.x}, by[] = {contour.best.y};
    panel.dots(bx, by, 6, kPaper);
    panel.dots(bx, by, 4.5, series_colour(1));
  }
  canvas.frame(panel.box(), {.colour = kBorder});
  draw_key(canvas, panel.box(), values,
           objective_text(contour.objective.name, contour.objective.maximise));
  return canvas.finish();
}

}  // namespace attune::plots
