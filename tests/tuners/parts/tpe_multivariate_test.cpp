// What the multivariate form of TPE does beyond what every tuner must (conformance_test.cpp).
#include <algorithm>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "space/sample.h"
#include "tests/tuners/tuner_world.h"

namespace attune::tpe_multivariate_test {

const json kMultivariate = json::object();  // the default

const std::string kSquare = R"({"x": {"_type": "uniform", "_value": [-5, 5]},
                                "y": {"_type": "uniform", "_value": [-5, 5]}})";

// The best of `count` evaluations.
template <class Loss>
double best_of(TunerWorld& world, int count, Loss&& loss) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < count; ++i) {
    const std::vector<double> values = world.values();
    const double result = loss(values);
    best = std::min(best, result);
    world.completed(world.next - 1, values, result);
  }
  return best;
}

double median_best(const json& arguments) {
  // A narrow valley along the diagonal: neither parameter alone says anything.
  const auto valley = [](const std::vector<double>& v) {
    return 10 * std::pow(v[0] - v[1], 2) + std::pow(v[0] + v[1] - 6, 2);
  };
  std::vector<double> bests;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    TunerWorld world("TPE", kSquare, arguments, seed);
    bests.push_back(best_of(world, 60, valley));
  }
  std::ranges::sort(bests);
  return bests[7];
}

std::string error_of(const json& arguments) {
  const auto made = make_tuner(builtin_tuners(), "TPE", arguments, {}, 0);
  return made ? "" : made.error().message;
}

TEST_CASE("multivariate TPE learns what goes together") {
  const double joint = median_best(kMultivariate), apart = median_best({{"multivariate", false}});
  CAPTURE(joint, apart);
  CHECK(joint < 0.3);
  CHECK(joint < apart / 2);
}

TEST_CASE("multivariate TPE: a parameter of several branches learns from all of them") {
  const std::string space = R"({"kernel": {"_type": "choice", "_value": [
    {"_name": "a", "gamma": {"_type": "uniform", "_value": [0, 1]}},
    {"_name": "b", "gamma": {"_type": "uniform", "_value": [0, 1]}}]}})";
  TunerWorld world("TPE", space, kMultivariate);
  // Branch b is not seen until it is asked for.
  Rng rng(1);
  for (int i = 0; i < 60; ++i) {
    const double gamma = rng.uniform();
    world.imported({0, gamma, Point::kInactive}, std::abs(gamma - 0.8));
  }
  int in_b = 0, near = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<double> values = world.values();
    world.failed(world.next - 1, values);
    if (values[0] == 0) continue;
    ++in_b;
    near += std::abs(values[2] - 0.8) < 0.15;
  }
  CAPTURE(in_b, near);
  REQUIRE(in_b > 0);
  CHECK(near > 0.8 * in_b);
}

TEST_CASE("multivariate TPE chooses the better branch and goes on trying the other") {
  const std::string space = R"({"x": {"_type": "uniform", "_value": [0, 1]},
    "branch": {"_type": "choice", "_value": [
      {"_name": "good", "g": {"_type": "uniform", "_value": [0, 1]}},
      {"_name": "bad", "b": {"_type": "uniform", "_value": [0, 1]}}]}})";
  TunerWorld world("TPE", space, kMultivariate);
  int good = 0;
  best_of(world, 100, [&](const std::vector<double>& v) {
    good += v[1] == 0;
    return v[1] == 0 ? v[0] + std::abs(v[2] - 0.5) : 1 + v[3];
  });
  CHECK(good > 65);
  CHECK(good < 100);
}

TEST_CASE("multivariate TPE: a batch spreads") {
  TunerWorld world("TPE", kSquare, kMultivariate);
  best_of(world, 40, [](const auto& v) { return v[0] * v[0] + v[1] * v[1]; });
  std::vector<TrialId> ids(64);
  for (TrialId& id : ids) id = world.next++;
  const auto answers = world.tuner->ask(ids);
  double least = 100, widest = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& a = std::get<Proposal>(answers[i]).point.values;
    for (std::size_t j = 0; j < i; ++j) {
      const auto& b = std::get<Proposal>(answers[j]).point.values;
      const double distance = std::hypot(a[0] - b[0], a[1] - b[1]);
      least = std::min(least, distance);
      widest = std::max(widest, distance);
    }
  }
  CHECK(least > 1e-3);
  CHECK(widest > 2);
}

TEST_CASE("multivariate TPE: every point of a finite space once") {
  TunerWorld world("TPE", R"({"a": {"_type": "choice", "_value": ["x", "y", "z"]},
    "b": {"_type": "randint", "_value": [0, 8]}})",
                   kMultivariate);
  std::set<std::vector<double>> seen;
  for (int i = 0; i < 24; ++i) {
    const std::vector<double> values = world.values();
    CHECK(seen.insert(values).second);
    world.completed(world.next - 1, values, values[0] + values[1]);
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
}

TEST_CASE("multivariate TPE: losses of any size") {
  const double scale = GENERATE(1e300, 1e-300, 0.0, 1.7e308);
  TunerWorld world("TPE", kSquare, kMultivariate);
  best_of(world, 60, [&](const auto& v) { return (v[0] > 0 ? -scale : scale); });
  const std::vector<double> values = world.values();
  CHECK((std::abs(values[0]) <= 5 && std::abs(values[1]) <= 5));
}

TEST_CASE("multivariate TPE: imports of a normal as far as doubles go") {
  TunerWorld world("TPE", R"({"n": {"_type": "normal", "_value": [0, 1e-3]},
    "q": {"_type": "qlognormal", "_value": [0, 1, 1]}})",
                   kMultivariate);
  for (int i = 0; i < 30; ++i) world.imported({i % 2 ? 1.7e308 : -1.7e308, i % 3 ? 0 : 1e308}, i);
  for (int i = 0; i < 20; ++i) {
    const std::vector<double> values = world.values();
    CHECK(std::isfinite(values[0]));
    CHECK(std::isfinite(values[1]));
  }
}

TEST_CASE("multivariate TPE: nothing but failures and running trials") {
  TunerWorld world("TPE", kSquare, {{"multivariate_args", {{"n_startup_jobs", 3}}}});
  for (int i = 0; i < 30; ++i) {
    const auto values = world.values();
    if (i % 2) world.failed(world.next - 1, values);
  }
  CHECK(world.tuner->save()["running"].size() == 15);
  CHECK(numbers(world.tuner->save()["history"]["losses"])->size() == 15);
}

// Where x + y > 0 every trial fails, and the best results are at that border.
int failures_of(std::uint64_t seed, const std::vector<Objective>& objectives = {}) {
  TunerWorld world("TPE", kSquare, {}, seed, objectives);
  int failures = 0;
  for (int i = 0; i < 80; ++i) {
    const std::vector<double> v = world.values();
    if (v[0] + v[1] > 0) {
      world.failed(world.next - 1, v);
      ++failures;
    } else {
      const double loss = std::hypot(v[0] - 1, v[1] - 1);
      world.completed(world.next - 1, v, Metrics{{"default", loss}, {"size", std::abs(v[0])}});
    }
  }
  return failures;
}

TEST_CASE("multivariate TPE leaves where trials fail") {
  const std::uint64_t seed = GENERATE(1, 2, 3);
  const std::vector<Objective> two = {{}, {.metric = "size"}};
  CHECK(failures_of(seed) <= 45);
  CHECK(failures_of(seed, two) <= 45);
}

TEST_CASE("multivariate TPE: failures of several objectives are restored as they were") {
  TunerWorld world("TPE", kSquare, {}, 1, {{}, {.metric = "size"}});
  for (int i = 0; i < 25; ++i) {
    const auto v = world.values();
    if (i % 3 == 0) {
      world.failed(world.next - 1, v);
    } else {
      world.completed(world.next - 1, v, Metrics{{"default", v[0]}, {"size", v[1]}});
    }
  }
  TunerWorld same("TPE", kSquare, {}, 9, {{}, {.metric = "size"}});
  REQUIRE(same.tuner->load(parse_json(dump_json(world.tuner->save())).value()));
  same.next = world.next;
  for (int i = 0; i < 10; ++i) {
    const auto v = world.values();
    CHECK(v == same.values());
    world.failed(world.next - 1, v);
    same.failed(same.next - 1, v);
  }
}

TEST_CASE("multivariate TPE: damaged histories are errors") {
  TunerWorld world("TPE", kSquare, kMultivariate);
  best_of(world, 12, [](const auto& v) { return v[0]; });
  world.values();
  const json good = world.tuner->save();
  const auto refuses = [&](const json::json_pointer& where, const json& what) {
    json damaged = good;
    damaged[where] = what;
    CAPTURE(where.to_string());
    CHECK_FALSE(world.tuner->load(damaged));
  };
  const auto path = [](const char* text) { return json::json_pointer(text); };
  std::vector<double> losses = *numbers(good["history"]["losses"]);
  std::vector<double> points = *numbers(good["history"]["points"]);
  losses[3] = std::nan("");
  refuses(path("/history/losses"), save_numbers(losses));
  refuses(path("/history/losses"), save_numbers(std::span(losses).first(3)));
  points[5] = 5.001;
  refuses(path("/history/points"), save_numbers(points));
  points[5] = std::numeric_limits<double>::infinity();
  refuses(path("/history/points"), save_numbers(points));
  refuses(path("/history/points"), "?");
  refuses(path("/running/0/point"), save_numbers(std::vector<double>{1}));
  refuses(path("/running/0"), 3);
  refuses(path("/running/0/trial"), "x");
  CHECK(dump_json(world.tuner->save()) == dump_json(good));
  CHECK(world.tuner->load(good));
}

TEST_CASE("TPE: settings of NNI's rule choose NNI's rule") {
  const auto is_joint = [](const json& arguments) {
    TunerWorld world("TPE", kSquare, arguments);
    return world.tuner->save().contains("history");
  };
  CHECK(is_joint({}));
  CHECK(is_joint({{"multivariate", nullptr}}));
  CHECK(is_joint({{"multivariate_args", json::object()}}));
  CHECK_FALSE(is_joint({{"tpe_args", json::object()}}));
  CHECK_FALSE(is_joint({{"multivariate", false}}));
}

TEST_CASE("TPE: settings of the rule that is not chosen are an error") {
  const json one = {{"gamma", 0.3}};
  const auto begins = [](const json& arguments) {
    const std::string error = error_of(arguments);
    return error.substr(0, error.find(':'));
  };
  CHECK(begins({{"multivariate", true}, {"tpe_args", one}}) == "TPE.tpe_args");
  CHECK(begins({{"multivariate", false}, {"multivariate_args", one}}) == "TPE.multivariate_args");
  CHECK(begins({{"tpe_args", one}, {"multivariate_args", one}}) == "TPE.multivariate_args");
  CHECK(error_of({{"multivariate_args", one}}).empty());
  CHECK(error_of({{"multivariate", true}, {"multivariate_args", one}}).empty());
  CHECK(error_of({{"multivariate", false}, {"tpe_args", one}}).empty());
  CHECK_FALSE(error_of({{"multivariate", true}, {"multivariate_args", {{"gamma", 0}}}}).empty());
}

}  // namespace attune::tpe_multivariate_test
