// What tuners make of priors: where they look first, and what happens when the user thinks again.
#include <catch2/catch.hpp>
#include <cmath>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::priors_test {

Space space_with(const std::string& prior) {
  const std::string text = R"({"x":{"_type":"uniform","_value":[0,1])" + prior +
                           R"(},"y":{"_type":"uniform","_value":[0,1]}})";
  return parse_space(parse_json(text).value()).value();
}
const std::string kHigh = R"(,"_prior":{"_value":0.9,"_sure":0.9})";
const std::string kLow = R"(,"_prior":{"_value":0.1,"_sure":0.9})";

struct World {
  World(const std::string& name, const Space& space, std::uint64_t seed = 1)
      : tuner(make_tuner(builtin_tuners(), name, {{"optimize_mode", "minimize"}}, {}, seed)
                  .value()
                  .tuner) {
    REQUIRE(tuner->set_space(space));
  }

  double propose() {  // x
    const TrialId id = next++;
    point = std::get<Proposal>(tuner->ask({&id, 1}).front()).point;
    return point.values[0];
  }
  void tell(double loss) {
    const Outcome outcome{.trial = next - 1, .point = point, .loss = loss};
    tuner->tell({&outcome, 1});
  }
  // Of `count` trials that all end with the same loss, those with x within 0.15 of the value.
  int near(double value, int count) {
    int found = 0;
    for (int i = 0; i < count; ++i) {
      found += std::abs(propose() - value) < 0.15 ? 1 : 0;
      tell(1);
    }
    return found;
  }

  std::unique_ptr<Tuner> tuner;
  TrialId next = 0;
  Point point;
};

TEST_CASE("tuners that heed priors look there first") {
  for (const char* name : {"auto", "GP", "TuRBO", "TPE", "Random"}) {
    CAPTURE(name);
    int with = 0, without = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      with += World(name, space_with(kHigh), seed).near(0.9, 15);
      without += World(name, space_with(""), seed).near(0.9, 15);
    }
    CHECK(with >= without + 6);
  }
}

TEST_CASE("a new prior counts as new, and nothing else is forgotten") {
  for (const char* name : {"GP", "TuRBO"}) {
    CAPTURE(name);
    World world(name, space_with(kLow));
    world.near(0.1, 40);
    REQUIRE(world.tuner->set_priors(space_with(kHigh)));
    const int near = world.near(0.9, 5);
    if (name != std::string("TuRBO")) CHECK(near >= 3);  // which looks in its region only
    // In a saved state it counts as long as in the tuner itself.
    World again(name, space_with(kHigh));
    REQUIRE(again.tuner->load(world.tuner->save()));
    again.next = world.next;
    for (int i = 0; i < 5; ++i) {
      CHECK(again.propose() == world.propose());
      again.tell(1);
      world.tell(1);
    }
    // A former version knew no priors.
    json former = world.tuner->save();
    former["record"].erase("prior_since");
    CHECK(again.tuner->load(former));
    former["record"]["prior_since"] = 1000;
    CHECK_FALSE(again.tuner->load(former));
  }
}

TEST_CASE("a misleading prior is dropped: the search ends where the results are good") {
  for (const char* name : {"GP", "TuRBO"}) {
    CAPTURE(name);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      World world(name, space_with(kHigh), seed);
      double best = 1;
      for (int i = 0; i < 40; ++i) {
        const double x = world.propose(), y = world.point.values[1];
        const double loss = (x - 0.2) * (x - 0.2) + (y - 0.5) * (y - 0.5);
        best = std::min(best, loss);
        world.tell(loss);
      }
      CHECK(best < 1e-3);
    }
  }
}

TEST_CASE("under a rule with rungs the searcher hears of new priors") {
  World world("ASHA", space_with(""));
  REQUIRE(world.tuner->set_priors(space_with(kHigh)));
  int high = 0;
  for (int i = 0; i < 40; ++i) high += world.propose() > 0.75 ? 1 : 0;
  CHECK(high >= 18);
}

}  // namespace attune::priors_test
