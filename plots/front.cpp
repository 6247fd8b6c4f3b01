// The picture of trade-offs between objectives.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

constexpr std::size_t kMostObjectives = 4;  // that have panels

void draw_pair(Canvas& canvas, const Box& box, const Front& front, std::size_t i, std::size_t j) {
  const auto name = [&](std::size_t k) {
    return objective_text(front.objectives[k].name, front.objectives[k].maximise);
  };
  const auto axis = [&](std::size_t k) {
    return result_axis(front.results[k], front.objectives[k].maximise, Scale::linear).axis;
  };
  const Panel panel(canvas, box, axis(i), axis(j), name(i), name(j));
  std::vector<bool> leads(front.results[i].size());
  for (const std::size_t k : front.front) leads.at(k) = true;
  std::vector<double> xs, ys, best_x, best_y;
  for (std::size_t k = 0; k < leads.size(); ++k) {
    (leads[k] ? best_x : xs).push_back(front.results[i][k]);
    (leads[k] ? best_y : ys).push_back(front.results[j][k]);
  }
  panel.dots(xs, ys, 2.5, kMuted);
  if (front.objectives.size() == 2) {
    // Stairs: what lies behind them is dominated.
    std::vector<std::pair<double, double>> sorted;
    for (std::size_t k = 0; k < best_x.size(); ++k) sorted.emplace_back(best_x[k], best_y[k]);
    std::ranges::sort(sorted);
    if (front.objectives[i].maximise) std::ranges::reverse(sorted);
    std::vector<double> stair_x, stair_y;
    for (const auto& [x, y] : sorted) {
      if (!stair_x.empty()) {
        stair_x.push_back(x);
        stair_y.push_back(stair_y.back());
      }
      stair_x.push_back(x);
      stair_y.push_back(y);
    }
    panel.line(stair_x, stair_y, {series_colour(1), 1.2});
  }
  panel.dots(best_x, best_y, 3.2, series_colour(1));
  if (front.limits.empty()) return;
  const Stroke limit = {kInk, 1, true};
  if (const double x = front.limits[i]; std::isfinite(x)) {
    panel.line(std::vector{x, x}, std::vector{panel.y().low(), panel.y().high()}, limit);
  }
  if (const double y = front.limits[j]; std::isfinite(y)) {
    panel.line(std::vector{panel.x().low(), panel.x().high()}, std::vector{y, y}, limit);
  }
}

}  // namespace

Result<std::string> picture(const Front& front, const PageSettings& page) {
  const std::size_t all = front.objectives.size();
  ATTUNE_CHECK(all >= 2 && front.results.size() == all &&
               (front.limits.empty() || front.limits.size() == all));
  for (const auto& results : front.results) {
    ATTUNE_CHECK(results.size() == front.results.front().size());
  }
  Canvas canvas = TRY(Canvas::make(page, front.title));
  using enum LegendEntry::Mark;
  std::vector<LegendEntry> legend = {{"trade-offs", dot, series_colour(1)},
                                     {"dominated", dot, kMuted}};
  if (std::ranges::any_of(front.limits, [](double x) { return std::isfinite(x); })) {
    legend.push_back({"limit", dashed, kInk});
  }
  const std::size_t shown = std::min(all, kMostObjectives);
  std::string note = front.results.front().empty() ? "no results yet" : "";
  if (shown < all) note = fmt::format("the first {} of {} objectives", shown, all);
  const Box rest = draw_heading(canvas, front.title, legend, note);
  const std::vector<Box> boxes = divided(rest, shown * (shown - 1) / 2);
  std::size_t next = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t j = i + 1; j < shown; ++j) draw_pair(canvas, boxes[next++], front, i, j);
  }
  return canvas.finish();
}

}  // namespace attune::plots
