#include <limits>

#include "tests/study/study_fixture.h"

namespace attune::ask_tell_test {

using namespace attune::test;

TEST_CASE("ask and tell: the records, and the best of them") {
  Study study = must(Study::create(small_space()));
  for (const double value : {3.0, 1.0, 1.0, 2.0}) {
    const Asked asked = must(study.ask());
    REQUIRE(asked.trials.size() == 1);
    must(study.tell(asked.trials[0].id, value));
  }
  CHECK(study.trial_count() == 4);
  CHECK(study.best()->id == 1);  // the earlier of equal ones
  CHECK(study.best()->value == 1.0);
  CHECK(study.running().empty());
}

TEST_CASE("ask and tell: maximizing a named metric among others") {
  StudyOptions options;
  options.objectives = {{"accuracy", true}, {"seconds", false}};
  Study study = must(Study::create(small_space(), options));
  const auto trials = must(study.ask(2)).trials;
  REQUIRE(trials.size() == 2);
  must(study.tell({{trials[0].id, {{"seconds", 9}, {"accuracy", 0.5}}},
                   {trials[1].id, {{"seconds", 8}, {"accuracy", 0.75}}}}));
  CHECK(study.best()->id == trials[1].id);
  CHECK(study.best()->metrics == Metrics{{"accuracy", 0.75}, {"seconds", 8}});
}

// Tells so many trials their accuracy, seconds and size.
void tell_all(Study& study, const std::vector<json>& results) {
  for (const json& result : results) must(study.tell(must(study.ask()).trials.at(0).id, result));
}

TEST_CASE("ask and tell: the best keeps the limits") {
  StudyOptions options;
  options.objectives = {{"accuracy", true}, {"seconds", false, 2.0}};
  Study study = must(Study::create(small_space(), options));
  tell_all(study, {{{"accuracy", 0.99}}, 0.99});
  CHECK_FALSE(study.best());
  tell_all(study, {{{"accuracy", 0.9}, {"seconds", 5}}, {{"accuracy", 0.8}, {"seconds", 3}}});
  CHECK(study.best()->value == 0.8);  // the nearest
  CHECK_FALSE(study.keeps_limits());
  CHECK(study.trade_offs().empty());
  tell_all(study, {{{"accuracy", 0.3}, {"seconds", 2}}, {{"accuracy", 0.2}, {"seconds", 1}}});
  CHECK(study.best()->value == 0.3);
  CHECK(study.keeps_limits());
  REQUIRE(study.trade_offs().size() == 1);
  CHECK(study.trade_offs()[0].id == study.best()->id);
}

TEST_CASE("ask and tell: the trade-offs of several objectives") {
  StudyOptions options;
  options.objectives = {{"accuracy", true}, {"seconds", false}};
  Study study = must(Study::create(small_space(), options));
  tell_all(study, {{{"accuracy", 0.5}, {"seconds", 1}},
                   {{"accuracy", 0.9}, {"seconds", 4}},
                   {{"accuracy", 0.8}, {"seconds", 5}},
                   {{"accuracy", 0.7}, {"seconds", 2}}});
  std::vector<double> found;
  for (const StudyTrial& trial : study.trade_offs()) found.push_back(*trial.value);
  CHECK(found == std::vector<double>{0.9, 0.7, 0.5});
  CHECK(study.best()->value == 0.9);
}

TEST_CASE("ask and tell: what is wrong changes nothing") {
  Study study = must(Study::create(small_space()));
  const TrialId id = must(study.ask()).trials[0].id;
  CHECK(error_of(study.tell(7, 1.0)) == "trial 7 does not exist");
  CHECK_THAT(error_of(study.ask(0)), Catch::Contains("from 1 to 10000"));
  CHECK_THAT(error_of(study.tell(id, "fast")), Catch::Contains("must be a number or an object"));
  CHECK_THAT(error_of(study.tell(id, nullptr)), Catch::Contains("not null"));
  CHECK_THAT(error_of(study.tell(id, {{"default", nullptr}})), Catch::Contains("is a number"));
  CHECK_THAT(error_of(study.report(id, nullptr)), Catch::Contains("not null"));
  CHECK_THAT(error_of(study.import_results({{{{"x", 1.0}, {"kind", "a"}}, nullptr}})),
             Catch::Contains("not null"));
  CHECK_THAT(error_of(study.tell({{id, 1.0}, {id, 2.0}})), Catch::Contains("twice"));
  CHECK_THAT(error_of(study.tell({{id, 1.0}, {8, 2.0}})), Catch::Contains("trial 8"));
  CHECK_THAT(error_of(study.report(id, 1.0, 3)), Catch::Contains("the next one is 0"));
  CHECK(study.running().size() == 1);
  must(study.tell(id, 1.0));
  const std::string before = summary(study);
  CHECK(error_of(study.tell(id, 2.0)) == "trial 0 is completed already");
  CHECK(error_of(study.fail(id)) == "trial 0 is completed already");
  CHECK(error_of(study.stop(id)) == "trial 0 is completed already");
  CHECK(error_of(study.report(id, 2.0)) == "trial 0 is completed already");
  CHECK(summary(study) == before);
}

TEST_CASE("ask and tell: the ends of trials") {
  Study study = must(Study::create(small_space()));
  const auto trials = must(study.ask(4)).trials;
  must(study.tell(trials[0].id, std::numeric_limits<double>::quiet_NaN()));
  must(study.fail(trials[1].id, "no memory"));
  must(study.report(trials[2].id, 4.0));
  must(study.report(trials[2].id, 3.5));
  must(study.stop(trials[2].id));
  must(study.stop(trials[3].id));
  CHECK(study.trial(0)->state == TrialState::diverged);
  CHECK(study.trial(1)->state == TrialState::failed);
  CHECK(study.trial(1)->reason == "no memory");
  CHECK(study.trial(2)->state == TrialState::stopped);
  CHECK(study.trial(2)->value == 3.5);
  CHECK(study.trial(3)->value == std::nullopt);
  CHECK_FALSE(study.best());
}

TEST_CASE("ask: a finite space ends, and max_trials ends") {
  const json space = SpaceBuilder().choice("n", {1, 2, 3}).build();
  StudyOptions options{.tuner = {.name = "Random"}};
  Study study = must(Study::create(space, options));
  const Asked all = must(study.ask(5));
  CHECK(all.trials.size() == 3);
  CHECK(all.no_more);
  CHECK_THAT(all.reason, Catch::Contains("exhausted"));
  must(study.tell(all.trials[0].id, 1));
  CHECK(must(study.ask()).no_more);

  options.max_trials = 2;
  Study two = must(Study::create(space, options));
  CHECK(must(two.ask(5)).trials.size() == 2);
  CHECK_THAT(must(two.ask()).reason, Catch::Contains("2 trials"));
}

TEST_CASE("enqueued and initial points come first, and must lie in the space") {
  StudyOptions options;
  options.initial_points = {{{"x", 1.5}, {"kind", "b"}}};
  options.constraints = {"x < 4"};
  Study study = must(Study::create(small_space(), options));
  must(study.enqueue({{"x", -2.0}, {"kind", "a"}}));
  CHECK_THAT(error_of(study.enqueue({{"x", 9.0}, {"kind", "a"}})), Catch::Contains("x"));
  CHECK_THAT(error_of(study.enqueue({{"x", 4.5}, {"kind", "a"}})),
             Catch::Contains("breaks a constraint"));
  const auto trials = must(study.ask(3)).trials;
  CHECK(trials[0].parameters.at("x") == 1.5);
  CHECK(trials[1].parameters.at("x") == -2.0);
  CHECK(trials[2].parameters.at("x").get<double>() < 4);

  options.initial_points = {{{"x", 1.5}, {"kind", "c"}}};
  CHECK_THAT(error_of(Study::create(small_space(), options)),
             Catch::StartsWith("options.initial_points[0]: "));
}

TEST_CASE("imported results teach the tuner and are no trials") {
  const auto after_import = [](bool imports) {
    StudyOptions options{.tuner = {.name = "TPE"}, .seed = 4};
    Study study = must(Study::create(SpaceBuilder().uniform("x", 0, 1).build(), options));
    std::vector<std::pair<json, json>> results;
    for (int i = 0; i < 60; ++i) {
      const double x = (i + 0.5) / 60;
      results.push_back({{{"x", x}}, (x - 0.9) * (x - 0.9)});
    }
    if (imports) must(study.import_results(results));
    CHECK(study.trial_count() == 0);
    double sum = 0;
    for (const Suggestion& trial : must(study.ask(20)).trials) {
      sum += trial.parameters.at("x").get<double>();
    }
    return sum / 20;
  };
  CHECK(after_import(true) > 0.75);
  CHECK(after_import(false) < 0.7);
  Study study = must(Study::create(small_space()));
  CHECK_THAT(
      error_of(study.import_results({{{{"x", 1.0}, {"kind", "a"}}, 1.0}, {{{"x", 1.0}}, 2}})),
      Catch::StartsWith("results[1]: "));
}

TEST_CASE("create: errors name the place") {
  CHECK_THAT(error_of(Study::create(SpaceBuilder().uniform("x", 2, 1).build())),
             Catch::StartsWith("search_space.x._value"));
  CHECK_THAT(error_of(Study::create(small_space(), {.tuner = {.name = "TPF"}})),
             Catch::Contains("unknown tuner \"TPF\""));
  CHECK_THAT(error_of(Study::create(small_space(), {.assessor = Algorithm{.name = "Medianstp"}})),
             Catch::Contains("unknown assessor"));
  CHECK_THAT(error_of(Study::create(small_space(), {.constraints = {"y < 1"}})),
             Catch::StartsWith("constraints[0]"));
  CHECK_THAT(
      error_of(Study::create(small_space(), {.tuner = {"TPE", {{"optimize_mode", "maximize"}}}})),
      Catch::StartsWith("options.tuner: the study is to minimize"));
  CHECK_THAT(error_of(Study::create(small_space(), {.max_trials = 0})),
             Catch::StartsWith("options.max_trials"));
}

TEST_CASE("report: an assessor stops, and the reason is said") {
  StudyOptions options{.tuner = {.name = "Random"},
                       .assessor = Algorithm{"Medianstop", {{"start_step", 1}}}};
  Study study = must(Study::create(small_space(), options));
  for (int good = 0; good < 3; ++good) {
    const TrialId id = must(study.ask()).trials[0].id;
    for (int step = 0; step < 4; ++step) CHECK_FALSE(must(study.report(id, 1.0)).stop);
    must(study.tell(id, 1.0));
  }
  const TrialId bad = must(study.ask()).trials[0].id;
  Verdict verdict;
  int reports = 0;
  while (!verdict.stop && reports < 4) {
    verdict = must(study.report(bad, 9.0));
    ++reports;
  }
  REQUIRE(verdict.stop);
  CHECK_FALSE(verdict.reason.empty());
  must(study.stop(bad));
  CHECK(study.trial(bad)->reason == verdict.reason);
  CHECK(study.trial(bad)->value == 9.0);
}

TEST_CASE("space builder: every type, and nested choices") {
  const json space = SpaceBuilder()
                         .uniform("u", 0, 1)
                         .quniform("qu", 0, 1, 0.25)
                         .loguniform("lu", 1e-3, 1)
                         .qloguniform("qlu", 1, 100, 1)
                         .normal("n", 0, 1)
                         .qnormal("qn", 0, 1, 0.5)
                         .lognormal("ln", 0, 1)
                         .qlognormal("qln", 0, 1, 1)
                         .randint("i", 2, 7)
                         .choice("c", {"sgd", 2, true})
                         .nested("model", {{"svm", SpaceBuilder().uniform("C", 1, 2)},
                                           {"tree", SpaceBuilder().randint("depth", 1, 4)}})
                         .build();
  Study study = must(Study::create(space, {.tuner = {.name = "Random"}}));
  bool svm = false, tree = false;
  for (const Suggestion& trial : must(study.ask(40)).trials) {
    const json& p = trial.parameters;
    CHECK(p.size() == 11);
    CHECK(p.at("i").get<int>() >= 2);
    CHECK(p.at("i").get<int>() < 7);
    svm = svm || (p.at("model").at("_name") == "svm" && p.at("model").contains("C"));
    tree = tree || (p.at("model").at("_name") == "tree" && p.at("model").contains("depth"));
  }
  CHECK(svm);
  CHECK(tree);
}

}  // namespace attune::ask_tell_test
