// Pictures of foreign texts, odd numbers and many trials.
#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>

#include "base/rng.h"
#include "tests/plots/examples.h"

namespace attune::plots::pictures_test {

// Everything with the same foreign text.
std::vector<std::string> all_with(const std::string& text) {
  History h = history({1, 2, 3});
  h.title = h.objective.name = text;
  Curves c{.title = text, .step_name = text, .objective = {text}};
  c.best = {{text, {1, 2}, {1, 2}}};
  Parallel p = parallel(20);
  p.title = p.results.name = p.parameters[0].name = p.parameters[1].names[0] = text;
  const Importance i{.title = text, .shares = {{text, 0.5}, {text, 0.2, true}}};
  Slice s = slice();
  s.title = s.panels[0].parameter.name = s.panels[1].parameter.names[1] = s.objective.name = text;
  Contour g = contour();
  g.title = g.x.name = g.y.name = g.objective.name = text;
  Timeline t = timeline();
  t.title = t.lane_names[0] = t.state_names[0] = text;
  Front f = front();
  f.title = f.objectives[0].name = text;
  return {svg(h), svg(c), svg(p), svg(i), svg(s), svg(g), svg(t), svg(f)};
}

TEST_CASE("pictures: foreign text of any content and length") {
  for (const std::string& text :
       {std::string("<script>alert(1)</script>"), std::string("]]></desc><script>"),
        std::string(1 << 20, '<'), std::string(1 << 20, '\xFF'), std::string("\0\x01\n", 3),
        std::string("\xE2\x80\xAE"
                    "evil"),
        std::string()}) {
    for (const std::string& drawn : all_with(text)) {
      CHECK(drawn.find("<script") == drawn.npos);
      CHECK(drawn.find('\xFF') == drawn.npos);
      CHECK(drawn.find('\0') == drawn.npos);
      CHECK(drawn.size() < 400'000);
      CHECK(drawn.ends_with("</svg>\n"));
      CHECK(occurrences(drawn, "<desc>") == 1);
    }
  }
}

TEST_CASE("pictures: numbers of any size do no harm") {
  const double odd[] = {0, -0.0, 1e308, -1e308, 1e-320, NAN, INFINITY, -INFINITY, 1};
  Rng rng(1);
  for (int k = 0; k < 150; ++k) {
    const auto numbers = [&](std::size_t count) {
      Numbers all;
      for (std::size_t i = 0; i < count; ++i) all.push_back(odd[rng.index(std::size(odd))]);
      return all;
    };
    const std::size_t n = rng.index(6);
    History h = history(numbers(n));
    h.scale = rng.index(2) == 0 ? Scale::linear : Scale::logarithmic;
    h.objective.maximise = rng.index(2) == 0;
    CHECK(picture(h, {}).has_value());
    Curves c{.title = "",
             .objective = {"x", true},
             .others = {{"", numbers(n), numbers(n)}},
             .band = {numbers(n), numbers(n), numbers(n), numbers(n)},
             .scale = h.scale};
    CHECK(picture(c, {}).has_value());
    Parallel p{.title = "",
               .parameters = {{"a", numbers(n), h.scale}, {"b", numbers(n)}},
               .results = {"r", numbers(n)}};
    CHECK(picture(p, {}).has_value());
    Slice s = slice();
    s.panels[0].mean = numbers(21);
    s.panels[0].deviation = numbers(21);
    s.panels[0].trials = numbers(n);
    s.panels[0].results = numbers(n);
    CHECK(picture(s, {}).has_value());
    Contour g = contour();
    g.mean = numbers(6);
    g.trials_x = numbers(n);
    g.trials_y = numbers(n);
    CHECK(picture(g, {}).has_value());
    Timeline t = timeline();
    t.started = numbers(2);
    t.ended = numbers(2);
    CHECK(picture(t, {}).has_value());
    Front f = front();
    f.results = {numbers(3), numbers(3)};
    f.limits = numbers(2);
    CHECK(picture(f, {}).has_value());
    CHECK(picture(Importance{.title = "", .shares = {{"a", numbers(1)[0]}}}, {}).has_value());
  }
}

TEST_CASE("pictures: small and large pages") {
  for (const auto& [width, height] : {std::pair(100.0, 100.0), {100.0, 900.0}, {3000.0, 100.0}}) {
    const PageSettings page{.width = width, .height = height};
    CHECK(picture(history({1, 2, 3}), page).has_value());
    CHECK(picture(parallel(20), page).has_value());
    CHECK(picture(slice(), page).has_value());
    CHECK(picture(contour(), page).has_value());
    CHECK(picture(timeline(), page).has_value());
    CHECK(picture(front(), page).has_value());
    CHECK(picture(Importance{.title = "t", .shares = {{"a", 1}}}, page).has_value());
  }
  CHECK(!picture(history({1}), {.width = 5}).has_value());
}

TEST_CASE("pictures: a hundred thousand trials stay below a megabyte") {
  Rng rng(4);
  Numbers numbers;
  for (int k = 0; k < 100'000; ++k) numbers.push_back(rng.uniform());
  CHECK(svg(history(numbers)).size() < 1'000'000);
  Contour g = contour();
  for (const double x : numbers) {
    g.trials_x.push_back(0.001 * std::pow(100, x));
    g.trials_y.push_back(1 + rng.uniform());
  }
  CHECK(svg(g).size() < 1'000'000);
  Timeline t = timeline();
  t.started = t.ended = numbers;
  for (double& end : t.ended) end += 0.01;
  t.lanes.assign(numbers.size(), 0);
  t.states.assign(numbers.size(), 1);
  CHECK(svg(t).size() < 1'000'000);
  CHECK(svg(parallel(100'000)).size() < 1'000'000);
}

TEST_CASE("pictures: equal data is an equal PNG") {
  CHECK(picture(contour(), kPng).value() == picture(contour(), kPng).value());
  CHECK(picture(slice(), kPng).value() == picture(slice(), kPng).value());
}

}  // namespace attune::plots::pictures_test
