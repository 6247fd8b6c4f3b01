#include "space/features.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "space/sample.h"
#include "tests/space/space_helpers.h"

namespace attune::features_test {

using Numbers = std::vector<double>;
constexpr double kNone = Point::kInactive;

bool alike(const Numbers& a, const Numbers& b) { return Point{a} == Point{b}; }

// "0" for a position, "0/5" for one of five levels, "3" for three categories.
std::string shape(const std::string& text) {
  const Features features(space_of(text));
  std::string all;
  for (const auto& [categories, levels] : features.dimensions()) {
    all += (all.empty() ? "" : " ") + std::to_string(categories);
    if (levels > 0) all += "/" + std::to_string(levels);
  }
  return all;
}

std::string param(const std::string& type, const std::string& value) {
  return R"({"x": {"_type": ")" + type + R"(", "_value": )" + value + "}}";
}

TEST_CASE("features: every domain") {
  const Features features(space_of(R"({
    "c": {"_type": "choice", "_value": ["a", "b", "c"]},
    "i": {"_type": "randint", "_value": [2, 6]},
    "u": {"_type": "uniform", "_value": [-1, 3]},
    "l": {"_type": "loguniform", "_value": [0.0001, 1]},
    "q": {"_type": "quniform", "_value": [2, 10, 5]},
    "n": {"_type": "normal", "_value": [1, 2]},
    "ln": {"_type": "lognormal", "_value": [0, 1]},
    "s": {"_type": "input_choice", "_value": {"candidates": ["x", "y", "z"], "n_chosen": 2}},
    "t": {"_type": "choice", "_value": [16, 32, 64.5, 128]},
    "o": {"_type": "layer_choice", "_value": ["conv", "pool"]}})"));
  REQUIRE(features.size() == 12);
  const auto x = features.encode(Point{{1, 3, 0, 0.01, 5, 1, 1, 0b101, 2, 1}});
  const Numbers expected = {1, 1.5 / 4, 0.25, 0.5, 3.0 / 8, 0.5, 0.5, 1, 0, 1, 2.0 / 3, 1};
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    CHECK(x[i] == Approx(expected[i]));
  }
  const std::vector<int> dimension_of = {-1, 1, 2, 3, 4, 5, 6, -1, 10, -1};
  for (std::size_t i = 0; i < dimension_of.size(); ++i) {
    const auto position = features.position(i);
    CHECK((position ? static_cast<int>(*position) : -1) == dimension_of[i]);
  }
}

TEST_CASE("features: categories and levels") {
  CHECK(shape(param("choice", R"(["a", "b"])")) == "2");
  CHECK(shape(param("randint", "[2, 6]")) == "0/4");
  CHECK(shape(param("randint", "[0, 1000000]")) == "0/1000000");
  CHECK(shape(param("randint", "[0, 1000001]")) == "0");
  CHECK(shape(param("randint", "[-9007199254740991, 9007199254740991]")) == "0");
  CHECK(shape(param("uniform", "[0, 1]")) == "0");
  CHECK(shape(param("quniform", "[0, 1, 0.25]")) == "0/5");
  CHECK(shape(param("quniform", "[2, 10, 5]")) == "0/3");  // 2, 5 and 10
  CHECK(shape(param("qloguniform", "[1, 1000, 1]")) == "0/1000");
  CHECK(shape(param("qnormal", "[0, 1, 0.5]")) == "0");
  CHECK(shape(param("input_choice", R"({"candidates": [1, 2, 3, 4], "n_chosen": 2})")) ==
        "2 2 2 2");
}

TEST_CASE("features: at least three ascending numbers are a scale") {
  CHECK(shape(param("choice", "[1, 2, 3]")) == "0/3");
  CHECK(shape(param("choice", "[-1e9, 0, 0.5, 3]")) == "0/4");
  CHECK(shape(param("choice", "[1, 2]")) == "2");
  CHECK(shape(param("choice", "[1, 3, 2]")) == "3");
  CHECK(shape(param("choice", "[1, 1, 2]")) == "3");
  CHECK(shape(param("choice", "[3, 2, 1]")) == "3");
  CHECK(shape(param("choice", R"([1, 2, "3"])")) == "3");
  CHECK(shape(param("choice", "[false, true, 2]")) == "3");
  const Features features(space_of(param("choice", "[1, 10, 100]")));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto index = static_cast<double>(k);
    CHECK(features.encode(Point{{index}})[0] == index / 2);
    CHECK(features.value(0, index / 2) == index);
  }
  CHECK(features.value(0, 0.7) == 1);
  CHECK(features.value(0, 0.8) == 2);
}

TEST_CASE("features: constants have no dimension") {
  for (const auto& [type, value] : std::vector<std::pair<std::string, std::string>>{
           {"choice", R"(["only"])"},
           {"randint", "[3, 4]"},
           {"uniform", "[2, 2]"},
           {"loguniform", "[2, 2]"},
           {"quniform", "[2, 2, 0.5]"},
           {"normal", "[3, 0]"},
           {"lognormal", "[3, 0]"},
           {"input_choice", R"({"candidates": [1, 2], "n_chosen": 2})"}}) {
    CAPTURE(type, value);
    const Space space = space_of(param(type, value));
    const Features features(space);
    Rng rng(1);
    CHECK(features.size() == 0);
    CHECK_FALSE(features.position(0));
    CHECK(features.encode(sample(space, rng)).empty());
  }
  CHECK(Features(space_of("{}")).encode(Point{}).empty());
}

TEST_CASE("features: candidates that are written alike are one category") {
  const Features features(space_of(param("choice", R"(["x", "y", "x", "y", "z"])")));
  const Numbers expected = {0, 1, 0, 1, 4};
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(features.encode(Point{{static_cast<double>(k)}})[0] == expected[k]);
  }
}

const char* const kBoosters = R"({"booster": {"_type": "choice", "_value": [
    {"_name": "tree", "eta": {"_type": "loguniform", "_value": [0.01, 1]},
                      "rate": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "dart", "eta": {"_type": "loguniform", "_value": [0.01, 1]},
                      "rate": {"_type": "uniform", "_value": [0, 2]}},
    {"_name": "none"}]},
  "other": {"_type": "choice", "_value": [
    {"_name": "a", "eta": {"_type": "loguniform", "_value": [0.01, 1]}}, {"_name": "b"}]}})";

TEST_CASE("features: options share what has one name and domain") {
  const Features features(space_of(kBoosters));
  // booster, eta of both, rate, rate; other, its eta.
  REQUIRE(features.size() == 6);
  CHECK(features.position(1) == features.position(3));
  CHECK(features.position(2) != features.position(4));  // another domain
  CHECK(features.position(6) != features.position(1));  // another parent: both may be active
  const auto x = features.encode(Point{{0, 0.1, 0.3, kNone, kNone, 0, 1}});
  const auto y = features.encode(Point{{1, kNone, kNone, 0.1, 0.6, 1, kNone}});
  CHECK(alike(x, {0, x[1], 0.3, kNone, 0, 1}));
  CHECK(alike(y, {1, x[1], kNone, 0.3, 1, kNone}));
  CHECK(x[1] == Approx(0.5));
  CHECK(alike(features.encode(Point{{2, kNone, kNone, kNone, kNone, 1, kNone}}),
              {2, kNone, kNone, kNone, 1, kNone}));
}

TEST_CASE("features: choices of one kind share what is below them") {
  const std::string inner = R"("in": {"_type": "choice", "_value": [
      {"_name": "p", "v": {"_type": "uniform", "_value": [0, 1]}}, {"_name": "q"}]})";
  const std::string outer = R"({"out": {"_type": "choice", "_value": [
      {"_name": "a", )" + inner +
                            R"(}, {"_name": "b", )" + inner + "}]}}";
  CHECK(shape(outer) == "2 2 0");
  // Beside each other they may be active together.
  const std::string deep =
      R"("d": {"_type": "choice", "_value": [{"_name": "r", )" + inner + R"(}, {"_name": "s"}]})";
  CHECK(shape("{" + inner + ", " + deep + "}") == "2 0 2 2 0");
  // A choice that is a constant has no dimension that it could be mistaken for.
  const std::string constant = R"("c": {"_type": "choice", "_value": [
      {"_name": "p", "v": {"_type": "uniform", "_value": [0, 1]}}]})";
  CHECK(shape("{" + constant + ", " + inner + "}") == "0 2 0");
}

TEST_CASE("features: sampled points and back") {
  Rng rng(7);
  for (int k = 0; k < 200; ++k) {
    const Space space = space_of(dump_json(random_space(rng, {})));
    const Features features(space);
    for (int i = 0; i < 5; ++i) {
      const Point point = sample(space, rng);
      const Numbers row = features.encode(point);
      REQUIRE(row.size() == features.size());
      std::vector<bool> is_set(row.size());
      for (std::size_t p = 0; p < space.params.size(); ++p) {
        const auto position = features.position(p);
        if (!position || !point.active(p)) continue;
        const double x = row[*position];
        CHECK(x >= 0);
        CHECK(x <= 1);
        is_set[*position] = true;
        const double value = features.value(p, x);
        CAPTURE(space.params[p].path, point.values[p], x, value);
        if (is_continuous(space.params[p].domain)) {
          Point back = point;
          back.values[p] = value;
          CHECK(features.encode(back)[*position] == Approx(x).margin(1e-9));
        } else if (x > 1e-9 && x < 1 - 1e-9) {
          CHECK(value == point.values[p]);
        }
        for (const double any : {-0.3, 0.0, 0.2, 0.77, 1.0, 9.0}) {
          Point moved = point;
          moved.values[p] = features.value(p, any);
          if (!std::holds_alternative<Choice>(space.params[p].domain)) {
            CHECK(in_space(space, moved));
          }
        }
      }
      for (std::size_t d = 0; d < row.size(); ++d) {
        const std::size_t categories = features.dimensions()[d].categories;
        if (categories > 0 && row[d] == row[d]) {
          CHECK(row[d] == std::floor(row[d]));
          CHECK(row[d] < static_cast<double>(categories));
        }
        if (categories == 0) CHECK(is_set[d] == (row[d] == row[d]));
      }
    }
  }
}

TEST_CASE("features: the probability up to a position is that of the draws") {
  for (const auto& [type, value] :
       std::vector<std::pair<const char*, const char*>>{{"uniform", "[-1, 3]"},
                                                        {"loguniform", "[0.0001, 1]"},
                                                        {"normal", "[1, 2]"},
                                                        {"quniform", "[0, 1, 0.5]"},
                                                        {"quniform", "[2, 10, 5]"},
                                                        {"quniform", "[0, 1.4, 0.6]"},
                                                        {"quniform", "[-0.3, 1, 0.1]"},
                                                        {"qloguniform", "[1, 20, 1]"},
                                                        {"qnormal", "[0, 1, 0.5]"},
                                                        {"qlognormal", "[0, 1, 1]"},
                                                        {"randint", "[-3, 4]"},
                                                        {"choice", "[1, 2, 4, 8, 16]"}}) {
    CAPTURE(type, value);
    const Space space = space_of(param(type, value));
    const Features features(space);
    Rng rng(1);
    constexpr int kDraws = 20000;
    Numbers drawn;
    for (int k = 0; k < kDraws; ++k) drawn.push_back(features.encode(sample(space, rng))[0]);
    const auto count_up_to = [&](double position) {
      return std::ranges::count_if(drawn, [&](double x) { return x <= position; });
    };
    for (int k = 0; k < 50; ++k) {
      const double cut = k < 40 ? rng.uniform() : drawn[static_cast<std::size_t>(k)];
      CAPTURE(cut);
      CHECK(features.probability_up_to(0, cut) ==
            Approx(static_cast<double>(count_up_to(cut)) / kDraws).margin(0.02));
    }
    CHECK(features.probability_up_to(0, 1) == 1);
  }
}

TEST_CASE("features: where the dimensions of a parameter are") {
  const Features features(space_of(R"({
    "constant": {"_type": "uniform", "_value": [1, 1]},
    "s": {"_type": "input_choice", "_value": {"candidates": ["x", "y", "z"], "n_chosen": 2}},
    "u": {"_type": "uniform", "_value": [0, 1]}})"));
  CHECK(features.place(0).count == 0);
  CHECK(features.place(1).first == 0);
  CHECK(features.place(1).count == 3);
  CHECK(features.place(2).first == 3);
  CHECK(features.place(2).count == 1);
}

}  // namespace attune::features_test
