// The picture of results and the best one so far.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

// Steps: up to the next trial the best one stays.
void add_step(Column& best, std::vector<double>& xs, double trial, double result) {
  if (!best.values.empty()) {
    xs.push_back(trial);
    best.values.push_back(best.values.back());
  }
  xs.push_back(trial);
  best.values.push_back(result);
}

std::string count_text(std::size_t count, const char* what) {
  return fmt::format("{} {} {}", count, count == 1 ? "result" : "results", what);
}

}  // namespace

Result<std::string> picture(const History& history, const PageSettings& page) {
  const std::size_t n = history.trials.size();
  ATTUNE_CHECK(history.results.size() == n &&
               (history.broken.empty() || history.broken.size() == n));
  Canvas canvas = TRY(Canvas::make(page, history.title));
  const auto [y, beyond] = result_axis(history.results, history.objective.maximise, history.scale);
  Axis x = Axis::around(history.trials).whole();
  // What lies beyond is drawn at the edge, where it is worst.
  const double edge = history.objective.maximise ? y.low() : y.high();
  std::vector<double> kept_x, kept_y, broken_x, broken_y, edge_x, edge_y, best_x;
  Column best;
  std::size_t without = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double result = history.results[k];
    if (std::isnan(y.place(result)) || std::isnan(x.place(history.trials[k]))) {
      ++without;
      continue;
    }
    const bool broken = !history.broken.empty() && history.broken[k];
    const double place = y.place(result);
    if (place < 0 || place > 1) {
      edge_x.push_back(history.trials[k]);
      edge_y.push_back(edge);
    } else {
      (broken ? broken_x : kept_x).push_back(history.trials[k]);
      (broken ? broken_y : kept_y).push_back(result);
    }
    const bool better =
        best.values.empty() ||
        (history.objective.maximise ? result > best.values.back() : result < best.values.back());
    if (!broken && better) add_step(best, best_x, history.trials[k], result);
  }
  if (!best.values.empty()) add_step(best, best_x, history.trials[n - 1], best.values.back());

  using enum LegendEntry::Mark;
  std::vector<LegendEntry> legend = {{"results", dot, series_colour(0)},
                                     {"best so far", line, series_colour(1)}};
  if (!broken_x.empty()) legend.push_back({"breaks a limit", dot, kMuted});
  std::string note;
  const auto say = [&](const std::string& what) { note += (note.empty() ? "" : "; ") + what; };
  if (kept_x.size() + broken_x.size() + edge_x.size() == 0) say("no results yet");
  if (beyond > 0) say(count_text(beyond, "at the edge: far worse than most"));
  if (without > 0) say(fmt::format("{} of {} trials without a result", without, n));
  const Box rest = draw_heading(canvas, history.title, legend, note);
  const Panel panel(canvas, rest, std::move(x), y, "trial",
                    objective_text(history.objective.name, history.objective.maximise));
  panel.dots(broken_x, broken_y, 2.5, kMuted);
  panel.dots(kept_x, kept_y, 2.5, series_colour(0));
  panel.dots(edge_x, edge_y, 3.5, kMuted);
  panel.line(best_x, best.values, {.colour = series_colour(1), .width = 1.8});
  return canvas.finish();
}

}  // namespace attune::plots
