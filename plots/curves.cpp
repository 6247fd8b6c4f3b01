// The picture of learning curves.
#include <algorithm>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {

Result<std::string> picture(const Curves& curves, const PageSettings& page) {
  Canvas canvas = TRY(Canvas::make(page, curves.title));
  std::vector<double> steps = curves.band.steps, values;
  for (const auto* all : {&curves.band.low, &curves.band.middle, &curves.band.high}) {
    ATTUNE_CHECK(all->size() == steps.size());
    values.insert(values.end(), all->begin(), all->end());
  }
  std::size_t marks = 0;
  for (const auto* all : {&curves.others, &curves.best}) {
    for (const Curve& curve : *all) {
      ATTUNE_CHECK(curve.steps.size() == curve.values.size());
      steps.insert(steps.end(), curve.steps.begin(), curve.steps.end());
      values.insert(values.end(), curve.values.begin(), curve.values.end());
      if (all == &curves.others) marks += curve.steps.size();
    }
  }
  std::vector<LegendEntry> legend;
  using enum LegendEntry::Mark;
  const std::size_t named = std::min(curves.best.size(), kSeriesColours);
  for (std::size_t k = 0; k < named; ++k) {
    legend.push_back({curves.best[k].name, line, series_colour(k)});
  }
  const Colour shade = with_opacity(kMuted, 0.35);
  if (!curves.band.steps.empty()) legend.push_back({"half of all", box, shade});
  if (!curves.others.empty()) legend.push_back({"others", line, kMuted});
  const Box rest =
      draw_heading(canvas, curves.title, legend, values.empty() ? "no results yet" : "");
  const ResultAxis y = result_axis(values, curves.objective.maximise, curves.scale);
  const Panel panel(canvas, rest, Axis::around(steps), y.axis, curves.step_name,
                    objective_text(curves.objective.name, curves.objective.maximise));
  const auto draw_others = [&] {
    const bool many = marks > kMostMarks;
    const Stroke stroke = {with_opacity(kMuted, many ? 0.35 : 0.8), many ? 0.6 : 0.9};
    for (const Curve& curve : curves.others) panel.line(curve.steps, curve.values, stroke);
  };
  if (marks > kMostMarks) {
    canvas.as_image(panel.box(), draw_others);
  } else {
    draw_others();
  }
  panel.band(curves.band.steps, curves.band.low, curves.band.high, shade);
  panel.line(curves.band.steps, curves.band.middle, {kFaint, 1.2, true});
  std::size_t best_marks = 0;
  for (std::size_t k = 0; k < named; ++k) best_marks += curves.best[k].steps.size();
  const auto draw_best = [&] {
    // The first is the best, and lies on top.
    for (std::size_t k = named; k-- > 0;) {
      panel.line(curves.best[k].steps, curves.best[k].values, {series_colour(k), 1.6});
    }
  };
  if (best_marks > 4 * kMostMarks) {
    canvas.as_image(panel.box(), draw_best);
  } else {
    draw_best();
  }
  return canvas.finish();
}

}  // namespace attune::plots
