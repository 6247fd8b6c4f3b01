// A value that the experiment assumes of stopped trials (Outcome::usable) teaches a tuner what the
// same value of a completed trial would.
#include <catch2/catch.hpp>

#include "space/parse.h"
#include "tuners/registry.h"

namespace attune::stopped_value_test {

constexpr const char* kSpaces[] = {
    R"({"x":{"_type":"uniform","_value":[0,1]},"c":{"_type":"choice","_value":["a","b","c"]}})",
    R"({"c":{"_type":"choice","_value":["a","b"]},"k":{"_type":"choice","_value":[1,2,3,4,5,6,7]}})",
    R"({"all":{"_type":"choice","_value":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}})"};

json taught(const TunerEntry& entry, const Space& space, End end) {
  auto made = make_tuner(builtin_tuners(), entry.name, {}, {}, /*fallback_seed=*/3);
  REQUIRE(made.has_value());
  Tuner& tuner = *made->tuner;
  REQUIRE(tuner.set_space(space).has_value());
  for (TrialId id = 0; id < 14; ++id) {
    const std::vector<Answer> answers = tuner.ask(std::span(&id, 1));
    const auto* proposal = std::get_if<Proposal>(&answers[0]);
    if (!proposal) continue;
    const double loss = static_cast<double>(id * 5 % 7);
    const Outcome outcome{.trial = id,
                          .point = proposal->point,
                          .loss = loss,
                          .metrics = {{"default", loss}},
                          .end = id % 3 == 0 ? end : End::completed};
    tuner.tell(std::span(&outcome, 1));
  }
  return tuner.save();
}

TEST_CASE("a stopped trial with a value teaches what a completed one would, whatever the tuner") {
  const TunerRegistry tuners = builtin_tuners();
  int compared = 0;
  for (const TunerEntry& entry : tuners.entries()) {
    const auto made = make_tuner(tuners, entry.name, {}, {}, 3);
    REQUIRE(made.has_value());
    if (made->wants_reports) continue;  // it learns from reports, and is never told such a value
    for (const char* text : kSpaces) {
      const Space space = parse_space(parse_json(text).value()).value();
      if (!made->tuner->set_space(space)) continue;
      CAPTURE(entry.name, text);
      CHECK(dump_json(taught(entry, space, End::stopped)) ==
            dump_json(taught(entry, space, End::completed)));
      ++compared;
      break;
    }
  }
  CHECK(compared > 10);
}

}  // namespace attune::stopped_value_test
