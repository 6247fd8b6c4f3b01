// The picture of when which trial ran where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

struct Unit {
  const char* name;
  double seconds;
};

Unit unit_of(double seconds) {
  if (seconds < 300) return {"seconds", 1};
  if (seconds < 3 * 3600) return {"minutes", 60};
  if (seconds < 3 * 86400) return {"hours", 3600};
  return {"days", 86400};
}

}  // namespace

Result<std::string> picture(const Timeline& timeline, const PageSettings& page) {
  const std::size_t n = timeline.started.size();
  ATTUNE_CHECK(timeline.ended.size() == n && timeline.lanes.size() == n &&
               timeline.states.size() == n);
  Canvas canvas = TRY(Canvas::make(page, timeline.title));
  double first = HUGE_VAL, last = -HUGE_VAL;
  const auto end_of = [&](std::size_t k) {
    return std::isfinite(timeline.ended[k]) ? timeline.ended[k] : timeline.now;
  };
  const auto is_shown = [&](std::size_t k) {
    ATTUNE_CHECK(timeline.lanes[k] < timeline.lane_names.size() &&
                 timeline.states[k] < timeline.state_names.size());
    return std::isfinite(timeline.started[k]) && end_of(k) >= timeline.started[k];
  };
  std::vector<bool> seen(timeline.state_names.size());
  for (std::size_t k = 0; k < n; ++k) {
    if (!is_shown(k)) continue;
    first = std::min(first, timeline.started[k]);
    last = std::max(last, end_of(k));
    seen[timeline.states[k]] = true;
  }
  const bool empty = first > last;
  if (empty) first = last = 0;
  const Unit unit = unit_of(last - first);
  std::vector<LegendEntry> legend;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    if (seen[s])
      legend.push_back({timeline.state_names[s], LegendEntry::Mark::box, series_colour(s)});
  }
  const Box rest =
      draw_heading(canvas, timeline.title, legend, empty ? "no trial has run yet" : "");
  // The first lane on top.
  std::vector<std::string> names(timeline.lane_names.rbegin(), timeline.lane_names.rend());
  const double lanes = static_cast<double>(std::max<std::size_t>(names.size(), 1));
  const Panel panel(canvas, rest, Axis(0, std::max((last - first) / unit.seconds, 1e-9)),
                    Axis::of_names(std::move(names)), unit.name, "");
  const double height = std::max(0.8 * panel.box().height / (lanes + 0.2), 0.5);
  const auto draw = [&] {
    for (std::size_t k = 0; k < n; ++k) {
      if (!is_shown(k)) continue;
      const double lane = lanes - 1 - static_cast<double>(timeline.lanes[k]);
      const Place a = panel.at((timeline.started[k] - first) / unit.seconds, lane);
      const Place b = panel.at((end_of(k) - first) / unit.seconds, lane);
      // A gap of a part of a pixel separates trials that follow each other.
      const double width = std::max(b.x - a.x - 0.6, 0.6);
      canvas.rectangle({a.x, a.y - height / 2, width, height}, series_colour(timeline.states[k]));
    }
  };
  if (n > kMostMarks) {
    canvas.as_image(panel.box(), draw);
  } else {
    canvas.clipped(panel.box(), draw);
  }
  return canvas.finish();
}

}  // namespace attune::plots
