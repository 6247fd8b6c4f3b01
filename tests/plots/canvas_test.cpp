// The page, as SVG and as PNG.
#include "plots/canvas.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "tests/plots/image.h"

namespace attune::plots::canvas_test {

constexpr Colour kBlue = {0, 0, 1};

Canvas canvas(Format format, double width = 200, double height = 100, double pixels = 2) {
  return Canvas::make({.format = format, .width = width, .height = height, .pixels = pixels}, "t")
      .value();
}

std::vector<Place> scattered(std::size_t count, double width, double height) {
  std::vector<Place> places;
  Rng rng(1);
  for (std::size_t k = 0; k < count; ++k)
    places.push_back({width * rng.uniform(), height * rng.uniform()});
  return places;
}

TEST_CASE("canvas: a PNG has its size and what was drawn where it was drawn") {
  for (const double scale : {1.0, 2.0, 3.0}) {
    Canvas page = canvas(Format::png, 200, 100, scale);
    page.rectangle({20, 10, 40, 30}, kBlue);
    const Place dot[] = {{150, 60}};
    page.dots(dot, 5, {1, 0, 0});
    const Image image = image_of(page.finish().value());
    CHECK(image.width == 200 * scale);
    CHECK(image.height == 100 * scale);
    CHECK(image.near(5, 5, kPaper));
    const Box box = image.box_of(kBlue, scale);
    CHECK((box.left == 20 && box.top == 10 && box.width == 40 && box.height == 30));
    const Box disc = image.box_of({1, 0, 0}, scale, 0.5);
    CHECK(disc.centre().x == Approx(150).margin(0.6));
    CHECK(disc.centre().y == Approx(60).margin(0.6));
    CHECK(disc.width == Approx(10).margin(1.1));
  }
}

TEST_CASE("canvas: an SVG has title and texts, whatever they contain") {
  Canvas page = Canvas::make({.format = Format::svg}, "</title><script>alert(1)</script>").value();
  page.text({10, 10}, "plain");
  page.text({10, 30}, "<script>alert('x')</script> & more");
  page.text({10, 50}, "bad \xFF\xFE bytes\n\x01");
  page.text({10, 70}, std::string(1 << 20, 'w'));
  page.text({10, 90}, "");
  const std::string svg = page.finish().value();
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.find("<script") == svg.npos);
  CHECK(svg.find("<title>&lt;/title&gt;&lt;script&gt;") != svg.npos);
  CHECK(has_text(svg, "plain"));
  CHECK(has_text(svg, "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; more"));
  CHECK(has_text(svg, "bad \xEF\xBF\xBD\xEF\xBF\xBD bytes \xEF\xBF\xBD"));
  CHECK(texts_of(svg).size() == 4);
  CHECK(svg.size() < 200'000);
}

TEST_CASE("canvas: dots are one mark each in an SVG") {
  Canvas page = canvas(Format::svg);
  const std::string before = canvas(Format::svg).finish().value();
  page.dots(scattered(777, 200, 100), 2, kBlue);
  const std::string svg = page.finish().value();
  CHECK(occurrences(svg, "M ") == occurrences(before, "M ") + 777);
  CHECK(svg.size() < before.size() + 777 * 60);
}

TEST_CASE("canvas: marks in an image are few bytes, and lie where they must") {
  Canvas page = canvas(Format::svg, 1000, 700);
  Rng rng(2);
  page.as_image({50, 50, 900, 600}, [&] {
    for (const Place& place : scattered(20'000, 1000, 700)) {
      page.dots({&place, 1}, 2, with_opacity({rng.uniform(), rng.uniform(), rng.uniform()}, 0.5));
    }
  });
  const std::string svg = page.finish().value();
  CHECK(occurrences(svg, "<image") == 1);
  CHECK(svg.size() < 1'000'000);
  CHECK(svg.size() > 10'000);
}

TEST_CASE("canvas: clipping") {
  Canvas page = canvas(Format::png, 200, 100, 1);
  page.clipped({50, 20, 10, 10}, [&] { page.rectangle({0, 0, 200, 100}, kBlue); });
  page.as_image({80, 20, 10, 10}, [&] { page.rectangle({0, 0, 200, 100}, {1, 0, 0}); });
  const Image image = image_of(page.finish().value());
  CHECK(image.count(kBlue) == 100);
  CHECK(image.count({1, 0, 0}) == 100);
}

TEST_CASE("canvas: cells") {
  Canvas page = canvas(Format::png, 200, 100, 1);
  const Colour colours[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}, {1, 1, 0}, {0, 1, 1}};
  page.cells({20, 10, 30, 20}, 3, colours, false);
  const Image image = image_of(page.finish().value());
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 3; ++i) CHECK(image.near(25 + 10 * i, 15 + 10 * j, colours[3 * j + i]));
  }
  CHECK(image.near(19, 15, kPaper));
  CHECK(image.near(51, 15, kPaper));
}

TEST_CASE("canvas: text is aligned, measured and cut to a width") {
  Canvas page = canvas(Format::png, 400, 100, 2);
  const TextStyle style = {.size = 20, .colour = kBlue, .across = 1};
  const double width = page.text_width("HHHH", style);
  CHECK(width > 30);
  CHECK(page.text_width("HHHHHHHH", style) == Approx(2 * width));
  page.text({300, 50}, "HHHH", style);
  const std::string cut = page.fitted(std::string(500, 'H'), 3 * width, style);
  CHECK(page.text_width(cut, style) <= 3 * width);
  CHECK(page.text_width("H" + cut, style) > 3 * width);
  CHECK(page.fitted("HHHH", width + 1, style) == "HHHH");
  const Box box = image_of(page.finish().value()).box_of(kBlue, 2, 0.2);
  CHECK(box.left > 300 - width - 1);
  CHECK(box.right() < 300);
  CHECK(box.width > 0.8 * width);
  CHECK(box.centre().y == Approx(50).margin(1));
}

TEST_CASE("canvas: equal drawings are equal files") {
  const auto draw = [](Format format) {
    Canvas page = canvas(format);
    page.text({20, 20}, "text");
    page.dots(scattered(50, 200, 100), 3, with_opacity(kBlue, 0.3));
    page.as_image({0, 0, 100, 100}, [&] { page.dots(scattered(50, 100, 100), 3, kBlue); });
    return page.finish().value();
  };
  CHECK(draw(Format::png) == draw(Format::png));
  const std::string one = draw(Format::svg), two = draw(Format::svg);
  CHECK(one.substr(0, one.find("<defs")) == two.substr(0, two.find("<defs")));
  CHECK(occurrences(one, "M ") == occurrences(two, "M "));
}

TEST_CASE("canvas: places far outside draw nothing and do no harm") {
  Canvas page = canvas(Format::png);
  const Place far[] = {{-1e300, 50}, {1e300, 50}};
  page.line(far, {.colour = kBlue, .width = 3});
  page.dots(far, 3, kBlue);
  page.line({}, {});
  page.area({}, kBlue);
  const Image image = image_of(page.finish().value());
  CHECK(image.near(200, 100, kBlue));
  CHECK(image.near(200, 20, kPaper));
}

TEST_CASE("canvas: sizes that are not possible are errors") {
  for (const double size : {0.0, 99.0, 10001.0, -5.0, 1e300, HUGE_VAL, double(NAN)}) {
    CHECK(!Canvas::make({.width = size}, "").has_value());
    CHECK(!Canvas::make({.height = size}, "").has_value());
  }
  CHECK(!Canvas::make({.format = Format::png, .pixels = NAN}, "").has_value());
  CHECK(!Canvas::make({.format = Format::png, .pixels = 100}, "").has_value());
  const auto large =
      Canvas::make({.format = Format::png, .width = 10000, .height = 10000, .pixels = 2}, "");
  REQUIRE(!large.has_value());
  CHECK(large.error().message ==
        "a PNG of 10000 x 10000 with 2 pixels for each unit is not possible: it has 0.5 to 8, and "
        "at most 50 million in all");
  CHECK(Canvas::make({.width = 10000, .height = 10000}, "").has_value());
}

}  // namespace attune::plots::canvas_test
