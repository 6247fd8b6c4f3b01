// The pictures of each kind.
#include <catch2/catch.hpp>
#include <cmath>

#include "plots/panel.h"
#include "tests/plots/examples.h"

namespace attune::plots::pictures_test {

TEST_CASE("history: dots and the line of the best lie where they must") {
  // From 0 to 2 at both axes: the middle dot is between the others.
  const Image found = data_image(history({0, 2, 1, 0, 0}));
  CHECK(found.width == 720);
  CHECK(found.height == 450);
  const Box dots = found.box_of(series_colour(0), 1);
  const double middle_x = dots.left + dots.width / 2, middle_y = dots.top + dots.height / 2;
  const auto near = [&](double x, double y) {
    for (int i = -3; i <= 3; ++i) {
      for (int j = -3; j <= 3; ++j) {
        if (found.near(x + i, y + j, series_colour(0), 0.1)) return true;
      }
    }
    return false;
  };
  CHECK(near(middle_x, middle_y));                        // trial 3, result 1
  CHECK(near(dots.left + dots.width / 4, dots.top + 2));  // trial 2, the worst: above
  CHECK(!near(middle_x, dots.top + 2));
  const Box best = found.box_of(series_colour(1), 1);
  CHECK(best.bottom() > middle_y + 50);
}

TEST_CASE("history: the best so far, lower or higher, without what breaks a limit") {
  const auto line = [](History data, bool maximise) {
    data.objective.maximise = maximise;
    return data_image(data).box_of(series_colour(1), 1);
  };
  History data = history({5, 9, 1, 4, 9.5});
  const Box lower = line(data, false), higher = line(data, true);
  CHECK(lower.bottom() > 300);  // down to 1
  CHECK(higher.bottom() < 260);
  data.broken = {false, false, true, false, false};
  CHECK(line(data, false).bottom() < lower.bottom() - 50);  // only to 4
}

TEST_CASE("history: as many marks as results, and notes") {
  Numbers few(10, 3), more(30, 3);
  few[0] = more[0] = 1;
  few[1] = more[1] = 2;
  few.resize(30, NAN);
  History a = history(few), b = history(more);
  const std::string one = svg(a), two = svg(b);
  CHECK(occurrences(one, " L ") > 0);
  CHECK(has_text(one, "20 of 30 trials without a result"));
  CHECK(has_text(two, "title"));
  CHECK(has_text(two, "loss (lower is better)"));
  CHECK(has_text(two, "best so far"));
  CHECK(has_text(svg(history({})), "no results yet"));
  CHECK(has_text(svg(history({NAN})), "no results yet; 1 of 1 trials without a result"));
  Numbers outlier(20, 0);
  for (int k = 0; k < 20; ++k) outlier[k] = k;
  outlier.push_back(1e30);
  CHECK(has_text(svg(history(outlier)), "1 result at the edge: far worse than most"));
  CHECK(has_text(svg(history(outlier)), "20"));  // the axis ends there
  b.scale = Scale::logarithmic;
  b.results[5] = -1;
  CHECK(has_text(svg(b), "1 of 30 trials without a result"));
}

TEST_CASE("curves: named ones, the others, and the band") {
  Curves data{.title = "title", .step_name = "epoch", .objective = {"accuracy", true}};
  data.best = {{"t1", {1, 2, 3}, {0, 0.5, 1}}, {"t2", {1, 3}, {0.2, 0.2}}};
  for (int k = 0; k < 20; ++k) data.others.push_back({"", {1, 2, 3}, {0, 0.1 * k / 20, 0.2}});
  data.band = {{1, 2, 3}, {0.1, 0.1, 0.1}, {0.2, 0.2, 0.2}, {0.3, 0.3, 0.3}};
  const std::string drawn = svg(data);
  for (const char* text :
       {"t1", "t2", "others", "half of all", "epoch", "accuracy (higher is better)"})
    CHECK(has_text(drawn, text));
  CHECK(occurrences(drawn, "<image") == 0);
  const Box line = data_image(data).box_of(series_colour(0), 1, 0.1);
  CHECK(line.height > 300);  // from 0 to 1
  for (int k = 0; k < 3000; ++k) data.others.push_back({"", {1, 2, 3}, {0, 0.1, 0.2}});
  const std::string many = svg(data);
  CHECK(occurrences(many, "<image") == 1);
  CHECK(many.size() < 1'000'000);
  CHECK(has_text(svg(Curves{.title = "", .objective = {"x"}}), "no results yet"));
}

TEST_CASE("parallel: a line for each trial, gaps where a parameter is not active") {
  const std::string one = svg(parallel(66)), two = svg(parallel(132));
  for (const char* text : {"rate", "way", "gap", "a", "b", "1e-4"}) CHECK(has_text(one, text));
  const std::size_t more = occurrences(two, "<path") - occurrences(one, "<path");
  // Two thirds of the trials are one line; the others are a line and a dot.
  CHECK(more == 44 + 2 * 22);
  const std::string many = svg(parallel(9000));
  CHECK(occurrences(many, "<image") == 1);
  CHECK(has_text(many, "2000 of 9000 trials, from all ranks"));
  Parallel wide = parallel(20);
  for (int k = 0; k < 60; ++k) wide.parameters.push_back(wide.parameters[0]);
  CHECK(has_text(svg(wide), "8 of 63 parameters"));
  CHECK(has_text(svg(parallel(0)), "no results yet"));
}

TEST_CASE("importance: bars as long as the shares, the largest on top") {
  const Importance data{.title = "title", .shares = {{"small", 0.2}, {"large", 0.6}}};
  const std::string drawn = svg(data);
  for (const char* text : {"small", "large", "0.20", "0.60"}) CHECK(has_text(drawn, text));
  const Image found = image(data);
  const Box bars = found.box_of(series_colour(0), 1);
  const auto length = [&](double y) {
    double right = bars.left;
    for (double x = bars.left; x < bars.right(); ++x) {
      if (found.near(x, y, series_colour(0))) right = x + 1;
    }
    return right - bars.left;
  };
  CHECK(length(bars.top + 4) == Approx(bars.width));
  CHECK(length(bars.bottom() - 4) == Approx(bars.width / 3).margin(2));
  Importance many{.title = "", .shares = {}};
  for (int k = 0; k < 100; ++k)
    many.shares.push_back({"p" + std::to_string(k), k / 5000.0, k == 99});
  CHECK(has_text(svg(many), "p99"));
  CHECK(has_text(svg(many), "two together, beyond that"));
  CHECK(has_text(svg(many), "85 more have at most 0.017"));
  CHECK(has_text(svg(Importance{}), "nothing is known yet"));
}

TEST_CASE("slice: a panel for each parameter, with the mean") {
  const std::string drawn = svg(slice());
  for (const char* text : {"rate", "way", "a", "b", "0.001", "expected", "the point"})
    CHECK(has_text(drawn, text));
  const Box mean = data_image(slice()).box_of(series_colour(0), 1, 0.1);
  CHECK(mean.width > 400);
  CHECK(!picture(Slice{}, {}).has_value());
  Slice many = slice();
  many.panels.resize(13, many.panels[0]);
  CHECK(picture(many, {}).error().message == "a picture of slices has 1 to 12 parameters");
}

TEST_CASE("contour: colours from low to high, lines between, and the best") {
  Contour data = contour();
  const Image found = image(data);
  const Box panel = found.box_of(kBorder, 1, 0.01);
  const double y = panel.centre().y, left = panel.left + 40, width = panel.width - 130;
  CHECK(found.near(left + 3, y, graded_colour(0), 0.1));
  CHECK(found.near(left + 0.45 * width, y, graded_colour(0.5), 0.15));
  CHECK(occurrences(svg(data), "<image") == 2);  // the field, and the key
  for (const char* text : {"rate", "width", "0.01", "10", "loss (lower is better)"})
    CHECK(has_text(svg(data), text));
  data.best = {0.01, 1.5};
  CHECK(has_text(svg(data), "best"));
  CHECK(data_image(data).count(series_colour(1)) > 30);
  data.x = {"way", {0, 1, 2}, Scale::linear, {"a", "b", "c"}};
  CHECK(has_text(svg(data), "c"));
  data.mean[0] = NAN;
  CHECK(svg(data).size() > 1000);
}

TEST_CASE("timeline: bars as long as the trials, in the lane of their worker") {
  const Image found = data_image(timeline());
  const auto bar = [&](std::size_t state) { return found.box_of(series_colour(state), 1); };
  const Box first = bar(0), second = bar(1);
  CHECK(second.width == Approx(3 * first.width).margin(3));
  CHECK(second.left == Approx(first.right()).margin(2));
  CHECK(second.top > first.bottom());
  const std::string drawn = svg(timeline());
  for (const char* text : {"first", "second", "succeeded", "running", "seconds"})
    CHECK(has_text(drawn, text));
  CHECK(!has_text(drawn, "failed"));
  CHECK(has_text(svg(Timeline{}), "no trial has run yet"));
  Timeline hours = timeline();
  hours.now = 100 + 5 * 3600;
  CHECK(has_text(svg(hours), "hours"));
}

TEST_CASE("front: trade-offs, what they dominate, and limits") {
  Front data = front();
  const std::string drawn = svg(data);
  for (const char* text :
       {"trade-offs", "dominated", "loss (lower is better)", "speed (higher is better)"})
    CHECK(has_text(drawn, text));
  CHECK(!has_text(drawn, "limit"));
  data.limits = {2.5, NAN};
  CHECK(has_text(svg(data), "limit"));
  for (int k = 0; k < 4; ++k) {
    data.objectives.push_back({"o" + std::to_string(k)});
    data.results.push_back({1, 2, 3});
  }
  data.limits.clear();
  CHECK(has_text(svg(data), "the first 4 of 6 objectives"));
  CHECK(has_text(svg(data), "o1 (lower is better)"));
  CHECK(!has_text(svg(data), "o2 (lower is better)"));
}

}  // namespace attune::plots::pictures_test
