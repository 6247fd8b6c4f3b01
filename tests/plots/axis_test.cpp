// Axes and their ticks.
#include "plots/axis.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/rng.h"

namespace attune::plots::axis_test {

using Texts = std::vector<std::string>;

Texts texts(const Axis& axis, std::size_t most = 6) {
  Texts all;
  for (const Tick& tick : axis.ticks(most)) all.push_back(tick.text);
  return all;
}

TEST_CASE("axis: round ticks") {
  CHECK(texts(Axis(0, 1), 5) == Texts{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(texts(Axis(-3, 12), 4) == Texts{"0", "5", "10"});
  CHECK(texts(Axis(0.9123, 0.9131), 5) == Texts{"0.9124", "0.9126", "0.9128", "0.9130"});
  CHECK(texts(Axis(0, 4e7), 5) == Texts{"0", "1e+07", "2e+07", "3e+07", "4e+07"});
  CHECK(texts(Axis(0, 2).whole(), 6) == Texts{"0", "1", "2"});
}

TEST_CASE("axis: logarithmic ticks") {
  using enum Scale;
  CHECK(texts(Axis(1e-5, 1, logarithmic)) == Texts{"1e-5", "1e-4", "0.001", "0.01", "0.1", "1"});
  CHECK(texts(Axis(1e-300, 1e300, logarithmic), 4) ==
        Texts{"1e-300", "1e-150", "1", "1e150", "1e300"});
  CHECK(texts(Axis(1, 100, logarithmic), 9) == Texts{"1", "2", "5", "10", "20", "50", "100"});
  CHECK(texts(Axis(3.1, 3.9, logarithmic), 5) == Texts{"3.2", "3.4", "3.6", "3.8"});
}

TEST_CASE("axis: numbers") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(-1.5) == "-1.5");
  CHECK(number_text(123456) == "123456");
  CHECK(number_text(0.00012346) == "1.235e-4");
  CHECK(number_text(1e-5) == "1e-5");
  CHECK(number_text(2.5e10) == "2.5e10");
  CHECK(number_text(1e6) == "1e6");
  CHECK(number_text(NAN) == "");
}

TEST_CASE("axis: any range has distinct ascending ticks within") {
  Rng rng(1);
  const auto number = [&] {
    const double size = std::pow(10, rng.uniform(-320, 308));
    return rng.index(2) == 0 ? size : -size;
  };
  for (int k = 0; k < 3000; ++k) {
    double low = number(), high = rng.index(3) == 0 ? low * (1 + 1e-12 * rng.uniform()) : number();
    if (low > high) std::swap(low, high);
    const bool logarithmic = low > 0 && rng.index(2) == 0;
    CAPTURE(low, high, logarithmic);
    const Axis axis(low, high, logarithmic ? Scale::logarithmic : Scale::linear);
    REQUIRE(axis.low() < axis.high());
    const std::size_t most = 2 + rng.index(10);
    const std::vector<Tick> ticks = axis.ticks(most);
    REQUIRE(!ticks.empty());
    CHECK(ticks.size() <= 2 * most + 2);
    std::set<std::string> different;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      CHECK(axis.place(ticks[i].value) > -1e-6);
      CHECK(axis.place(ticks[i].value) < 1 + 1e-6);
      CHECK(ticks[i].text.size() < 30);
      if (i > 0) CHECK(ticks[i].value > ticks[i - 1].value);
      different.insert(ticks[i].text);
    }
    CHECK(different.size() == ticks.size());
  }
}

TEST_CASE("axis: places") {
  const Axis axis(10, 20);
  CHECK(axis.place(10) == 0);
  CHECK(axis.place(15) == 0.5);
  CHECK(axis.place(30) == 2);
  CHECK(axis.place(1e300) == 10);
  CHECK(std::isnan(axis.place(NAN)));
  CHECK(std::isnan(axis.place(INFINITY)));
  const Axis logarithmic(1, 100, Scale::logarithmic);
  CHECK(logarithmic.place(10) == Approx(0.5));
  CHECK(std::isnan(logarithmic.place(0)));
  CHECK(Axis(-1.7e308, 1.7e308).place(0) == 0.5);
}

TEST_CASE("axis: around values with a margin, and without any a range of its own") {
  const double values[] = {NAN, 0, 100, INFINITY, -INFINITY};
  const Axis axis = Axis::around(values);
  CHECK(axis.low() == Approx(-4));
  CHECK(axis.high() == Approx(104));
  const double powers[] = {-5, 0, 1, 1e50};
  const Axis logarithmic = Axis::around(powers, Scale::logarithmic);
  CHECK(logarithmic.low() == Approx(0.01));
  CHECK(logarithmic.high() == Approx(1e52));
  CHECK(Axis::around({}).high() == 1);
  CHECK(Axis::around({}, Scale::logarithmic).high() == 10);
  for (const double value : {0.0, 5.0, -1e300, 1e-310, 1.7e308}) {
    const Axis one = Axis::around({&value, 1});
    CHECK(one.place(value) > 0);
    CHECK(one.place(value) < 1);
  }
}

TEST_CASE("axis: names, some of them where there are many") {
  CHECK(texts(Axis::of_names({"a", "<b>", "c\n"})) == Texts{"a", "<b>", "c"});
  CHECK(texts(Axis::of_names(Texts(100, "n")), 10).size() == 10);
  const Axis axis = Axis::of_names({"a", "b", "c"});
  CHECK(axis.place(1) == Approx(0.5));
  CHECK(axis.place(0) > 0.1);
  CHECK(axis.ticks(5)[2].value == 2);
}

}  // namespace attune::plots::axis_test
