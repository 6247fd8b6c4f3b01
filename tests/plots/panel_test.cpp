// Panels with axes.
#include "plots/panel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "tests/plots/image.h"

namespace attune::plots::panel_test {

using Numbers = std::vector<double>;
constexpr Colour kBlue = {0, 0, 1};

Canvas canvas(Format format, double pixels = 1) {
  return Canvas::make({.format = format, .pixels = pixels}, "t").value();
}

TEST_CASE("panel: data lies where its axes say") {
  Canvas page = canvas(Format::png);
  const Panel panel(page, page.page(), Axis(1, 1000, Scale::logarithmic), Axis(-1, 1), "x", "y");
  CHECK(panel.at(1, -1).x == Approx(panel.box().left));
  CHECK(panel.at(1, -1).y == Approx(panel.box().bottom()));
  CHECK(panel.at(1000, 1).x == Approx(panel.box().right()));
  CHECK(panel.at(1000, 1).y == Approx(panel.box().top));
  CHECK(panel.at(10, 0).x == Approx(panel.box().left + panel.box().width / 3));
  const Numbers xs = {10, 100, NAN, 5, -1}, ys = {0.5, -0.5, 0, INFINITY, 0};
  panel.dots(xs, ys, 3, kBlue);
  const Place first = panel.at(10, 0.5), second = panel.at(100, -0.5);
  const Image image = image_of(page.finish().value());
  CHECK(image.near(first.x, first.y, kBlue));
  CHECK(image.near(second.x, second.y, kBlue));
  const Box all = image.box_of(kBlue, 1);
  CHECK(all.left == Approx(first.x - 3).margin(2));
  CHECK(all.right() == Approx(second.x + 3).margin(2));
}

TEST_CASE("panel: ticks and names are there, within the page, and do not overlap") {
  for (const double width : {120.0, 300.0, 2000.0}) {
    for (const double height : {100.0, 450.0}) {
      CAPTURE(width, height);
      Canvas page = Canvas::make({.width = width, .height = height}, "").value();
      const Panel panel(page, page.page(), Axis(0, 123456), Axis(1e-9, 1, Scale::logarithmic),
                        "horizontal", "up");
      CHECK(panel.box().left > 20);
      CHECK(panel.box().right() < width);
      CHECK(panel.box().bottom() < height - 20);
      CHECK(panel.box().width > 50);
      const std::string svg = page.finish().value();
      CHECK(has_text(svg, "0"));
      CHECK(has_text(svg, "up"));
      if (width > 200) CHECK(has_text(svg, "horizontal"));
      if (height > 200) CHECK(has_text(svg, "1e-6"));
    }
  }
}

TEST_CASE("panel: lines are broken where a value has no place, and clipped") {
  Canvas page = canvas(Format::png);
  const Panel panel(page, page.page(), Axis(0, 4), Axis(0, 1), "", "");
  panel.line(Numbers{0, 1, 2, 3, 4, 9}, Numbers{0.5, 0.5, NAN, 0.5, 0.5, 0.5}, {kBlue, 3});
  const auto [left, y] = panel.at(0.5, 0.5);
  const double middle = panel.at(2, 0.5).x, right = panel.at(3.5, 0.5).x;
  const double outside = panel.box().right() + 3;
  const Image image = image_of(page.finish().value());
  CHECK(image.near(left, y, kBlue));
  CHECK(!image.near(middle, y, kBlue));
  CHECK(image.near(right, y, kBlue));
  CHECK(!image.near(outside, y, kBlue));
}

TEST_CASE("panel: many dots become an image") {
  const auto svg = [](std::size_t count) {
    Canvas page = canvas(Format::svg);
    const Panel panel(page, page.page(), Axis(0, 1), Axis(0, 1), "", "");
    Numbers xs, ys;
    Rng rng(1);
    for (std::size_t k = 0; k < count; ++k) {
      xs.push_back(rng.uniform());
      ys.push_back(rng.uniform());
    }
    panel.dots(xs, ys, 2, kBlue);
    return page.finish().value();
  };
  CHECK(occurrences(svg(kMostMarks), "<image") == 0);
  CHECK(occurrences(svg(kMostMarks), "M ") == occurrences(svg(1000), "M ") + kMostMarks - 1000);
  CHECK(occurrences(svg(kMostMarks + 1), "<image") == 1);
  CHECK(svg(200'000).size() < 1'000'000);
}

TEST_CASE("panel: an axis of results leaves out what is far worse") {
  Numbers results;
  for (int k = 0; k < 100; ++k) results.push_back(k % 10);
  results.push_back(1e9);
  results.push_back(-1e3);
  results.push_back(NAN);
  const ResultAxis low = result_axis(results, false, Scale::linear);
  CHECK(low.beyond == 1);
  CHECK(low.axis.high() < 100);
  CHECK(low.axis.low() < -1e3);
  results[100] = 12;
  const ResultAxis high = result_axis(results, true, Scale::linear);
  CHECK(high.beyond == 1);
  CHECK(high.axis.low() > -1);
  CHECK(high.axis.high() > 12);
  CHECK(result_axis({}, false, Scale::linear).beyond == 0);
  CHECK(result_axis(Numbers(50, 3), false, Scale::linear).beyond == 0);
}

TEST_CASE("panel: boxes divide a box") {
  for (std::size_t count = 1; count <= 12; ++count) {
    const std::vector<Box> boxes = divided({10, 20, 700, 400}, count);
    REQUIRE(boxes.size() == count);
    for (std::size_t a = 0; a < count; ++a) {
      CHECK(boxes[a].left >= 10);
      CHECK(boxes[a].right() <= 710 + 1e-9);
      CHECK(boxes[a].bottom() <= 420 + 1e-9);
      for (std::size_t b = 0; b < a; ++b) {
        CHECK(
            (boxes[a].left >= boxes[b].right() - 1e-9 || boxes[b].left >= boxes[a].right() - 1e-9 ||
             boxes[a].top >= boxes[b].bottom() - 1e-9 || boxes[b].top >= boxes[a].bottom() - 1e-9));
      }
    }
  }
}

TEST_CASE("colours: grades become lighter, and series repeat") {
  double last = -1;
  for (int k = 0; k <= 20; ++k) {
    const Colour c = graded_colour(k / 20.0);
    const double light = 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    CHECK(light > last);
    last = light;
  }
  CHECK(graded_colour(NAN) == graded_colour(0));
  CHECK(graded_colour(9) == graded_colour(1));
  CHECK(series_colour(1) == series_colour(1 + kSeriesColours));
  CHECK(!(series_colour(1) == series_colour(2)));
}

}  // namespace attune::plots::panel_test
