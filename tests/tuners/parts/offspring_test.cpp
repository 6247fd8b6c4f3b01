#include "tuners/parts/offspring.h"

#include <catch2/catch.hpp>
#include <set>

#include "space/parse.h"
#include "space/sample.h"
#include "space/saved_point.h"

namespace attune::offspring_test {

Space parse(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

const std::string kMixed = R"({
    "u": {"_type": "uniform", "_value": [-1, 1]},
    "i": {"_type": "randint", "_value": [0, 4]},
    "wide": {"_type": "randint", "_value": [-1000000000, 1000000000]},
    "l": {"_type": "qloguniform", "_value": [1, 1000, 1]},
    "n": {"_type": "normal", "_value": [0, 1]},
    "c": {"_type": "choice", "_value": ["a", "b", "c"]},
    "scale": {"_type": "choice", "_value": [1, 2, 4, 8]},
    "in": {"_type": "input_choice",
           "_value": {"candidates": ["a", "b", "c", "d"], "n_chosen": 2}},
    "fixed": {"_type": "uniform", "_value": [3, 3]},
    "one": {"_type": "choice", "_value": ["only"]}})";

const std::string kNested = R"({"layer": {"_type": "choice", "_value": [
      {"_name": "none"},
      {"_name": "pool", "s": {"_type": "uniform", "_value": [0, 1]}},
      {"_name": "conv", "k": {"_type": "uniform", "_value": [0, 1]},
                        "p": {"_type": "choice", "_value": [{"_name": "no"},
                          {"_name": "yes", "w": {"_type": "randint", "_value": [0, 9]}}]}}]},
      "x": {"_type": "uniform", "_value": [0, 1]}})";

constexpr double kNone = Point::kInactive;

TEST_CASE("offspring: a child lies in the space") {
  for (const std::string& text : {kMixed, kNested, std::string("{}")}) {
    const Space space = parse(text);
    Rng rng(1);
    for (const double eta : {0.0, 20.0}) {
      Variation variation;
      variation.mutation = 0.5;
      variation.crossover_eta = variation.mutation_eta = eta;
      const Offspring offspring(space, variation);
      for (int i = 0; i < 500; ++i) {
        const Point first = sample(space, rng), second = sample(space, rng);
        REQUIRE(check_point(space, offspring(first, second, rng)));
      }
    }
  }
}

TEST_CASE("offspring: without variation the child is the first parent bit by bit") {
  const Space space = parse(kNested);
  Rng rng(2);
  const Offspring offspring(space, {.crossover = 0, .mutation = 0.0});
  for (int i = 0; i < 200; ++i) {
    const Point first = sample(space, rng), second = sample(space, rng);
    REQUIRE(offspring(first, second, rng) == first);
  }
}

TEST_CASE("offspring: every mutation of a parameter that has other values changes it") {
  const Space space = parse(kMixed);
  Rng rng(3);
  // So large an eta that rounding would take the steps of integers back.
  const Offspring offspring(space, {.crossover = 0, .mutation = 1.0, .mutation_eta = 1000});
  for (int i = 0; i < 500; ++i) {
    const Point parent = sample(space, rng);
    const Point child = offspring(parent, parent, rng);
    for (std::size_t k = 0; k < 8; ++k) {
      CAPTURE(k);
      if (k == 1 || k == 3 || k >= 5) REQUIRE(child.values[k] != parent.values[k]);
    }
    CHECK(child.values[8] == 3);
    CHECK(child.values[9] == 0);
  }
}

TEST_CASE("offspring: one mutation a child by default") {
  const Space space = parse(kMixed);
  Rng rng(4);
  const Offspring offspring(space, {.crossover = 0});
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {
    const Point parent = sample(space, rng);
    const Point child = offspring(parent, parent, rng);
    for (std::size_t k = 0; k < 8; ++k) changes += child.values[k] != parent.values[k];
  }
  CHECK(changes == Approx(1000).margin(100));
}

TEST_CASE("offspring: an option comes with what is inside of it") {
  const Space space = parse(kNested);
  // layer, s, k, p, w, x
  const Point pool{{1, 0.25, kNone, kNone, kNone, 0.5}};
  const Point conv{{2, kNone, 0.75, 1, 7, 0.5}};
  REQUIRE(check_point(space, pool));
  REQUIRE(check_point(space, conv));
  const Offspring offspring(space, {.crossover = 1, .swapping = 1, .mutation = 0.0});
  Rng rng(5);
  int pools = 0;
  for (int i = 0; i < 400; ++i) {
    const Point child = offspring(pool, conv, rng);
    pools += child == pool;
    REQUIRE((child == pool || child == conv));
  }
  CHECK(pools == Approx(200).margin(50));
}

TEST_CASE("offspring: what only the second parent has inside of a shared option is taken whole") {
  const Space space = parse(kNested);
  const Point with{{2, kNone, 0.75, 1, 7, 0.5}};
  const Point without{{2, kNone, 0.75, 0, kNone, 0.5}};
  const Offspring offspring(space, {.crossover = 1, .swapping = 1, .mutation = 0.0});
  Rng rng(6);
  std::set<double> seen;
  for (int i = 0; i < 100; ++i) {
    const Point child = offspring(without, with, rng);
    REQUIRE((child == with || child == without));
    seen.insert(child.values[3]);
  }
  CHECK(seen == std::set<double>{0, 1});
}

TEST_CASE("offspring: an option that no parent has is drawn") {
  const Space space = parse(kNested);
  const Point none{{0, kNone, kNone, kNone, kNone, 0.5}};
  const Offspring offspring(space, {.crossover = 1, .mutation = 1.0});
  Rng rng(7);
  std::set<double> options, inner;
  for (int i = 0; i < 100; ++i) {
    const Point child = offspring(none, none, rng);
    REQUIRE(check_point(space, child));
    options.insert(child.values[0]);
    if (child.active(1)) inner.insert(child.values[1]);
  }
  CHECK(options == std::set<double>{1, 2});
  CHECK(inner.size() > 20);
}

TEST_CASE("offspring: subsets exchange one member") {
  const Space space = parse(R"({"in": {"_type": "input_choice",
      "_value": {"candidates": ["a", "b", "c", "d", "e"], "n_chosen": 3}}})");
  const Point parent{{7}};
  const Offspring offspring(space, {.crossover = 0, .mutation = 1.0});
  Rng rng(8);
  std::set<double> seen;
  for (int i = 0; i < 200; ++i) seen.insert(offspring(parent, parent, rng).values[0]);
  CHECK(seen == std::set<double>{11, 13, 14, 19, 21, 22});
}

}  // namespace attune::offspring_test
