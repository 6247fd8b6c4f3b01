#include "rungs/population_syne.h"

#include <cmath>

#include "base/saved_numbers.h"
#include "tests/support/scheduler_traces.h"

namespace attune::population_syne_test {

using Verdict = SynePopulation::Verdict;
using Members = std::vector<SynePopulation::Member>;

// Returns how many events were compared. The trial that a copy starts from stands in the event of
// its start, which follows the stop of the loser.
int replay(const json& trace, bool restore) {
  const json& args = trace["args"];
  const double sign = args["mode"] == "max" ? -1 : 1;
  const SynePopulationRule rule = {.interval = args["perturbation_interval"],
                                   .fraction = args["quantile_fraction"],
                                   .max_resource = args["max_t"].get<double>()};
  SynePopulation population(rule);
  Members stack;  // donors whose copies are still to start
  const json& events = trace["events"];
  for (std::size_t i = 0; i < events.size(); ++i) {
    const json& event = events[i];
    CAPTURE(event.dump());
    if (event[0] == "start") {
      REQUIRE(population.add() == event[1]);
      if (event.size() > 3 && event[3].contains("from")) {
        REQUIRE_FALSE(stack.empty());
        REQUIRE(stack.back() == event[3]["from"]);
        stack.pop_back();
      } else {
        REQUIRE(stack.empty());
      }
      continue;
    }
    REQUIRE(event[0] == "result");
    const json* start = i + 1 < events.size() ? &events[i + 1] : nullptr;
    const auto draw = [&](std::size_t donors) -> std::size_t {
      const Members best = population.best();
      REQUIRE(best.size() == donors);
      if (!start) return 0;
      REQUIRE((*start)[0] == "start");
      const auto at = std::ranges::find(best, (*start)[3]["from"].get<std::size_t>());
      REQUIRE(at != best.end());
      return static_cast<std::size_t>(at - best.begin());
    };
    const auto step = population.report(event[1], event[2], sign * double(event[3]), draw);
    REQUIRE((step.verdict == Verdict::keep_going ? "CONTINUE" : "STOP") == event[4]);
    REQUIRE((step.verdict == Verdict::complete) == (event[2] >= args["max_t"]));
    if (step.verdict == Verdict::exploit) stack.push_back(step.donor);
    if (!restore) continue;
    SynePopulation restored(rule);
    REQUIRE(restored.load(population.save()));
    REQUIRE(restored.save() == population.save());
    population = restored;
  }
  return static_cast<int>(events.size());
}

TEST_CASE("SynePopulation: all of Syne Tune's traces, decision by decision") {
  int checked = 0;
  for (const auto& path : traces("syne_pbt_")) {
    CAPTURE(path);
    checked += replay(read_trace(path), false);
  }
  CHECK(checked > 2000);
}

TEST_CASE("SynePopulation: a saved state goes on the same") {
  for (const auto& path : traces("syne_pbt_")) replay(read_trace(path), true);
}

TEST_CASE("SynePopulation: ended and diverged trials are nobody's donors") {
  SynePopulation population({.interval = 1, .fraction = 0.5});
  const auto best = [](std::size_t donors) { return donors - 1; };
  for (int i = 0; i < 4; ++i) population.add();
  population.report(0, 1, 0.1, best);
  CHECK(population.report(1, 1, NAN, best).donor == 0);
  CHECK(population.ended(1));
  population.end(0);
  CHECK(population.report(2, 1, NAN, best).verdict == Verdict::keep_going);  // alone
  CHECK(population.report(3, 1, INFINITY, best).verdict == Verdict::keep_going);
  CHECK(population.report(2, 2, NAN, best).verdict == Verdict::keep_going);  // both diverged
  CHECK(population.report(1, 5, 0, best).verdict == Verdict::keep_going);    // it has ended
}

TEST_CASE("SynePopulation: the interval of a copy can begin at its first report") {
  SynePopulation population({.interval = 10, .fraction = 0.5});
  const auto best = [](std::size_t donors) { return donors - 1; };
  for (int i = 0; i < 2; ++i) population.add();
  population.report(0, 10, 1, best);
  population.begin_interval(1, 11);
  CHECK(population.report(1, 20, 2, best).verdict == Verdict::keep_going);
  CHECK(population.report(1, 21, 2, best).verdict == Verdict::exploit);
}

TEST_CASE("SynePopulation: an impossible state changes nothing") {
  SynePopulation population({});
  population.add();
  const json good = population.save();
  for (const std::vector<double>& numbers : {std::vector<double>{1},
                                             {2, 0, 0, 0},
                                             {0, 0.5, 0, 0},
                                             {0, 0, NAN, 0},
                                             {0, 0, 0, INFINITY}}) {
    CHECK_FALSE(population.load({{"members", save_numbers(numbers)}}));
  }
  CHECK(population.save() == good);
}

}  // namespace attune::population_syne_test
