#include <algorithm>
#include <cmath>
#include <set>

#include "tests/tuners/tuner_world.h"

namespace attune::anneal_test {

constexpr double kNone = Point::kInactive;

std::vector<double> column(TunerWorld& world, std::size_t i, int draws) {
  std::vector<double> drawn;
  for (int k = 0; k < draws; ++k) drawn.push_back(world.values()[i]);
  return drawn;
}

double share(const std::vector<double>& drawn, double value) {
  return double(std::ranges::count(drawn, value)) / double(drawn.size());
}

// An integer beside a real: the real keeps the deduplication out of the way.
const std::string kInteger = R"({"i": {"_type": "randint", "_value": [0, 1000]},
                                 "x": {"_type": "uniform", "_value": [0, 1]}})";

TEST_CASE("Anneal: one imported result of 0, the window is moved inside the bounds") {
  TunerWorld world("Anneal", R"({"x": {"_type": "uniform", "_value": [0, 10]}})");
  world.imported({9.9}, 0);
  const auto drawn = column(world, 0, 500);
  const double low = 10 - 10 / 1.1;  // shrink is 1 / (1 + 0.1)
  CHECK(std::ranges::min(drawn) >= low);
  CHECK(std::ranges::min(drawn) < low + 0.2);
  CHECK(std::ranges::max(drawn) > 9.8);
}

TEST_CASE("Anneal: windows of logarithmic types are on the logarithmic scale") {
  TunerWorld world("Anneal", R"({"x": {"_type": "loguniform", "_value": [1e-5, 0.1]}})");
  for (int i = 0; i < 100; ++i) world.imported({1e-3}, 1);
  const auto drawn = column(world, 0, 500);
  const double reach = std::exp(std::log(1e4) / 11 / 2);
  CHECK(std::ranges::min(drawn) >= 1e-3 / reach * (1 - 1e-12));
  CHECK(std::ranges::min(drawn) < 1e-3 / reach * 1.02);
  CHECK(std::ranges::max(drawn) <= 1e-3 * reach * (1 + 1e-12));
  CHECK(std::ranges::max(drawn) > 1e-3 * reach / 1.02);
}

TEST_CASE("Anneal: normal types keep their form, the deviation shrinks") {
  TunerWorld world("Anneal", R"({"x": {"_type": "normal", "_value": [0, 2]}})");
  for (int i = 0; i < 90; ++i) world.imported({3}, 1);
  const auto drawn = column(world, 0, 2000);
  double sum = 0, squares = 0;
  for (const double x : drawn) {
    sum += x;
    squares += (x - 3) * (x - 3);
  }
  CHECK(sum / 2000 == Approx(3).margin(0.02));
  CHECK(std::sqrt(squares / 2000) == Approx(0.2).epsilon(0.1));
}

TEST_CASE("Anneal: the rank of the trial is geometric, integers are mixed with the prior") {
  TunerWorld world("Anneal", kInteger);
  for (int i = 199; i >= 0; --i) world.imported({double(i), 0.5}, i);
  const auto drawn = column(world, 0, 8000);
  const double kept = 1 - 1 / 21.0;
  CHECK(share(drawn, 0) == Approx(kept / 2).margin(0.03));
  CHECK(share(drawn, 1) == Approx(kept / 4).margin(0.03));
  CHECK(share(drawn, 2) == Approx(kept / 8).margin(0.03));
  const auto others = std::ranges::count_if(drawn, [](double i) { return i >= 200; });
  CHECK(double(others) / 8000 == Approx(0.8 / 21).margin(0.01));
}

TEST_CASE("Anneal: one trial is drawn for all parameters that it defines") {
  TunerWorld world("Anneal", R"({"a": {"_type": "randint", "_value": [0, 1000]},
                                 "b": {"_type": "randint", "_value": [0, 1000]},
                                 "x": {"_type": "uniform", "_value": [0, 1]}})");
  for (int i = 0; i < 200; ++i) world.imported({double(i), double(i), 0.5}, i);
  int together = 0;
  for (int k = 0; k < 1000; ++k) {
    const auto values = world.values();
    together += values[0] == values[1];
  }
  CHECK(together > 850);  // (1 - 1/21)^2 = 0.907; drawn one by one it would be a third of that
}

TEST_CASE("Anneal: a parameter that the drawn trial lacks is a runner-up's") {
  TunerWorld world("Anneal", R"({"layer": {"_type": "choice", "_value": [{"_name": "a"},
      {"_name": "b", "k": {"_type": "randint", "_value": [0, 1000]}}]},
      "x": {"_type": "uniform", "_value": [0, 1]}})");
  for (int i = 0; i < 100; ++i) {
    world.imported({0, kNone, 0.5}, -1);
    world.imported({1, 7, 0.5}, 1);
  }
  int inside = 0, sevens = 0;
  for (int k = 0; k < 8000; ++k) {
    const auto values = world.values();
    inside += values[0] == 1;
    sevens += values[1] == 7;
  }
  CHECK(inside == Approx(8000 / 42.0).margin(60));  // only the prior leads there
  CHECK(double(sevens) / inside == Approx(1 - 1 / 11.0).margin(0.08));
}

TEST_CASE("Anneal: failed trials and results that are not finite teach nothing") {
  TunerWorld world("Anneal", R"({"x": {"_type": "uniform", "_value": [0, 10]}})");
  for (TrialId id = 0; id < 100; ++id) {
    world.failed(id, {9.9});
    world.completed(id + 100, {9.9}, INFINITY);
  }
  CHECK(std::ranges::min(column(world, 0, 200)) < 1);
}

TEST_CASE("Anneal: a finite space is proposed once, and then it is exhausted") {
  TunerWorld world("Anneal", R"({"a": {"_type": "choice", "_value": ["x", "y", "z"]},
                                 "b": {"_type": "quniform", "_value": [0, 1, 0.5]}})");
  world.imported({0, 0.5}, 3);
  std::set<std::vector<double>> seen = {{0, 0.5}};
  for (int i = 0; i < 8; ++i) {
    const auto values = world.values();
    CHECK(seen.insert(values).second);
    world.completed(world.next - 1, values, i);
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("Anneal: the liar's min and max are those of the metric as reported") {
  struct Case {
    const char *mode, *type;
    int before;  // results that rank before the running trials
  };
  const Case test = GENERATE(Case{"minimize", "min", 1}, Case{"minimize", "max", 3},
                             Case{"maximize", "min", 3}, Case{"maximize", "max", 1},
                             Case{"minimize", "mean", 2}, Case{"maximize", "mean", 2});
  CAPTURE(test.mode, test.type);
  TunerWorld world("Anneal", kInteger,
                   {{"optimize_mode", test.mode},
                    {"parallel_optimize", true},
                    {"constant_liar_type", test.type}});
  world.imported({1, 0.5}, 0);
  world.imported({2, 0.5}, 0.2);
  world.imported({3, 0.5}, 1);
  for (TrialId id = 10000; id < 10040; ++id) world.tuner->adopt(id, {{500, 0.5}});
  const auto draws = [&](int count) {
    std::vector<double> drawn;
    for (int k = 0; k < count; ++k) {
      drawn.push_back(world.values()[0]);
      world.failed(world.next - 1, {drawn.back(), 0.5});
    }
    return drawn;
  };
  CHECK(share(draws(21), 500) < 0.05);  // honest at first
  const auto drawn = draws(2000);
  const double kept = 1 - 1 / (1 + 4.3);
  CHECK(share(drawn, 1) == Approx(kept / 2).margin(0.04));
  CHECK(share(drawn, 2) == Approx(test.before > 1 ? kept / 4 : 0).margin(0.04));
  CHECK(share(drawn, 3) == Approx(test.before > 2 ? kept / 8 : 0).margin(0.04));
  CHECK(share(drawn, 500) == Approx(kept / std::exp2(test.before)).margin(0.04));
}

}  // namespace attune::anneal_test
