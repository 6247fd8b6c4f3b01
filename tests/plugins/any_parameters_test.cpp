// An algorithm that takes any arguments, and gives any parameters.
#include <catch2/catch.hpp>

#include "plugins/answers.h"
#include "plugins/notes.h"
#include "plugins/open/open.h"
#include "plugins/tuner_events.h"

namespace attune::any_parameters_test {

const json kParameters = {{"layers", {1, "two", nullptr}}};

Point free_point(const json& parameters) { return {.values = {}, .parameters = parameters}; }

TEST_CASE("any parameters: notes have them") {
  const std::vector<Answer> answers = {
      Proposal{.point = free_point(kParameters)},
      Proposal{.point = free_point("text"), .budget = 3, .reason = "why"}};
  std::string notes;
  note_answers(7, answers, notes);
  const auto read = answers_from(read_notes(notes).at(7).content);
  REQUIRE(read);
  CHECK(std::get<Proposal>(read->at(0)).point == free_point(kParameters));
  CHECK(std::get<Proposal>(read->at(1)).point == free_point("text"));
  CHECK(std::get<Proposal>(read->at(1)).budget == 3);
}

TEST_CASE("any parameters: a budget stands in them, so they are an object then") {
  const Space space = unread_space({{"of", "mine"}});
  const KnownTrials none{[](TrialId) { return false; }};
  const auto check = [&](const json& parameters, std::optional<double> budget) {
    const std::vector<Answer> answers = {
        Proposal{.point = free_point(parameters), .budget = budget}};
    return check_answers(answers, 1, space, none).has_value();
  };
  CHECK(check({{"x", 1}}, 3));
  CHECK(check({1, 2}, std::nullopt));
  CHECK_FALSE(check({1, 2}, 3));
  CHECK_FALSE(check("text", 3));
}

TEST_CASE("any parameters: events are saved with them") {
  const Space space = unread_space({{"of", "mine"}});
  const TunerEvents events = {
      Adopted{3, free_point(kParameters)},
      Outcome{.trial = 3, .point = free_point(5), .loss = 0.5, .extra = {{"x", 1}}}};
  const auto read = load_events(space, save_events(events));
  REQUIRE(read);
  CHECK(std::get<Adopted>(read->at(0)).point == free_point(kParameters));
  CHECK(std::get<Outcome>(read->at(1)).point == free_point(5));
  CHECK(std::get<Outcome>(read->at(1)).extra == json{{"x", 1}});
}

// Writes down the arguments.
class Fake final : public Plugin {
 public:
  explicit Fake(json& given) : given_(given) {}
  const std::string& name() const override { return name_; }
  const std::vector<PluginDescription>& algorithms() const override { return algorithms_; }
  Result<std::unique_ptr<PluginTuner>> make_tuner(const PluginDescription&,
                                                  PluginSetup setup) override {
    given_ = setup.arguments;
    return fail("no more");
  }
  Result<std::unique_ptr<PluginAssessor>> make_assessor(const PluginDescription&,
                                                        PluginSetup setup) override {
    given_ = setup.arguments;
    return fail("no more");
  }

 private:
  json& given_;
  const std::string name_ = "fake";
  const std::vector<PluginDescription> algorithms_ = {
      {.kind = PluginDescription::Kind::tuner, .name = "T", .any_arguments = true},
      {.kind = PluginDescription::Kind::assessor, .name = "A", .any_arguments = true}};
};

TEST_CASE("any arguments: they come as they were written") {
  json given;
  TunerRegistry tuners;
  AssessorRegistry assessors;
  REQUIRE(add_plugin(std::make_shared<Fake>(given), tuners, assessors, Log()));
  const json arguments = {{"optimize_mode", "up"}, {"seed", "x"}, {"own", {1, 2}}};
  CHECK_FALSE(make_tuner(tuners, "T", arguments, {}, 1));
  CHECK(given == arguments);
  given = nullptr;
  CHECK_FALSE(make_assessor(assessors, "A", arguments, {}, 1));
  CHECK(given == arguments);
  CHECK_FALSE(make_tuner(tuners, "T", nullptr, {}, 1));
  CHECK(given == json::object());
  CHECK(flaws_of(tuners.entries()[0], arguments).empty());
  CHECK(flaws_of(tuners.entries()[0], json::array()).size() == 1);
  CHECK(make_tuner(tuners, "T", json::array(), {}, 1).error().message.find("T: ") == 0);
}

}  // namespace attune::any_parameters_test
