// A study without a search space: trials declare their parameters while they run.
#include <algorithm>
#include <set>

#include "tests/study/study_fixture.h"

namespace attune::define_by_run_test {

using namespace attune::test;

json uniform(double low, double high) { return {{"_type", "uniform"}, {"_value", {low, high}}}; }
json randint(int low, int high) { return {{"_type", "randint"}, {"_value", {low, high}}}; }
json choice(json candidates) { return {{"_type", "choice"}, {"_value", std::move(candidates)}}; }

Study made(const StudyOptions& options = {.tuner = {.name = "TPE"}, .seed = 2}) {
  return must(Study::create(json::object(), options));
}

double number(Study& study, TrialId id, const char* name, const json& declared) {
  return must(study.suggest(id, name, declared)).get<double>();
}

// With branches: the best is kind "b" with y at 1.
double branching(Study& study, TrialId id) {
  if (must(study.suggest(id, "kind", choice({"a", "b"}))) == "a") {
    return 3 + std::abs(number(study, id, "x", uniform(-5, 5)));
  }
  double sum = std::abs(number(study, id, "y", uniform(-5, 5)) - 1);
  if (number(study, id, "layers", randint(1, 4)) > 2) sum += number(study, id, "z", uniform(0, 1));
  return sum;
}

// All that happens until there are `trials`; every third reports, every seventh fails.
void run(Study& study, std::int64_t trials) {
  while (study.trial_count() < trials || !study.running().empty()) {
    const auto left = study.running();
    const auto asked = left.empty() ? must(study.ask()).trials : left;
    REQUIRE(asked.size() == 1);
    const TrialId id = asked[0].id;
    const double loss = branching(study, id);
    if (id % 3 == 0) must(study.report(id, loss + 1, 0));
    if (id % 7 == 6) {
      must(study.fail(id, "no luck"));
    } else {
      must(study.tell(id, loss));
    }
  }
}

TEST_CASE("define by run: a trial has the parameters that it has asked for") {
  Study study = made();
  run(study, 40);
  std::set<json> shapes;
  for (const StudyTrial& trial : study.trials()) {
    json names = json::array();
    for (const auto& [name, value] : trial.parameters.items()) names.push_back(name);
    shapes.insert(names);
    if (trial.parameters["kind"] == "a") {
      CHECK(names == json({"kind", "x"}));
    } else if (trial.parameters["layers"] == 3) {
      CHECK(names == json({"kind", "y", "layers", "z"}));
    } else {
      CHECK(names == json({"kind", "y", "layers"}));
    }
  }
  CHECK(shapes.size() == 3);
}

TEST_CASE("define by run: tuners learn from it") {
  for (const char* tuner : {"TPE", "GP", "SMAC", "auto", "Evolution"}) {
    CAPTURE(tuner);
    Study study = made({.tuner = {.name = tuner}, .seed = 5});
    run(study, 60);
    CHECK(study.best()->parameters["kind"] == "b");
    CHECK(*study.best()->value < 0.3);
  }
}

TEST_CASE("define by run: every prefix of the file is continued as if nothing had happened") {
  const Folder folder;
  const std::string whole_file = folder.file("whole"), part_file = folder.file("part");
  std::string expected;
  {
    Study study = made({.tuner = {.name = "TPE"}, .seed = 4, .file = whole_file});
    must(study.enqueue({{"kind", "b"}, {"y", 0.5}}));
    run(study, 15);
    expected = summary(study);
  }
  const std::string whole = read(whole_file);
  CHECK(std::ranges::count(whole, '\n') > 60);
  for (std::size_t end = whole.find('\n'); end != std::string::npos;
       end = whole.find('\n', end + 1)) {
    CAPTURE(end);
    write(part_file, whole.substr(0, end + 1));
    Study study = must(Study::open(part_file));
    REQUIRE(study.warnings().empty());
    if (study.trial_count() == 0 && whole.substr(0, end).find("enqueue") == std::string::npos) {
      must(study.enqueue({{"kind", "b"}, {"y", 0.5}}));
    }
    run(study, 15);
    REQUIRE(summary(study) == expected);
    REQUIRE(read(part_file) == whole);
  }
}

TEST_CASE("define by run: trials of an ask that another version answers otherwise") {
  const Folder folder;
  const std::string file = folder.file("study");
  {
    Study study = made({.tuner = {.name = "TPE"}, .seed = 4, .file = file});
    must(study.enqueue({{"kind", "b"}, {"y", 0.5}}));
    run(study, 6);
  }
  std::string text = read(file);
  const std::string before = summary(must(Study::load(file)));
  text.replace(text.find("\"seed\":4"), 8, "\"seed\":5");
  write(file, text);
  const Study other = must(Study::load(file));
  CHECK_FALSE(other.warnings().empty());
  CHECK(summary(other) == before);
}

TEST_CASE("define by run: several trials at once, and some that ask for nothing") {
  Study study = made();
  const auto first = must(study.ask(3)).trials;
  REQUIRE(first.size() == 3);
  must(study.tell(first[0].id, 1));  // it had no parameter
  const double x = number(study, first[1].id, "x", uniform(0, 1));
  CHECK(number(study, first[1].id, "x", uniform(0, 1)) == x);
  CHECK(number(study, first[2].id, "x", uniform(0, 1)) != x);
  number(study, first[2].id, "n", randint(0, 10));
  must(study.tell(first[1].id, 2));
  must(study.tell(first[2].id, 3));
  CHECK(study.trial(first[1].id)->parameters == json({{"x", x}}));
  const TrialId next = must(study.ask()).trials.at(0).id;
  CHECK(must(study.suggest(next, "n", randint(0, 10))).is_number_integer());
}

TEST_CASE("define by run: finite spaces") {
  Study study = made();
  for (int i = 0; i < 30; ++i) {
    const TrialId id = must(study.ask()).trials.at(0).id;
    const json a = must(study.suggest(id, "a", choice({1, 2, 3})));
    double loss = a.get<double>();
    if (i > 2) loss += number(study, id, "b", randint(0, 4));
    must(study.tell(id, loss));
  }
  CHECK(*study.best()->value == 1);
}

TEST_CASE("define by run: a range may differ from trial to trial") {
  Study study = made({.tuner = {.name = "Random"}, .seed = 1});
  for (int most = 1; most < 40; ++most) {
    const TrialId id = must(study.ask()).trials.at(0).id;
    const json k = must(study.suggest(id, "k", randint(0, most)));
    CHECK(k.is_number_integer());
    CHECK(k < most);
    const double x = number(study, id, "x", uniform(-most, 40 - most));
    CHECK(x >= -most);
    CHECK(x <= 40 - most);
    must(study.tell(id, x));
  }
}

TEST_CASE("define by run: enqueued parameters count where a trial asks for them") {
  Study study = made();
  run(study, 3);
  must(study.enqueue({{"kind", "b"}, {"y", 1.5}, {"later", 0.25}, {"never", 7}}));
  must(study.enqueue({{"kind", "c"}}));
  const TrialId id = must(study.ask()).trials.at(0).id;
  CHECK(must(study.suggest(id, "kind", choice({"a", "b"}))) == "b");
  CHECK(number(study, id, "y", uniform(-5, 5)) == 1.5);
  CHECK(number(study, id, "later", uniform(0, 1)) == 0.25);
  CHECK(study.trial(id)->parameters == json({{"kind", "b"}, {"y", 1.5}, {"later", 0.25}}));
  const TrialId wrong = must(study.ask()).trials.at(0).id;
  const auto kind = study.suggest(wrong, "kind", choice({"a", "b"}));
  REQUIRE_FALSE(kind);
  CHECK_THAT(kind.error().message, Catch::Contains("enqueued or given value"));
  must(study.fail(wrong));
}

TEST_CASE("define by run: the tuner learns of the values that trials have tried") {
  const auto next_is_best = [](Study& study) {
    const TrialId id = must(study.ask()).trials.at(0).id;
    CHECK(number(study, id, "x", uniform(0, 1)) == Approx(0.7).margin(0.15));
  };
  SECTION("enqueued before the parameter was known") {
    Study study = made({.tuner = {.name = "GP"}, .seed = 3});
    for (int i = 0; i <= 20; ++i) must(study.enqueue({{"x", i / 20.0}}));
    for (const Suggestion& trial : must(study.ask(21)).trials) {
      const double x = number(study, trial.id, "x", uniform(0, 1));
      must(study.tell(trial.id, std::abs(x - 0.7)));
    }
    next_is_best(study);
  }
  SECTION("given by the user") {
    Study study = made({.tuner = {.name = "GP"}, .seed = 3});
    for (int i = 0; i <= 20; ++i) {
      const TrialId id = must(study.ask()).trials.at(0).id;
      must(study.give(id, "x", uniform(0, 1), i / 20.0));
      must(study.give(id, "kind", choice({"a", nullptr}), nullptr));
      CHECK(study.trial(id)->parameters == json({{"x", i / 20.0}, {"kind", nullptr}}));
      must(study.tell(id, std::abs(i / 20.0 - 0.7)));
    }
    next_is_best(study);
  }
  SECTION("in narrower bounds") {
    Study study = made({.tuner = {.name = "GP"}, .seed = 3});
    must(study.declare({{"x", uniform(0, 1)}}));
    for (int i = 0; i <= 20; ++i) {
      const double x = i / 20.0;
      const TrialId id = must(study.ask()).trials.at(0).id;
      CHECK(number(study, id, "x", uniform(x, x)) == x);
      must(study.tell(id, std::abs(x - 0.7)));
    }
    next_is_best(study);
  }
}

TEST_CASE("define by run: results from elsewhere need their parameters declared") {
  Study study = made({.tuner = {.name = "GP"}, .seed = 3});
  std::vector<std::pair<json, json>> results;
  for (int i = 0; i <= 20; ++i) {
    const double x = i / 20.0;
    results.push_back({{{"x", x}}, std::abs(x - 0.7)});
  }
  const auto refused = study.import_results(results);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("results[0]") && Catch::Contains("\"x\""));
  must(study.declare({{"x", uniform(0, 1)}, {"y", uniform(0, 1)}}));
  must(study.import_results(results));
  const TrialId id = must(study.ask()).trials.at(0).id;
  CHECK(number(study, id, "x", uniform(0, 1)) == Approx(0.7).margin(0.15));
}

TEST_CASE("define by run: what cannot be is an error and changes nothing") {
  Study study = made();
  const TrialId id = must(study.ask()).trials.at(0).id;
  number(study, id, "x", uniform(0, 1));
  must(study.suggest(id, "c", choice({1, 2})));
  const std::string before = summary(study);
  const auto refuses = [&](const char* name, const json& declared, const char* part) {
    const auto value = study.suggest(id, name, declared);
    REQUIRE_FALSE(value);
    CHECK_THAT(value.error().message, Catch::Contains(part));
  };
  refuses("x", choice({0, 1}), "\"x\" was declared as");
  refuses("x", {{"_type", "loguniform"}, {"_value", {0.1, 1}}}, "\"x\" was declared as");
  refuses("c", choice({1, 2, 3}), "\"c\" was declared as");
  refuses("n", {{"_type", "what"}, {"_value", {0, 1}}}, "what");
  refuses("n", uniform(2, 1), "n");
  refuses("n", json(), "n");
  refuses("x", {{"_type", "uniform"}, {"_value", {0, "1"}}}, "\"x\" was declared as");
  CHECK_FALSE(study.give(id, "x", uniform(0, 1), 0.5));
  CHECK_FALSE(study.suggest(77, "x", uniform(0, 1)));
  CHECK_FALSE(study.declare(json::array()));
  CHECK(summary(study) == before);
  number(study, id, "n", uniform(0, 1));

  must(study.tell(id, 1));
  CHECK_FALSE(study.suggest(id, "x", uniform(0, 1)));
  CHECK_FALSE(Study::create(json::object(), {.constraints = {"x < 1"}}));
  // With a search space trials have their parameters from the beginning.
  Study fixed = must(Study::create(small_space(), {}));
  const Suggestion trial = must(fixed.ask()).trials.at(0);
  CHECK(must(fixed.suggest(trial.id, "x", uniform(-5, 5))) == trial.parameters["x"]);
  CHECK_FALSE(fixed.suggest(trial.id, "new", uniform(0, 1)));
  CHECK_FALSE(fixed.declare({{"new", uniform(0, 1)}}));
}

}  // namespace attune::define_by_run_test
