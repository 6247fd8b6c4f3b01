#include "tuners/registry.h"

#include <catch2/catch.hpp>
#include <set>

#include "space/parse.h"

namespace attune::registry_test {

const TunerRegistry& registry() {
  static const TunerRegistry all = builtin_tuners();
  return all;
}

std::string error_of(std::string_view name, const json& arguments) {
  const auto made = make_tuner(registry(), name, arguments, {}, 0);
  return made ? "" : made.error().message;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string first_answers(std::string_view name, const json& arguments, std::uint64_t fallback) {
  auto made = make_tuner(registry(), name, arguments, {}, fallback);
  REQUIRE(made);
  const Space space = parse_space(json{{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}}).value();
  REQUIRE(made->tuner->set_space(space));
  std::string text;
  for (const Answer& answer : made->tuner->ask(std::vector<TrialId>{0, 1, 2})) {
    text += dump_json(to_json(space, std::get<Proposal>(answer).point));
  }
  return text;
}

TEST_CASE("every tuner: declared arguments have help, defaults that resolve, unique names") {
  std::set<std::string> names;
  for (const TunerEntry& entry : registry().entries()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    for (const std::string& alias : entry.aliases) CHECK(names.insert(alias).second);
    CHECK_FALSE(entry.summary.empty());
    for (const Argument& argument : all_arguments(entry)) CHECK_FALSE(argument.help.empty());
    const auto defaults = resolve_arguments(entry.name, all_arguments(entry), {});
    REQUIRE(defaults);
    CHECK(error_of(entry.name, *defaults).empty());  // spelled out, they are accepted
    CHECK(error_of(entry.name, nullptr).empty());
  }
}

TEST_CASE("every tuner accepts optimize_mode and seed, and says what else it accepts") {
  for (const TunerEntry& entry : registry().entries()) {
    CAPTURE(entry.name);
    for (const bool maximize : {true, false}) {
      const json arguments = {{"optimize_mode", maximize ? "maximize" : "minimize"}, {"seed", 5}};
      const auto made = make_tuner(registry(), entry.name, arguments, {}, 0);
      REQUIRE(made);
      CHECK(made->maximize == maximize);
      CHECK(made->seed == 5);
      CHECK(made->name == entry.name);
    }
    const auto plain = make_tuner(registry(), entry.name, {{"seed", nullptr}}, {}, 1234);
    REQUIRE(plain);
    CHECK(plain->maximize == entry.maximizes);
    CHECK(plain->seed == 1234);

    const std::string unknown = error_of(entry.name, {{"sed", 1}});
    CHECK(contains(unknown, entry.name + ": unknown argument \"sed\"; did you mean \"seed\"?"));
    CHECK(contains(unknown, "Accepted: optimize_mode, seed"));
    CHECK(contains(error_of(entry.name, {{"optimize_mode", "max"}}), "one of maximize, minimize"));
    CHECK(contains(error_of(entry.name, {{"seed", -1}}), entry.name + ".seed"));
    CHECK(contains(error_of(entry.name, {{"seed", "x"}}), entry.name + ".seed"));
    CHECK_FALSE(error_of(entry.name, json::array({1})).empty());
  }
}

TEST_CASE("the seed is honoured, and the fallback only without one") {
  const std::string name = GENERATE("Random", "TPE");
  CHECK(first_answers(name, {{"seed", 1}}, 7) == first_answers(name, {{"seed", 1}}, 8));
  CHECK(first_answers(name, {{"seed", 1}}, 7) != first_answers(name, {{"seed", 2}}, 7));
  CHECK(first_answers(name, {}, 7) != first_answers(name, {}, 8));
  CHECK(first_answers(name, {}, 7) == first_answers(name, {{"seed", 7}}, 9));
}

TEST_CASE("names: aliases and either case, the nearest of an unknown one") {
  CHECK(make_tuner(registry(), "BatchTuner", {}, {}, 0)->name == "Batch");
  CHECK(make_tuner(registry(), "gridsearch", {}, {}, 0)->name == "GridSearch");
  CHECK(contains(error_of("Randon", {}), "unknown tuner \"Randon\"; did you mean \"Random\"?"));
  CHECK(contains(error_of("nothing", {}), "Known: auto, ensemble, Random, GridSearch, Batch, TPE"));
}

TEST_CASE("the name of NNI that is not here gets the nearest alternative, which exists") {
  CHECK(contains(error_of("NetworkMorphism", {}), "the nearest is \"RegularizedEvolution\""));
  CHECK(make_tuner(registry(), "RegularizedEvolution", {}, {}, 0));
}

TEST_CASE("all other names of NNI's tuners and advisors are here") {
  const std::string name =
      GENERATE("TPE", "Random", "Anneal", "Evolution", "GridSearch", "Batch", "GP", "SMAC", "Metis",
               "PPO", "DNGO", "PBT", "Hyperband", "BOHB");
  CHECK(make_tuner(registry(), name, {}, {}, 0)->name == name);
  CHECK(make_tuner(registry(), "TPE_legacy", {}, {}, 0)->name == "TPE");
}

TEST_CASE("NNI's default directions") {
  CHECK_FALSE(make_tuner(registry(), "TPE", {}, {}, 0)->maximize);
  CHECK(make_tuner(registry(), "Random", {}, {}, 0)->maximize);
}

TEST_CASE("TPE: a liar of null is none, nested arguments are checked with their place") {
  for (const json& liar : {json("best"), json("worst"), json("mean"), json("none"), json()}) {
    CHECK(error_of("TPE", {{"tpe_args", {{"constant_liar_type", liar}}}}).empty());
  }
  CHECK(contains(error_of("TPE", {{"tpe_args", {{"constant_liar_type", "max"}}}}),
                 "TPE.tpe_args.constant_liar_type: one of best, worst, mean, none"));
  CHECK(contains(error_of("TPE", {{"tpe_args", {{"n_startup_job", 3}}}}),
                 "did you mean \"n_startup_jobs\"?"));
  CHECK(contains(error_of("TPE", {{"tpe_args", {{"prior_weight", 0}}}}), "prior_weight"));
  CHECK(contains(error_of("TPE", {{"tpe_args", 3}}), "TPE.tpe_args"));
}

}  // namespace attune::registry_test
