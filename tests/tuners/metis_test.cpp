#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "space/dedup.h"
#include "tests/tuners/tuner_world.h"

namespace attune::metis_test {

using Values = std::vector<double>;

const std::string kFinite = R"({"a": {"_type": "randint", "_value": [0, 12]},
    "n": {"_type": "choice", "_value": [{"_name": "p"}, {"_name": "q",
      "k": {"_type": "choice", "_value": [1, 2, 4]}}]}})";

double best_of(const std::string& tuner, const json& arguments, std::uint64_t seed) {
  return lowest_loss({tuner, kQuadratic, arguments, seed}, 30, quadratic);
}

int repeats(TunerWorld& world, int count, double noise) {
  SeenPoints seen(world.space);
  Rng rng(8);
  int found = 0;
  for (const Values& v :
       run(world, count, [&](const Values& x) { return quadratic(x) + noise * rng.normal(); })) {
    found += !seen.insert(Point{v});
  }
  return found;
}

TEST_CASE("metis: finds in 30 trials what random search does not") {
  double random = 1e300, ours = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    random = std::min(random, best_of("Random", {}, seed));
    ours = std::max(ours, best_of("MetisTuner", {}, seed));
  }
  CAPTURE(random, ours);
  CHECK(ours < 3e-3);
  CHECK(ours < random);
}

TEST_CASE("metis: without exploration the expected optimum is proposed") {
  TunerWorld world("Metis", kQuadratic, {{"exploration_probability", 0}});
  const auto all = run(world, 30, quadratic);
  double late = 0;
  for (std::size_t i = 20; i < 30; ++i) late += quadratic(all[i]) / 10;
  CHECK(late < 0.02);
}

TEST_CASE("metis: without candidates it explores at random") {
  TunerWorld world("Metis", kQuadratic, {{"no_candidates", true}, {"exploration_probability", 1}});
  double mean = 0;
  for (const Values& v : run(world, 150, quadratic)) mean += quadratic(v) / 150;
  const double expected = (0.5 - 0.62) * (0.5 - 0.62) + (0.5 - 0.28) * (0.5 - 0.28) + 2.0 / 12;
  CHECK(mean == Approx(expected + 0.15).margin(0.05));
}

TEST_CASE("metis: a configuration is measured again only if that is asked for and there is noise") {
  const auto count = [](bool no_resampling, double noise) {
    int sum = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      TunerWorld world("Metis", kQuadratic, {{"no_resampling", no_resampling}}, seed);
      sum += repeats(world, 60, noise);
    }
    return sum;
  };
  CHECK(count(true, 1) == 0);
  CHECK(count(false, 1) > 0);
}

TEST_CASE("metis: a finite space ends with its last new point with and without resampling") {
  for (const bool no_resampling : {true, false}) {
    TunerWorld world("Metis", kFinite, {{"no_resampling", no_resampling}, {"cold_start_num", 6}});
    SeenPoints seen(world.space);
    Rng rng(2);
    int proposals = 0, different = 0;
    while (true) {
      const Answer answer = world.ask();
      if (std::holds_alternative<Exhausted>(answer)) break;
      const Point point = std::get<Proposal>(answer).point;
      ++proposals;
      different += seen.insert(point);
      REQUIRE(proposals < 1000);
      world.completed(world.next - 1, point.values, rng.normal());
    }
    CHECK(different == 12 * 4);
    if (no_resampling) CHECK(proposals == different);
    TunerWorld copy("Metis", kFinite, {{"no_resampling", no_resampling}, {"cold_start_num", 6}});
    REQUIRE(copy.tuner->load(world.tuner->save()));
    for (int k = 0; k < 20; ++k) {
      CHECK(std::holds_alternative<Exhausted>(world.ask()));
      CHECK(std::holds_alternative<Exhausted>(copy.ask()));
    }
  }
}

TEST_CASE("metis: what runs twice is told twice") {
  // Two trials of one configuration: the end of one leaves the other running.
  TunerWorld world("Metis", kQuadratic, {{"no_resampling", false}});
  run(world, 12, quadratic);
  const Values v = world.values();
  const TrialId first = world.next - 1, second = world.next++;
  world.tuner->adopt(second, Point{v});
  world.completed(first, v, quadratic(v));
  CHECK(world.tuner->save()["record"]["running"].size() == 1);
  world.completed(second, v, quadratic(v));
  CHECK(world.tuner->save()["record"]["running"].empty());
}

TEST_CASE("metis: a batch has no point twice") {
  TunerWorld world("Metis", kQuadratic);
  run(world, 15, quadratic);
  std::vector<TrialId> ids(64);
  for (TrialId& id : ids) id = world.next++;
  SeenPoints seen(world.space);
  for (const Answer& answer : world.tuner->ask(ids)) {
    CHECK(seen.insert(std::get<Proposal>(answer).point));
  }
}

TEST_CASE("metis: extreme and equal losses and only failures") {
  for (const double unit : {0.0, 1e-300, 1e300}) {
    TunerWorld world("Metis", kQuadratic, {{"cold_start_num", 4}});
    SeenPoints seen(world.space);
    double best = 1;
    for (const Values& v : run(world, 30, [&](const Values& x) { return unit * quadratic(x); })) {
      CHECK(seen.insert(Point{v}));
      best = std::min(best, quadratic(v));
    }
    if (unit > 0) CHECK(best < 0.02);
  }
  TunerWorld hopeless("Metis", kQuadratic);
  for (int k = 0; k < 30; ++k) hopeless.failed(k, hopeless.values());
}

TEST_CASE("metis: saved and loaded while it measures again") {
  const json arguments = {{"no_resampling", false}, {"cold_start_num", 6}};
  TunerWorld world("Metis", kQuadratic, arguments), copy("Metis", kQuadratic, arguments, 7);
  Rng rng(4);
  const auto noisy = [](Rng& noise) {
    return [&noise](const Values& v) { return quadratic(v) + noise.normal(); };
  };
  run(world, 30, noisy(rng));
  REQUIRE(copy.tuner->load(parse_json(dump_json(world.tuner->save())).value()));
  copy.next = world.next;
  Rng same = rng;
  CHECK(run(copy, 12, noisy(same)) == run(world, 12, noisy(rng)));
}

TEST_CASE("metis: arguments are checked and the least of everything works") {
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, json>>{{"no_resampling", 1},
                                                 {"no_candidates", "no"},
                                                 {"selection_num_starting_points", 0},
                                                 {"cold_start_num", 0},
                                                 {"exploration_probability", 1.1},
                                                 {"exploration_probability", -0.1}}) {
    const auto made = make_tuner(builtin_tuners(), "Metis", {{key, value}}, {}, 1);
    CAPTURE(key, dump_json(value));
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find(key) != std::string::npos);
  }
  TunerWorld world("Metis", kQuadratic,
                   {{"selection_num_starting_points", 1}, {"cold_start_num", 1}});
  CHECK(run(world, 20, quadratic).size() == 20);
}

}  // namespace attune::metis_test
