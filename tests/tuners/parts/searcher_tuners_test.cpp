// Real tuners under a rule with rungs: finite spaces, saving and loading, and what they learn.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/saved_numbers.h"
#include "space/parse.h"
#include "tests/support/through_text.h"
#include "tuners/parts/searcher.h"

namespace attune::searcher_tuners_test {

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

const std::string kReal = R"({"x": {"_type": "uniform", "_value": [0, 1]}})";
const std::string kFinite = R"({"a": {"_type": "choice", "_value": ["u", "v", "w"]},
                                "i": {"_type": "randint", "_value": [0, 4]}})";

Searcher searcher_of(const std::string& name, const std::string& space,
                     const std::vector<Objective>& objectives = {{}}, std::uint64_t seed = 1) {
  const TunerRegistry tuners = builtin_tuners();
  TunerContext context{{}, &tuners};
  context.objectives = objectives;
  auto made = Searcher::make("ASHA", name, context, Rng(seed));
  if (!made) FAIL(made.error().message);
  REQUIRE(made->set_space(space_of(space)));
  return *std::move(made);
}

Point asked(Searcher& searcher, TrialId id) {
  const Answer answer = searcher.ask(id);
  REQUIRE(std::holds_alternative<Proposal>(answer));
  return std::get<Proposal>(answer).point;
}

// A rule that keeps the better half of each rung, on whatever tuner; what happens is a function of
// the step.
struct Halving {
  Searcher searcher;
  std::map<TrialId, double> at = {};  // the level that a trial reaches next
  TrialId next = 0;
  std::vector<Point> proposed = {};
  bool exhausted = false;

  static double loss(const Point& point, double level) {
    return std::fmod(point.values.back() * 7.3 + point.values.front() + level, 2.0);
  }

  void step() {
    Rng rng = Rng(5).fork(std::to_string(next * 100 + static_cast<TrialId>(at.size())));
    if (at.size() < 4) {
      const Answer answer = searcher.ask(next);
      if (exhausted) REQUIRE(std::holds_alternative<Exhausted>(answer));
      exhausted = std::holds_alternative<Exhausted>(answer);
      if (const auto* proposal = std::get_if<Proposal>(&answer)) {
        proposed.push_back(proposal->point);
        at[next++] = 1;
        return;
      }
    }
    if (at.empty()) return;
    const auto some = std::next(at.begin(), static_cast<std::ptrdiff_t>(rng.index(at.size())));
    auto& [id, level] = *some;
    const std::size_t what = rng.index(8);
    if (what > 0) {
      searcher.observe(id, level, loss(*searcher.point_of(id), level));
      level *= 3;
    }
    if (what < 3 || level > 9) {
      searcher.end(id);
      at.erase(some);
    }
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }
};

const std::vector<std::string> kTuners = {"Random", "QMC",       "GridSearch", "TPE",  "GP",
                                          "CMAES",  "Evolution", "Anneal",     "SMAC", "auto"};

TEST_CASE("Searcher: in a finite space every tuner proposes each configuration once and ends") {
  for (const std::string& name : kTuners) {
    CAPTURE(name);
    Halving rule{searcher_of(name, kFinite)};
    rule.searcher.import({kImportedTrial, {{1, 2}}, 0.5, {}, End::imported, {}}, 9);
    rule.searcher.import({kImportedTrial, {{2, 2}}, 0.5, {}, End::imported, {}}, 1);
    rule.steps(150);
    CHECK(rule.exhausted);
    std::set<std::vector<double>> different;
    for (const Point& point : rule.proposed) different.insert(point.values);
    CHECK(different.size() == rule.proposed.size());
    CHECK(different.size() == 10);  // of 12, without the imports
    CHECK_FALSE(different.contains({1, 2}));
    CHECK_FALSE(different.contains({2, 2}));
  }
}

TEST_CASE("Searcher: saved and loaded at any time it goes on the same") {
  for (const std::string& name : kTuners) {
    for (const std::string& space : {kReal, kFinite}) {
      CAPTURE(name, space);
      Halving rule{searcher_of(name, space)};
      for (int i = 0; i < 5; ++i) {
        if (i == 2) {
          rule.searcher.import({kImportedTrial, rule.proposed[0], 0.5, {}, End::imported, {}}, 3);
          rule.searcher.adopt(-2, rule.proposed[1]);
        }
        Halving copy{searcher_of(name, space, {{}}, 99), rule.at, rule.next, rule.proposed,
                     rule.exhausted};
        const json state = through_text(rule.searcher.save());
        REQUIRE(copy.searcher.load(state));
        CHECK(dump_json(copy.searcher.save()) == dump_json(state));
        for (Halving* one : {&rule, &copy}) one->steps(11);
        CHECK(copy.proposed == rule.proposed);
        CHECK(dump_json(copy.searcher.save()) == dump_json(rule.searcher.save()));
      }
    }
  }
}

TEST_CASE("Searcher: what a higher level says counts more") {
  // The best at level 1 is the worst at level 9.
  Searcher searcher = searcher_of("TPE", kReal);
  for (TrialId id = 0; id < 60; ++id) {
    const double x = asked(searcher, id).values[0];
    searcher.observe(id, 1, std::abs(x - 0.1));
    if (id < 30) searcher.end(id);
    if (id >= 30) searcher.observe(id, 9, std::abs(x - 0.9));
  }
  std::vector<double> last;
  for (TrialId id = 60; id < 80; ++id) last.push_back(asked(searcher, id).values[0]);
  CHECK(std::ranges::count_if(last, [](double x) { return x > 0.7; }) > 14);
}

TEST_CASE("Searcher: a level that rises does not repeat the points of a sequence") {
  for (const std::string name : {"Random", "QMC", "GridSearch"}) {
    CAPTURE(name);
    Searcher searcher = searcher_of(name, kReal);
    std::set<double> points;
    for (TrialId id = 0; id < 40; ++id) {
      CHECK(points.insert(asked(searcher, id).values[0]).second);
      for (const double level : {1, 3, 9, 27}) {
        if (static_cast<double>(id) * 3 >= level) searcher.observe(id, level, 0.1);
      }
    }
  }
}

TEST_CASE("Searcher: a new space forgets everything") {
  Searcher searcher = searcher_of("GridSearch", kFinite);
  TrialId id = 0;
  while (std::holds_alternative<Proposal>(searcher.ask(id))) searcher.observe(id++, 1, 0.1);
  REQUIRE(id == 12);
  REQUIRE(searcher.set_space(space_of(kFinite)));
  CHECK(searcher.point_of(0) == nullptr);
  CHECK(asked(searcher, 0).values.size() == 2);
  CHECK_FALSE(searcher.set_space(space_of("{}")));  // GridSearch needs a parameter
  CHECK(searcher.point_of(0) != nullptr);
}

TEST_CASE("Searcher: names that cannot be one are errors with the owner") {
  const auto error = [](const std::string& name) {
    const TunerRegistry tuners = builtin_tuners();
    const auto made = Searcher::make("ASHA", name, {{}, &tuners}, Rng(1));
    return made ? "" : made.error().message;
  };
  CHECK(error("tpe").empty());
  for (const std::string name : {"Batch", "PBT", "PopulationBasedTraining", "PB2", "PBTReplay",
                                 "ASHA", "Hyperband", "BOHB", "OneEpoch", "FreezeThaw"}) {
    CAPTURE(name);
    CHECK(error(name).starts_with("ASHA.searcher: " + name +
                                  " follows a schedule of its own; "
                                  "name a search algorithm: auto, ensemble, Random, "));
    CHECK(error(name).find(" " + name + ",") == std::string::npos);  // is not on the list
  }
  CHECK(error("Rndom").starts_with("ASHA.searcher: "));
  CHECK(error("Rndom").find("Random") != std::string::npos);
}

TEST_CASE("Searcher: damaged states are errors and change nothing") {
  Halving rule{searcher_of("TPE", kReal, {{"loss"}, {"time"}})};
  rule.searcher.import({kImportedTrial, {{0.5}}, 0.5, {{"time", 2}}, End::imported, {}}, 9);
  rule.steps(40);
  const json good = rule.searcher.save();
  const auto refuses = [&](const json& state) {
    CHECK_FALSE(rule.searcher.load(state));
    CHECK(dump_json(rule.searcher.save()) == dump_json(good));
  };
  for (const json& state : {json(), json(3), json("x"), json::array(), json::object()}) {
    refuses(state);
  }
  for (const auto& [key, value] : good.items()) {
    CAPTURE(key);
    json damaged = good;
    damaged.erase(key);
    refuses(damaged);
    for (const json& other : {json("x"), json(1.5), json::array({"x"}), json(), json::object()}) {
      damaged[key] = other;
      refuses(damaged);
    }
  }
  for (const std::string key : {"trials", "flags", "counts", "results"}) {
    const std::vector<double> column = numbers_at(good, key).value();
    CAPTURE(key);
    const auto with = [&](auto&& change) {
      std::vector<double> changed = column;
      change(changed);
      json damaged = good;
      damaged[key] = save_numbers(changed);
      refuses(damaged);
    };
    with([](auto& numbers) { numbers.pop_back(); });
    with([](auto& numbers) { numbers.push_back(0); });
    with([](auto& numbers) { numbers[0] = HUGE_VAL; });
    if (key == "results") {
      with([](auto& numbers) { numbers[1] = HUGE_VAL; });  // a loss
      continue;
    }
    with([](auto& numbers) { numbers[0] = NAN; });
    with([](auto& numbers) { numbers[0] = 0.5; });
    with([](auto& numbers) { numbers[0] = 1e300; });
    if (key == "trials") with([](auto& numbers) { numbers[1] = numbers[0]; });
  }
  // A level twice in one trial.
  Searcher two = searcher_of("Random", kReal);
  two.adopt(1, {{0.5}});
  two.observe(1, 1, 0.1);
  two.observe(1, 3, 0.1);
  json state = two.save();
  REQUIRE(two.load(state));
  state["results"] = save_numbers(std::vector{1.0, 0.1, 1.0, 0.2});
  CHECK_FALSE(two.load(state));
}

}  // namespace attune::searcher_tuners_test
