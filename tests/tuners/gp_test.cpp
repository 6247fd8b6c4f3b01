#include <algorithm>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "base/saved_numbers.h"
#include "space/dedup.h"
#include "tests/tuners/tuner_world.h"

namespace attune::gp_test {

using Values = std::vector<double>;

double best_of(const std::string& tuner, const json& arguments, std::uint64_t seed,
               int trials = 30) {
  return lowest_loss({tuner, kQuadratic, arguments, seed}, trials, quadratic);
}

std::string refusal(const json& arguments) {
  const auto made = make_tuner(builtin_tuners(), "GP", arguments, {}, 1);
  return made ? "" : made.error().message;
}

TEST_CASE("gp: finds in 30 trials what random search does not") {
  double random = 1e300, ours = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    random = std::min(random, best_of("Random", {}, seed));
    ours = std::max(ours, best_of("GP", {}, seed));
  }
  CAPTURE(random, ours);
  CHECK(ours < 1e-3);  // the worst of ours against the best at random
  CHECK(ours < random);
}

TEST_CASE("gp: every utility finds it") {
  for (const json& arguments :
       {json{{"utility", "ucb"}, {"kappa", 2}}, json{{"utility", "poi"}, {"xi", 0.01}},
        json{{"utility", "ei"}, {"xi", 0.01}}}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CAPTURE(dump_json(arguments), seed);
      CHECK(best_of("GPTuner", arguments, seed, 40) < 0.01);
    }
  }
}

TEST_CASE("gp: a larger kappa looks further away") {
  const auto spread = [](double kappa) {
    TunerWorld world("GP", kQuadratic, {{"utility", "ucb"}, {"kappa", kappa}});
    double sum = 0;
    const auto all = run(world, 40, quadratic);
    for (std::size_t i = 20; i < 40; ++i) sum += quadratic(all[i]) / 20;
    return sum;
  };
  CHECK(spread(50) > 5 * spread(0.5));
}

TEST_CASE("gp: a batch is spread") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    TunerWorld world("GP", kQuadratic, {}, seed);
    run(world, 12, quadratic);
    std::vector<TrialId> ids(16);
    for (TrialId& id : ids) id = world.next++;
    SeenPoints seen(world.space);
    std::vector<Values> apart;  // further than 0.03 from those before, or of another category
    for (const Answer& answer : world.tuner->ask(ids)) {
      const Values v = std::get<Proposal>(answer).point.values;
      CHECK(seen.insert(Point{v}));
      const bool is_new = std::ranges::none_of(apart, [&](const Values& other) {
        return v[2] == other[2] && std::hypot(v[0] - other[0], v[1] - other[1]) < 0.03;
      });
      if (is_new) apart.push_back(v);
    }
    CAPTURE(seed);
    CHECK(apart.size() >= 6);
  }
}

TEST_CASE("gp: nothing is proposed twice where the best is a corner") {
  for (const char* utility : {"auto", "ei", "ucb", "poi"}) {
    TunerWorld world("GP", R"({"x": {"_type": "uniform", "_value": [0, 1]},
        "y": {"_type": "loguniform", "_value": [0.001, 1]}})",
                     {{"utility", utility}});
    SeenPoints seen(world.space);
    int corner = 0;
    for (const Values& v : run(world, 60, [](const Values& x) { return x[0] - x[1]; })) {
      CHECK(seen.insert(Point{v}));
      corner += v == Values{0, 1};
    }
    CHECK(corner == 1);
  }
}

TEST_CASE("gp: a finite space is proposed once and then it is exhausted") {
  TunerWorld world("GP", R"({"a": {"_type": "randint", "_value": [0, 6]},
      "b": {"_type": "choice", "_value": ["x", "y", "x"]},
      "n": {"_type": "choice", "_value": [{"_name": "p"}, {"_name": "q",
        "k": {"_type": "choice", "_value": [1, 2, 4]}}]}})",
                   {{"cold_start_num", 3}});
  const auto loss = [](const Values& v) { return std::abs(v[0] - 4) + v[2]; };
  SeenPoints seen(world.space);
  int rank = 0, found = 0;
  for (const Values& v : run(world, 6 * 2 * 4, loss)) {
    CHECK(seen.insert(Point{v}));
    ++rank;
    if (loss(v) == 0) found = found == 0 ? rank : found;
  }
  CHECK(std::holds_alternative<Exhausted>(world.ask()));
  CHECK(found <= 20);
}

// As bad as the worst, the failures near the optimum would hide it.
TEST_CASE("gp: trials that fail by accident spoil little") {
  int found = 0;
  for (const char* tuner : {"GP", "TuRBO"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      TunerWorld world(tuner, kQuadratic, {{"optimize_mode", "minimize"}}, seed);
      double best = 1;
      for (int k = 0; k < 50; ++k) {
        const Values v = world.values();
        if (k % 5 == 4) {
          world.failed(world.next - 1, v);
          continue;
        }
        world.completed(world.next - 1, v, quadratic(v));
        best = std::min(best, quadratic(v));
      }
      found += best < 1e-3 ? 1 : 0;
    }
  }
  CHECK(found >= 5);
}

TEST_CASE("gp: where trials fail it does not stay") {
  int failed_late = 0, random_late = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    for (const char* tuner : {"GP", "Random"}) {
      TunerWorld world(tuner, kQuadratic, {}, seed);
      for (int k = 0; k < 50; ++k) {
        const Values v = world.values();
        const bool fails = v[0] > 0.5;  // with the best of the quadratic function
        fails ? world.failed(world.next - 1, v) : world.completed(world.next - 1, v, quadratic(v));
        if (k >= 20 && fails) ++(*tuner == 'G' ? failed_late : random_late);
      }
    }
  }
  CAPTURE(failed_late, random_late);
  CHECK(failed_late < 4 * random_late / 5);  // the best that is left is where failures begin
  TunerWorld hopeless("GP", kQuadratic);
  for (int k = 0; k < 30; ++k) hopeless.failed(k, hopeless.values());
}

TEST_CASE("gp: positions are warped where the results speak for it unless told otherwise") {
  for (const bool allowed : {true, false}) {
    TunerWorld world("GP", R"({"x": {"_type": "uniform", "_value": [0, 1]}})",
                     {{"input_warping", allowed}});
    for (int k = 0; k < 60; ++k) {
      const double x = k / 59.0;
      world.imported({x}, std::sin(20 * std::pow(x, 0.25)));
    }
    world.values();
    const auto parameters = numbers_at(world.tuner->save()["models"][0][0], "parameters");
    CHECK(parameters.value().size() == (allowed ? 5u : 3u));
  }
}

TEST_CASE("gp: imported results count as a cold start") {
  // Until enough results are there answers are draws, the same whatever the losses were.
  const auto answers_differ = [](int imports) {
    TunerWorld a("GP", kQuadratic, {{"cold_start_num", 6}}),
        b("GP", kQuadratic, {{"cold_start_num", 6}});
    Rng rng(3);
    for (int k = 0; k < imports; ++k) {
      const Values v = {rng.uniform(), rng.uniform(), static_cast<double>(rng.index(4))};
      a.imported(v, quadratic(v));
      b.imported(v, -quadratic(v));
    }
    return a.values() != b.values();
  };
  CHECK_FALSE(answers_differ(5));
  CHECK(answers_differ(6));
  TunerWorld warm("GP", kQuadratic);
  Rng rng(4);
  for (int k = 0; k < 40; ++k) {
    const Values v = {rng.uniform(), rng.uniform(), static_cast<double>(rng.index(4))};
    warm.imported(v, quadratic(v));
  }
  double best = 1;
  for (const Values& v : run(warm, 6, quadratic)) best = std::min(best, quadratic(v));
  CHECK(best < 2e-3);
}

TEST_CASE("gp: extreme and equal losses") {
  for (const double unit : {0.0, 1e-300, 1e300}) {
    TunerWorld world("GP", kQuadratic, {{"cold_start_num", 4}});
    SeenPoints seen(world.space);
    double best = 1;
    for (const Values& v : run(world, 30, [&](const Values& x) { return unit * quadratic(x); })) {
      CHECK(seen.insert(Point{v}));
      best = std::min(best, quadratic(v));
    }
    if (unit > 0) CHECK(best < 0.01);
  }
}

TEST_CASE("gp: constraints and running trials and what was withdrawn") {
  TunerWorld world("GP", kQuadratic);
  run(world, 12, quadratic);
  TunerWorld other("GP", kQuadratic);
  run(other, 12, quadratic);
  const Values next = world.values();
  CHECK(other.values() == next);
  // Withdrawn it does not run, and is not proposed again either.
  other.tuner->withdraw(other.next - 1);
  const Values after = other.values(), beside = world.values();
  CHECK(after != next);
  CHECK(beside != next);
  // An adopted trial is one that runs.
  TunerWorld adopting("GP", kQuadratic), plain("GP", kQuadratic);
  run(adopting, 12, quadratic);
  run(plain, 12, quadratic);
  adopting.tuner->adopt(1000, Point{next});
  CHECK(plain.values() == next);
  CHECK(adopting.values() != next);
}

TEST_CASE("gp: arguments are checked and errors name the cure") {
  CHECK(refusal({}).empty());
  CHECK(refusal({{"nu", 2.5}, {"alpha", 1e-4}, {"selection_num_warm_up", 10}}).empty());
  const std::string nu = refusal({{"nu", 1.5}});
  CAPTURE(nu);
  CHECK(nu.find("nu") != std::string::npos);
  CHECK(nu.find("leave it out") != std::string::npos);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, json>>{{"utility", "pi"},
                                                 {"kappa", -1},
                                                 {"xi", -0.1},
                                                 {"alpha", 0},
                                                 {"alpha", 1},
                                                 {"cold_start_num", 0},
                                                 {"cold_start_num", 1.5},
                                                 {"selection_num_warm_up", 0},
                                                 {"selection_num_starting_points", 0},
                                                 {"nu", "x"}}) {
    CAPTURE(key, dump_json(value));
    CHECK(refusal({{key, value}}).find(key) != std::string::npos);
  }
  // With the least of everything it still answers.
  TunerWorld world("GP", kQuadratic,
                   {{"selection_num_warm_up", 1},
                    {"selection_num_starting_points", 1},
                    {"cold_start_num", 1},
                    {"alpha", 0.5}});
  CHECK(run(world, 20, quadratic).size() == 20);
}

}  // namespace attune::gp_test
