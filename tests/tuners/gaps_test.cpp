// Results that are older than some parameters.
#include <catch2/catch.hpp>

#include "base/saved_numbers.h"
#include "space/parse.h"
#include "space/sample.h"
#include "space/saved_point.h"
#include "tuners/registry.h"

namespace attune::gaps_test {

const char* const kSpace = R"({
  "x": {"_type": "uniform", "_value": [0, 1]},
  "a": {"_type": "choice", "_value": ["r", "s", "t"]},
  "n": {"_type": "randint", "_value": [0, 9]},
  "q": {"_type": "quniform", "_value": [0, 1, 0.1]},
  "c": {"_type": "choice", "_value": [{"_name": "u", "y": {"_type": "normal", "_value": [0, 1]}},
                                      {"_name": "v", "y": {"_type": "randint", "_value": [0, 9]}}]},
  "s": {"_type": "input_choice", "_value": {"candidates": [1, 2, 3], "n_chosen": 1}}})";

std::vector<Answer> ask(Tuner& tuner, TrialId first, int count) {
  std::vector<TrialId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(first + i);
  return tuner.ask(ids);
}

TEST_CASE("gaps: whoever takes them proposes whole points, and goes on the same from its state") {
  const Space space = parse_space(parse_json(kSpace).value()).value();
  const TunerRegistry registry = builtin_tuners();
  std::vector<std::pair<std::string, json>> all = {{"TPE", {{"multivariate", false}}}};
  for (const TunerEntry& entry : registry.entries()) all.emplace_back(entry.name, json::object());
  int takers = 0;
  for (auto& [name, arguments] : all) {
    CAPTURE(name);
    arguments["seed"] = 3;
    const auto made = [&] { return make_tuner(registry, name, arguments, {}, 1).value().tuner; };
    const auto tuner = made();
    if (!tuner->takes_gaps()) continue;
    ++takers;
    REQUIRE(tuner->set_space(space));
    Rng rng(7);
    std::vector<Outcome> outcomes;
    for (TrialId id = 0; id < 30; ++id) {
      Point point = sample(space, rng);
      for (std::size_t i = 0; i < space.params.size(); ++i) {
        const auto& condition = space.params[i].condition;
        // All but the first are new to every other result, some to the others.
        const bool gap = condition ? !point.active(condition->parent)
                                   : i > 0 && (id % 2 == 0 || rng.uniform() < 0.3);
        if (gap) point.values[i] = Point::kInactive;
      }
      REQUIRE(check_point(space, point, Gaps::allowed));
      const double x = point.values[0];
      outcomes.push_back({.trial = id, .point = std::move(point), .loss = x, .metrics = {}});
    }
    tuner->tell(outcomes);
    const auto same = made();
    REQUIRE(same->set_space(space));
    REQUIRE(same->load(parse_json(dump_json(tuner->save())).value()));
    for (TrialId id = 30; id < 40; ++id) {
      const auto answers = ask(*tuner, id, 1), equal = ask(*same, id, 1);
      const auto* proposal = std::get_if<Proposal>(&answers[0]);
      REQUIRE(proposal != nullptr);
      CHECK(check_point(space, proposal->point));
      CHECK(proposal->point == std::get<Proposal>(equal[0]).point);
    }
  }
  CHECK(takers == 4);
}

TEST_CASE("gaps: whoever takes none refuses a state that has one") {
  const Space space = parse_space(parse_json(kSpace).value()).value();
  const TunerRegistry registry = builtin_tuners();
  int refused = 0;
  for (const TunerEntry& entry : registry.entries()) {
    CAPTURE(entry.name);
    auto made = make_tuner(registry, entry.name, {{"seed", 3}}, {}, 1);
    if (!made || made->tuner->takes_gaps() || !made->tuner->set_space(space)) continue;
    Tuner& tuner = *made->tuner;
    Rng rng(7);
    tuner.tell(
        std::vector<Outcome>{{.trial = 0, .point = sample(space, rng), .loss = 1, .metrics = {}}});
    json state = tuner.save();
    if (!state.contains("record")) continue;
    REQUIRE(tuner.load(state));
    auto values = numbers(state["record"]["points"]).value();
    values.at(0) = Point::kInactive;
    state["record"]["points"] = save_numbers(values);
    CHECK_FALSE(tuner.load(state));
    ++refused;
  }
  CHECK(refused >= 3);  // DNGO, Metis, TuRBO at least
}

TEST_CASE("gaps: a state may have them where they are allowed only") {
  const Space space = parse_space(parse_json(kSpace).value()).value();
  Rng rng(1);
  Point point = sample(space, rng);
  const auto check = [&](Gaps gaps) { return check_point(space, point, gaps).has_value(); };
  CHECK(check(Gaps::none));
  point.values[1] = Point::kInactive;
  CHECK_FALSE(check(Gaps::none));
  CHECK(check(Gaps::allowed));
  point.values[4] = Point::kInactive;  // and what is in its option stays
  CHECK_FALSE(check(Gaps::allowed));
}

}  // namespace attune::gaps_test
