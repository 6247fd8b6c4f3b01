// The picture of all parameters of all trials.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

constexpr double kLeastSpace = 72;  // between two axes
// More lines only cover each other, and 10,000 take seconds to draw.
constexpr std::size_t kMostLines = 2000;
constexpr double kTop = 22;  // for the names of the axes

// An upright axis with the values of one column.
struct Upright {
  const Column* column;
  Axis axis;
  double x = 0;
};

void draw_axis(Canvas& canvas, const Box& box, const Upright& upright, double space) {
  const Place ends[] = {{upright.x, box.top}, {upright.x, box.bottom()}};
  canvas.line(ends, {kInk, 1});
  TextStyle style = kNameStyle;
  style.across = 0.5;
  canvas.text({upright.x, box.top - 12}, canvas.fitted(upright.column->name, space - 8, style),
              style);
  const auto most = static_cast<std::size_t>(std::clamp(box.height / 30, 2.0, 40.0));
  for (const Tick& tick : upright.axis.ticks(most)) {
    const double y = box.bottom() - box.height * upright.axis.place(tick.value);
    const Place mark[] = {{upright.x - 3, y}, {upright.x + 3, y}};
    canvas.line(mark, {kInk, 1});
    const std::string text = canvas.fitted(tick.text, space / 2, kTickStyle);
    // On a light ground, because lines of trials pass below it.
    canvas.rectangle({upright.x + 4, y - 6, canvas.text_width(text, kTickStyle) + 3, 12},
                     with_opacity(kPaper, 0.75));
    TextStyle tick_style = kTickStyle;
    tick_style.colour = kInk;
    canvas.text({upright.x + 6, y}, text, tick_style);
  }
}

// The trials with a result, the worst first; of many some of all ranks, the best among them.
struct Ranked {
  std::vector<std::size_t> order;
  std::size_t of = 0;
};

Ranked ranked(const Parallel& parallel, const Axis& axis) {
  const std::vector<double>& results = parallel.results.values;
  Ranked all;
  std::vector<std::size_t>& order = all.order;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (std::isfinite(axis.place(results[k]))) order.push_back(k);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return parallel.maximise ? results[a] < results[b] : results[a] > results[b];
  });
  all.of = order.size();
  if (all.of <= kMostLines) return all;
  for (std::size_t k = 0; k < kMostLines; ++k) {
    order[k] = order[k * (all.of - 1) / (kMostLines - 1)];
  }
  order.resize(kMostLines);
  return all;
}

// The line of one trial. Results beyond the last axis lie at its end.
void draw_trial(Canvas& canvas, const Box& box, const std::vector<Upright>& axes, std::size_t trial,
                const Stroke& stroke) {
  std::vector<Place> places;
  for (std::size_t i = 0; i <= axes.size(); ++i) {
    double place = NAN;
    if (i < axes.size()) place = axes[i].axis.place(axes[i].column->values[trial]);
    if (i + 1 == axes.size()) place = std::clamp(place, 0.0, 1.0);
    if (std::isfinite(place)) {
      places.push_back({axes[i].x, box.bottom() - box.height * place});
      continue;
    }
    canvas.line(places, stroke);
    if (places.size() == 1) canvas.dots(places, 1.5, stroke.colour);
    places.clear();
  }
}

// The best tenth stands out.
void draw_trials(Canvas& canvas, const Box& box, const std::vector<Upright>& axes,
                 const std::vector<std::size_t>& order) {
  const auto count = static_cast<double>(order.size());
  const double opacity = std::clamp(6 / std::sqrt(count + 1), 0.1, 0.9);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double part = count > 1 ? static_cast<double>(rank) / (count - 1) : 1;
    const bool good = part >= 0.9;
    const Colour colour =
        with_opacity(graded_colour(1 - part), good ? std::max(opacity, 0.5) : opacity);
    draw_trial(canvas, box, axes, order[rank], {colour, good ? 1.3 : 0.9});
  }
}

}  // namespace

Result<std::string> picture(const Parallel& parallel, const PageSettings& page) {
  for (const Column& column : parallel.parameters) {
    ATTUNE_CHECK(column.values.size() == parallel.results.values.size());
  }
  Canvas canvas = TRY(Canvas::make(page, parallel.title));
  const auto room = static_cast<std::size_t>(std::max((page.width - 80) / kLeastSpace, 1.0));
  const std::size_t all = parallel.parameters.size(), shown = std::min(all, room);
  const ResultAxis y =
      result_axis(parallel.results.values, parallel.maximise, parallel.results.scale);
  const auto [order, trials] = ranked(parallel, y.axis);

  std::string note;
  const auto say = [&](const std::string& what) { note += (note.empty() ? "" : "; ") + what; };
  if (shown < all) say(fmt::format("{} of {} parameters", shown, all));
  if (order.empty()) say("no results yet");
  if (order.size() < trials) {
    say(fmt::format("{} of {} trials, from all ranks", order.size(), trials));
  }
  if (y.beyond > 0) say(fmt::format("{} results at the edge: far worse than most", y.beyond));
  const LegendEntry legend[] = {{"best results", LegendEntry::Mark::line, graded_colour(0)},
                                {"worst results", LegendEntry::Mark::line, graded_colour(1)}};
  Box box = draw_heading(canvas, parallel.title, legend, note);
  box.top += kTop;
  box.height = std::max(box.height - kTop - 8, 1.0);

  const double space = (box.width - 80) / static_cast<double>(std::max<std::size_t>(shown, 1));
  std::vector<Upright> axes;
  for (std::size_t i = 0; i < shown; ++i) {
    const Column& column = parallel.parameters[i];
    axes.push_back({.column = &column,
                    .axis = column.names.empty() ? Axis::around(column.values, column.scale)
                                                 : Axis::of_names(column.names),
                    .x = box.left + 30 + static_cast<double>(i) * space});
  }
  Column last = parallel.results;
  last.name = objective_text(last.name, parallel.maximise);
  axes.push_back({.column = &last, .axis = y.axis, .x = box.right() - 50});

  const auto draw = [&] { draw_trials(canvas, box, axes, order); };
  if (order.size() * axes.size() > kMostMarks) {
    canvas.as_image(box, draw);
  } else {
    canvas.clipped(box, draw);
  }
  for (const Upright& upright : axes) {
    draw_axis(canvas, box, upright, upright.column == &last ? 100 : space);
  }
  return canvas.finish();
}

}  // namespace attune::plots
