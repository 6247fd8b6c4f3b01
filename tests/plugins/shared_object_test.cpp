// Shared objects that are as they should be, and others. The files are made by CMake.
#include "plugins/shared_object.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/algorithm_failure.h"
#include "plugins/open/open.h"
#include "space/parse.h"
#include "tests/support/temporary_folder.h"

namespace attune::shared_object_test {

struct Lists {
  TunerRegistry tuners = builtin_tuners();
  AssessorRegistry assessors = builtin_assessors();

  Result<void> add(const json& spec) {
    return add_plugin(TRY(open_plugin(spec, Log())), tuners, assessors, Log());
  }
};

std::string trouble(const json& spec) {
  const auto added = Lists().add(spec);
  return added ? "" : added.error().message;
}

// `flaw` as in odd_plugin.cpp.
std::string odd(const std::string& flaw) {
  return std::string(ODD_PLUGINS) + "/odd_" + flaw + ".so";
}

Space space() {
  return parse_space(json::parse(R"({"x": {"_type": "uniform", "_value": [-1, 1]},
      "c": {"_type": "choice", "_value": ["a", "b"]}, "n": {"_type": "randint", "_value": [1, 9]},
      "z": {"_type": "lognormal", "_value": [0, 1]}})"))
      .value();
}

TEST_CASE("shared object: what it has is in the lists, and works like what is built in") {
  Lists lists;
  REQUIRE(lists.add(ONE_PLUS_ONE));
  REQUIRE(lists.add({{"file", PATIENCE}}));
  auto made = make_tuner(lists.tuners, "oneplusone", {{"sigma", 0.3}}, {}, 5);
  REQUIRE(made);
  REQUIRE(made->tuner->set_space(space()));
  for (TrialId id = 0; id < 50; ++id) {
    const auto answers = made->tuner->ask(std::span(&id, 1));
    const auto& proposal = std::get<Proposal>(answers.at(0));
    const Outcome outcome{
        .trial = id, .point = proposal.point, .loss = std::abs(proposal.point.values[0])};
    made->tuner->tell(std::span(&outcome, 1));
  }
  // The state is exact.
  auto second = make_tuner(lists.tuners, "OnePlusOne", {{"sigma", 0.3}}, {}, 6);
  REQUIRE(second->tuner->set_space(space()));
  REQUIRE(second->tuner->load(made->tuner->save()));
  const TrialId id = 50;
  const auto one = made->tuner->ask(std::span(&id, 1)), two = second->tuner->ask(std::span(&id, 1));
  CHECK(std::get<Proposal>(one.at(0)).point == std::get<Proposal>(two.at(0)).point);

  const auto assessor = make_assessor(lists.assessors, "Patience", {{"patience", 2}}, {}, 1);
  REQUIRE(assessor);
  std::vector<Report> reports;
  for (std::int64_t step = 0; step < 3; ++step) reports.push_back({7, step, {{"default", 1}}});
  CHECK((*assessor)->assess(7, std::span(reports).first(2)).action == Action::keep_going);
  const Decision decision = (*assessor)->assess(7, reports);
  CHECK(decision.action == Action::stop);
  CHECK(decision.reason == "no better for 2 reports");
  // A report without the metric says nothing; the best one may come after it.
  reports = {{7, 0, {}}, {7, 1, {{"default", 2}}}, {7, 2, {{"default", 1}}}};
  CHECK((*assessor)->assess(7, reports).action == Action::keep_going);
}

TEST_CASE("shared object: wrong arguments are errors as for any tuner") {
  Lists lists;
  REQUIRE(lists.add(ONE_PLUS_ONE));
  const auto made = make_tuner(lists.tuners, "OnePlusOne", {{"sigme", 0.3}}, {}, 5);
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().message, Catch::Contains("did you mean \"sigma\"?"));
  CHECK_FALSE(make_tuner(lists.tuners, "OnePlusOne", {{"sigma", 7}}, {}, 5));
}

TEST_CASE("shared object: what cannot be loaded is an error that names the file") {
  TemporaryFolder folder;
  const std::string text = (folder.path / "text.so").string();
  std::ofstream(text) << std::string(1000, 'x');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {(folder.path / "missing.so").string(), "there is no such file"},
      {text, "ELF"},
      {odd("version"), "version 99"},
      {odd("symbol"), "attune_plugin_describe"},
      {odd("load"), "thrown while it was loaded"},
      {odd("describe"), "thrown by describe"},
      {odd("name"), "there is a tuner TPE already"},
  };
  for (const auto& [file, what] : cases) {
    CAPTURE(file);
    CHECK_THAT(trouble(file), Catch::StartsWith("plug-in " + file) && Catch::Contains(what));
  }
  CHECK_THAT(trouble({{"file", folder.path.string()}}), Catch::Contains("it is no file"));
}

TEST_CASE("shared object: an exception in a call is an error that names the call") {
  Lists lists;
  REQUIRE(lists.add(odd("calls")));
  const auto refused = make_tuner(lists.tuners, "Thrown", {{"when", "create"}}, {}, 1);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("thrown by create"));
  auto made = make_tuner(lists.tuners, "Thrown", {}, {}, 1);
  REQUIRE(made);
  REQUIRE(made->tuner->set_space(space()));
  const TrialId id = 1;
  CHECK_THROWS_WITH(made->tuner->ask(std::span(&id, 1)), Catch::Contains("thrown by ask"));
  const Outcome outcome{.trial = 1, .point = {{0, 0, 1, 1}}};
  CHECK_THROWS_WITH(made->tuner->tell(std::span(&outcome, 1)),
                    Catch::Contains("tell: an exception of an unknown type"));
}

TEST_CASE("plug-in: what is neither a file nor a command is an error") {
  CHECK_THAT(trouble(""), Catch::Contains("a plug-in is a file"));
  CHECK_THAT(trouble({{"fil", "x.so"}}), Catch::Contains("a plug-in is a file"));
  CHECK_FALSE(plugin_spec("{\"file\": ").has_value());
  CHECK(plugin_spec("{\"file\": \"a\"}").value()["file"] == "a");
}

}  // namespace attune::shared_object_test
