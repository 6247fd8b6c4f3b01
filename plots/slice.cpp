// The picture of what a model expects along parameters.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

constexpr double kDeviations = 2;
constexpr std::size_t kMostPanels = 12;

struct Bounds {
  std::vector<double> low, high;
};

Bounds bounds(const Slice::Panel& panel) {
  Bounds all;
  for (std::size_t k = 0; k < panel.mean.size(); ++k) {
    all.low.push_back(panel.mean[k] - kDeviations * panel.deviation[k]);
    all.high.push_back(panel.mean[k] + kDeviations * panel.deviation[k]);
  }
  return all;
}

Axis axis_of(const Column& column) {
  if (!column.names.empty()) return Axis::of_names(column.names);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double v : column.values) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  if (low > high) return Axis::around({}, column.scale);
  return Axis(low, high, column.scale);
}

void draw_panel(Canvas& canvas, const Box& box, const Slice::Panel& data, const Axis& y,
                std::string_view y_name) {
  const Panel panel(canvas, box, axis_of(data.parameter), y, data.parameter.name, y_name);
  const auto [low, high] = bounds(data);
  const std::vector<double>& xs = data.parameter.values;
  const Colour colour = series_colour(0);
  if (!panel.x().has_names()) {
    panel.band(xs, low, high, with_opacity(colour, 0.2));
    panel.dots(data.trials, data.results, 2, with_opacity(kFaint, 0.7));
    panel.line(xs, data.mean, {colour, 1.8});
  } else {
    panel.dots(data.trials, data.results, 2, with_opacity(kFaint, 0.7));
    for (std::size_t k = 0; k < xs.size(); ++k) {
      const double both[] = {xs[k], xs[k]}, ends[] = {low[k], high[k]};
      panel.line(both, ends, {with_opacity(colour, 0.4), 6});
    }
    panel.dots(xs, data.mean, 4, colour);
  }
  if (!std::isfinite(panel.x().place(data.at))) return;
  const double both[] = {data.at, data.at}, ends[] = {y.low(), y.high()};
  panel.line(both, ends, {series_colour(1), 1, true});
}

}  // namespace

Result<std::string> picture(const Slice& slice, const PageSettings& page) {
  if (slice.panels.empty() || slice.panels.size() > kMostPanels) {
    return fail("a picture of slices has 1 to 12 parameters");
  }
  std::vector<double> values;
  bool with_results = false, with_point = false;
  for (const Slice::Panel& panel : slice.panels) {
    ATTUNE_CHECK(panel.mean.size() == panel.parameter.values.size() &&
                 panel.deviation.size() == panel.mean.size() &&
                 panel.results.size() == panel.trials.size());
    const auto [low, high] = bounds(panel);
    for (const auto* all : {&low, &high, &panel.results}) {
      values.insert(values.end(), all->begin(), all->end());
    }
    with_results = with_results || !panel.results.empty();
    with_point = with_point || std::isfinite(panel.at);
  }
  Canvas canvas = TRY(Canvas::make(page, slice.title));
  const Colour colour = series_colour(0);
  using enum LegendEntry::Mark;
  std::vector<LegendEntry> legend = {{"expected", line, colour},
                                     {"two deviations", box, with_opacity(colour, 0.2)}};
  if (with_results) legend.push_back({"results of trials", dot, with_opacity(kFaint, 0.7)});
  if (with_point) legend.push_back({"the point", dashed, series_colour(1)});
  const Box rest = draw_heading(canvas, slice.title, legend);
  const Axis y = result_axis(values, slice.objective.maximise, Scale::linear).axis;
  const std::vector<Box> boxes = divided(rest, slice.panels.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const bool first = boxes[k].left == rest.left;
    const std::string name = objective_text(slice.objective.name, slice.objective.maximise);
    draw_panel(canvas, boxes[k], slice.panels[k], y, first ? name : "");
  }
  return canvas.finish();
}

}  // namespace attune::plots
