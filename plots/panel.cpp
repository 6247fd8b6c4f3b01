#include "plots/panel.h"

#include <algorithm>
#include <cmath>

#include "plots/label.h"

namespace attune::plots {
namespace {

constexpr double kEdge = 12;  // of the page
constexpr double kTickLength = 4;
constexpr double kRow = 16;  // of text
constexpr double kSwatch = 14;
constexpr double kWidestTick = 110;

void draw_swatch(Canvas& canvas, double x, double y, const LegendEntry& entry) {
  const Place ends[] = {{x, y}, {x + kSwatch, y}};
  const Place middle = {x + kSwatch / 2, y};
  switch (entry.mark) {
    case LegendEntry::Mark::dot:
      return canvas.dots({&middle, 1}, 3, entry.colour);
    case LegendEntry::Mark::line:
    case LegendEntry::Mark::dashed:
      return canvas.line(ends, {entry.colour, 2, entry.mark == LegendEntry::Mark::dashed});
    case LegendEntry::Mark::box:
      return canvas.rectangle({x, y - 4, kSwatch, 8}, entry.colour);
  }
}

// Whether ticks of this width, evenly spaced over a length, leave room between each other.
bool fit(Canvas& canvas, const Axis& axis, const std::vector<Tick>& ticks, double length) {
  double end = -HUGE_VAL;
  for (const Tick& tick : ticks) {
    const double width = std::min(canvas.text_width(tick.text, kTickStyle), kWidestTick);
    const double middle = axis.place(tick.value) * length;
    if (middle - width / 2 < end + 6) return false;
    end = middle + width / 2;
  }
  return true;
}

}  // namespace

Box draw_heading(Canvas& canvas, std::string_view title, std::span<const LegendEntry> legend,
                 std::string_view note) {
  Box rest = canvas.page();
  rest.left += kEdge;
  rest.top += kEdge;
  rest.width -= 2 * kEdge;
  rest.height -= 2 * kEdge;
  const auto use = [&](double height) {
    rest.top += height;
    rest.height -= height;
  };
  if (!title.empty()) {
    canvas.text({rest.left, rest.top + 8}, canvas.fitted(title, rest.width, kTitleStyle),
                kTitleStyle);
    use(24);
  }
  if (!legend.empty()) {
    double x = rest.left;
    for (const LegendEntry& entry : legend) {
      const std::string name = canvas.fitted(entry.name, rest.width / 3, kNameStyle);
      const double width = kSwatch + 5 + canvas.text_width(name, kNameStyle);
      if (x + width > rest.right()) break;
      draw_swatch(canvas, x, rest.top + 6, entry);
      canvas.text({x + kSwatch + 5, rest.top + 6}, name, kNameStyle);
      x += width + 16;
    }
    use(22);
  }
  if (!note.empty()) {
    TextStyle style = kNoteStyle;
    style.across = 1;
    canvas.text({rest.right(), rest.bottom() - 3}, canvas.fitted(note, rest.width, style), style);
    rest.height -= 14;
  }
  return rest;
}

std::vector<Box> divided(const Box& box, std::size_t count) {
  // Panels of about 3 : 2, in as many columns as that takes.
  std::size_t columns = 1;
  const auto rows_of = [&](std::size_t c) { return (count + c - 1) / c; };
  const auto misfit = [&](std::size_t c) {
    const double width = box.width / static_cast<double>(c);
    const double height = box.height / static_cast<double>(rows_of(c));
    return std::abs(std::log(width / height / 1.5));
  };
  for (std::size_t c = 2; c <= count; ++c) {
    if (misfit(c) < misfit(columns)) columns = c;
  }
  const double width = box.width / static_cast<double>(columns);
  const double height = box.height / static_cast<double>(rows_of(columns));
  std::vector<Box> boxes;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t row = k / columns, column = k % columns;
    boxes.push_back({box.left + static_cast<double>(column) * width,
                     box.top + static_cast<double>(row) * height, width, height});
  }
  return boxes;
}

Panel::Panel(Canvas& canvas, const Box& outer, Axis x, Axis y, std::string_view x_name,
             std::string_view y_name)
    : canvas_(&canvas), x_(std::move(x)), y_(std::move(y)) {
  const double bottom = kRow + kTickLength + (x_name.empty() ? 0 : kRow);
  box_.top = outer.top + 6;
  box_.height = std::max(outer.height - bottom - 6, 1.0);
  const auto most = static_cast<std::size_t>(std::clamp(box_.height / 28, 2.0, 60.0));
  std::vector<Tick> ticks = y_.ticks(most);
  double widest = 0;
  for (Tick& tick : ticks) {
    const double most_width = y_.has_names() ? outer.width / 3 : kWidestTick;
    tick.text = canvas.fitted(tick.text, std::min(most_width, outer.width / 3), kTickStyle);
    widest = std::max(widest, canvas.text_width(tick.text, kTickStyle));
  }
  const double left = widest + kTickLength + 4 + (y_name.empty() ? 0 : kRow);
  box_.left = outer.left + left;
  box_.width = std::max(outer.width - left - 8, 1.0);
  draw_y(outer, ticks, y_name);
  draw_x(outer, x_name);
  canvas.frame(box_, {.colour = kBorder, .width = 1});
}

void Panel::draw_x(const Box& outer, std::string_view name) const {
  auto most = static_cast<std::size_t>(std::clamp(box_.width / 40, 2.0, 60.0));
  std::vector<Tick> ticks = x_.ticks(most);
  while (most > 2 && !fit(*canvas_, x_, ticks, box_.width)) ticks = x_.ticks(--most);
  TextStyle style = kTickStyle;
  style.across = 0.5;
  style.up = 1;
  const double widest = box_.width / static_cast<double>(std::max<std::size_t>(ticks.size(), 1));
  for (const Tick& tick : ticks) {
    const double x = box_.left + box_.width * x_.place(tick.value);
    const Place grid[] = {{x, box_.top}, {x, box_.bottom()}};
    if (!x_.has_names()) canvas_->line(grid, {.colour = kGrid, .width = 0.8});
    const Place mark[] = {{x, box_.bottom()}, {x, box_.bottom() + kTickLength}};
    canvas_->line(mark, {.colour = kBorder, .width = 1});
    canvas_->text({x, box_.bottom() + kTickLength + 4}, canvas_->fitted(tick.text, widest, style),
                  style);
  }
  style = kNameStyle;
  style.across = 0.5;
  style.up = 0;
  canvas_->text({box_.centre().x, outer.bottom() - 4}, canvas_->fitted(name, box_.width, style),
                style);
}

void Panel::draw_y(const Box& outer, const std::vector<Tick>& ticks, std::string_view name) const {
  TextStyle style = kTickStyle;
  style.across = 1;
  for (const Tick& tick : ticks) {
    const double y = box_.bottom() - box_.height * y_.place(tick.value);
    const Place grid[] = {{box_.left, y}, {box_.right(), y}};
    if (!y_.has_names()) canvas_->line(grid, {.colour = kGrid, .width = 0.8});
    const Place mark[] = {{box_.left - kTickLength, y}, {box_.left, y}};
    canvas_->line(mark, {.colour = kBorder, .width = 1});
    canvas_->text({box_.left - kTickLength - 3, y}, tick.text, style);
  }
  style = kNameStyle;
  style.across = 0.5;
  style.upright = true;
  style.up = 1;
  canvas_->text({outer.left + 1, box_.centre().y}, canvas_->fitted(name, box_.height, style),
                style);
}

Place Panel::at(double x, double y) const {
  return {box_.left + box_.width * x_.place(x), box_.bottom() - box_.height * y_.place(y)};
}

void Panel::dots(std::span<const double> xs, std::span<const double> ys, double radius,
                 Colour colour) const {
  std::vector<Place> places;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const Place place = at(xs[k], ys[k]);
    if (has_place(place)) places.push_back(place);
  }
  if (places.size() <= kMostMarks) {
    return canvas_->clipped(box_, [&] { canvas_->dots(places, radius, colour); });
  }
  // One by one, so that many at one place are darker.
  const double area = box_.width * box_.height;
  const double overlaps = static_cast<double>(places.size()) * 3 / std::max(area, 1.0);
  const Colour lighter = with_opacity(colour, std::clamp(0.5 / (1 + overlaps), 0.04, 0.5));
  canvas_->as_image(box_, [&] {
    for (const Place& place : places) canvas_->dots({&place, 1}, std::min(radius, 1.5), lighter);
  });
}

void Panel::line(std::span<const double> xs, std::span<const double> ys,
                 const Stroke& stroke) const {
  canvas_->clipped(box_, [&] {
    std::vector<Place> places;
    for (std::size_t k = 0; k <= xs.size(); ++k) {
      const Place place = k < xs.size() ? at(xs[k], ys[k]) : Place{NAN, NAN};
      if (has_place(place)) {
        places.push_back(place);
        continue;
      }
      canvas_->line(places, stroke);
      if (places.size() == 1) canvas_->dots(places, stroke.width, stroke.colour);
      places.clear();
    }
  });
}

void Panel::band(std::span<const double> xs, std::span<const double> low,
                 std::span<const double> high, Colour colour) const {
  std::vector<Place> there, back;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const Place a = at(xs[k], low[k]), b = at(xs[k], high[k]);
    if (!has_place(b)) continue;
    back.push_back(b);
    // Below a logarithmic axis there is no place, and the band has to end somewhere.
    there.push_back(has_place(a) ? a : Place{b.x, box_.bottom()});
  }
  there.insert(there.end(), back.rbegin(), back.rend());
  canvas_->clipped(box_, [&] { canvas_->area(there, colour); });
}

bool has_place(const Place& place) { return std::isfinite(place.x) && std::isfinite(place.y); }

std::string objective_text(std::string_view name, bool maximise) {
  return label(name, 50) + (maximise ? " (higher is better)" : " (lower is better)");
}

ResultAxis result_axis(std::span<const double> results, bool maximise, Scale scale) {
  std::vector<double> sorted;
  for (const double r : results) {
    if (std::isfinite(r)) sorted.push_back(maximise ? -r : r);
  }
  std::ranges::sort(sorted);
  if (sorted.size() < 4 || scale == Scale::logarithmic) {
    return {.axis = Axis::around(results, scale)};
  }
  const auto quartile = [&](std::size_t k) { return sorted[k * (sorted.size() - 1) / 4]; };
  const double spread = quartile(3) - quartile(1);
  const double most = spread > 0 ? quartile(2) + 5 * spread : HUGE_VAL;
  const auto within = std::ranges::upper_bound(sorted, most) - sorted.begin();
  const std::size_t beyond = sorted.size() - static_cast<std::size_t>(within);
  sorted.resize(static_cast<std::size_t>(within));
  for (double& r : sorted) r = maximise ? -r : r;
  return {.axis = Axis::around(sorted), .beyond = beyond};
}

}  // namespace attune::plots
