// Which parameters the results of a study depend on.
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "tests/study/study_fixture.h"

namespace attune::importance_test {

using namespace attune::test;
using Catch::Contains;
using Shares = std::map<std::string, double>;

Study made(const json& space,
           const StudyOptions& options = {.tuner = {.name = "Random"}, .seed = 3}) {
  return must(Study::create(space, options));
}

void run(Study& study, int trials, const std::function<json(const json&)>& result) {
  for (int i = 0; i < trials; ++i) {
    const Suggestion trial = must(study.ask()).trials.at(0);
    must(study.tell(trial.id, result(trial.parameters)));
  }
}

// Checks what holds of every answer.
Shares shares(const Study& study, const std::string& metric = "") {
  const auto all = must(study.importance(metric));
  double sum = 0, last = 1;
  Shares found;
  for (const auto& [name, share] : all) {
    CHECK(share >= 0);
    CHECK(share <= last);
    last = share;
    sum += share;
    found[name] = share;
  }
  CHECK(found.size() == all.size());
  CHECK((sum == 0 || sum == Approx(1)));
  return found;
}

double number(const json& p, const char* name) { return p.at(name).get<double>(); }

json square() {
  return SpaceBuilder().uniform("x", -1, 1).uniform("y", -1, 1).uniform("z", -1, 1).build();
}

double quadratic(const json& p) {
  return 4 * std::pow(number(p, "x"), 2) + std::pow(number(p, "y"), 2);
}

TEST_CASE("importance: a quadratic has the shares of its coefficients squared") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    Study study = made(square(), {.tuner = {.name = "Random"}, .seed = seed});
    run(study, 200, quadratic);
    const auto all = must(study.importance());
    CHECK(all[0].first == "x");
    CHECK(all[1].first == "y");
    CHECK(all[2].first == "z");
    const Shares found = shares(study);
    CHECK(found.at("x") == Approx(16.0 / 17).margin(0.05));
    CHECK(found.at("y") == Approx(1.0 / 17).margin(0.05));
    CHECK(found.at("z") < 0.01);
  }
}

TEST_CASE("importance: it comes from the space, not from where a tuner has looked most") {
  Study study = made(square(), {.tuner = {.name = "TPE"}, .seed = 1});
  run(study, 200, quadratic);
  const Shares found = shares(study);
  CHECK(found.at("x") == Approx(16.0 / 17).margin(0.1));
  CHECK(found.at("z") < 0.02);
}

TEST_CASE("importance: a choice that decides") {
  Study study = made(SpaceBuilder()
                         .choice("kind", {"a", "b", "c"})
                         .uniform("x", 0, 1)
                         .randint("unused", 0, 5)
                         .build());
  run(study, 100, [](const json& p) { return (p.at("kind") == "b" ? 0 : 5) + number(p, "x"); });
  const Shares found = shares(study);
  CHECK(found.at("kind") > 0.9);
  CHECK(found.at("unused") < 0.01);
}

TEST_CASE("importance: each kind of values counts as often as it is drawn") {
  const json subset = {{"_type", "input_choice"},
                       {"_value", {{"candidates", {"u", "v", "w"}}, {"n_chosen", 1}}}};
  json space = SpaceBuilder()
                   .quniform("q", 0, 1, 1)
                   .randint("i", 0, 2)
                   .choice("c", {0, 1})
                   .choice("scale", {0, 0.5, 1})
                   .build();
  space["s"] = subset;
  space["x"] = SpaceBuilder().uniform("x", 0, 1).build()["x"];  // else all points are tried
  Study study = made(space);
  run(study, 400, [](const json& p) {
    const double s = p.at("s").at("_idx").at(0) == 0 ? 1 : 0;
    return number(p, "q") + number(p, "i") + number(p, "c") + number(p, "scale") + s;
  });
  // The candidate u has the variance 2/9. The forest sees its absence in v and w, too.
  const Shares found = shares(study);
  const double of_s = found.at("s"), others = 3 * 0.25 + 1.0 / 6;
  CHECK(of_s == Approx(2.0 / 9 / (others + 2.0 / 9)).margin(0.08));
  for (const char* name : {"q", "i", "c"}) {
    CHECK(found.at(name) / (1 - of_s) == Approx(0.25 / others).margin(0.045));
  }
  CHECK(found.at("scale") / (1 - of_s) == Approx(1.0 / 6 / others).margin(0.045));
}

TEST_CASE("importance: a logarithmic scale is used") {
  // On its own scale lr explains as much as x; on the linear scale it would be nearly constant.
  Study study = made(SpaceBuilder().loguniform("lr", 1e-6, 1).uniform("x", 0, 1).build());
  run(study, 300,
      [](const json& p) { return std::log(number(p, "lr")) / std::log(1e-6) + number(p, "x"); });
  CHECK(shares(study).at("lr") == Approx(0.5).margin(0.05));
}

json nested() {
  return SpaceBuilder()
      .nested("model", {{"svm", SpaceBuilder().uniform("C", 0, 1).uniform("gamma", 0, 1)},
                        {"tree", SpaceBuilder().uniform("C", 0, 1)},
                        {"none"}})
      .uniform("x", 0, 1)
      .build();
}

TEST_CASE("importance: what an option decides is not that of its parameters") {
  Study study = made(nested());
  run(study, 200, [](const json& p) { return p.at("model").at("_name") == "svm" ? 1.0 : 0.0; });
  const Shares found = shares(study);
  CHECK(found.size() == 5);
  CHECK(found.at("model") > 0.98);
}

TEST_CASE("importance: a parameter of an option counts by the trials that have it") {
  Study study = made(nested());
  run(study, 400, [](const json& p) {
    const std::string& name = p.at("model").at("_name").get_ref<const std::string&>();
    if (name == "svm") return 2 * number(p.at("model"), "C") - 1;
    return name == "tree" ? 1.0 : 2.0;
  });
  // Means 0, 1, 2: variance 2/3. C in the first third: variance 1/3.
  const Shares found = shares(study);
  CHECK(found.at("model") == Approx(6.0 / 7).margin(0.04));
  CHECK(found.at("model[0].C") == Approx(1.0 / 7).margin(0.04));
  CHECK(found.at("model[0].gamma") < 0.005);
  CHECK(found.at("model[1].C") < 0.005);
  CHECK(found.at("x") < 0.005);
}

TEST_CASE("importance: without a search space, behind an if") {
  const auto uniform = [](double low, double high) {
    return json{{"_type", "uniform"}, {"_value", {low, high}}};
  };
  Study study = made(json::object());
  for (int i = 0; i < 400; ++i) {
    const TrialId id = must(study.ask()).trials.at(0).id;
    const json kind =
        must(study.suggest(id, "kind", {{"_type", "choice"}, {"_value", {"a", "b"}}}));
    double result = 0;
    if (kind == "a") {
      result = 2 * must(study.suggest(id, "x", uniform(0, 1))).get<double>() - 1;
    } else {
      must(study.suggest(id, "y", uniform(0, 1)));
      const json n = must(study.suggest(id, "n", {{"_type", "randint"}, {"_value", {0, 3}}}));
      if (n == 2) must(study.suggest(id, "deep", uniform(0, 1)));
      result = 2;
    }
    if (i > 100) must(study.suggest(id, "late", uniform(0, 1)));
    must(study.tell(id, result));
  }
  // Means 0 and 2: variance 1. x in one half: variance 1/3.
  const Shares found = shares(study);
  CHECK(found.size() == 6);
  CHECK(found.at("kind") == Approx(6.0 / 7).margin(0.04));
  CHECK(found.at("x") == Approx(1.0 / 7).margin(0.04));
  for (const char* name : {"y", "n", "deep", "late"}) CHECK(found.at(name) < 0.005);
}

TEST_CASE("importance: of every objective, also of a limit") {
  Study study = made(square(), {.tuner = {.name = "Random"},
                                .objectives = {{"loss"}, {"size", true}, {"seconds", false, 2.0}},
                                .seed = 2});
  run(study, 100, [](const json& p) {
    return json{{"loss", number(p, "x")}, {"size", number(p, "y")}, {"seconds", number(p, "z")}};
  });
  CHECK(shares(study).at("x") > 0.95);
  CHECK(shares(study, "loss") == shares(study));
  CHECK(shares(study, "size").at("y") > 0.95);
  CHECK(shares(study, "seconds").at("z") > 0.95);
  CHECK_THAT(error_of(study.importance("sise")), Contains("did you mean \"size\"?"));
}

TEST_CASE("importance: the same trials give the same answer, and also from a file") {
  const Folder folder;
  const auto make = [&](const std::string& file) {
    Study study = made(nested(), {.tuner = {.name = "Random"}, .seed = 5, .file = file});
    run(study, 50, [](const json& p) { return number(p, "x"); });
    return study;
  };
  const auto expected = must(make("").importance());
  CHECK(must(make(folder.file("a")).importance()) == expected);
  CHECK(must(must(Study::load(folder.file("a"))).importance()) == expected);
}

TEST_CASE("importance: only completed trials with a finite result count") {
  Study study = made(square(), {.tuner = {.name = "Random"}, .objectives = {{"loss"}, {"size"}}});
  const auto needs = [&](const char* there, const std::string& metric = "") {
    CHECK_THAT(error_of(study.importance(metric)),
               Contains("2 completed trials") && Contains(there));
  };
  needs("there is none");
  const auto trials = must(study.ask(5)).trials;
  must(study.fail(trials[0].id));
  must(study.tell(trials[1].id, {{"loss", NAN}}));
  must(study.report(trials[2].id, {{"loss", 1}}));
  must(study.stop(trials[2].id));
  needs("there is none");
  must(study.tell(trials[3].id, {{"loss", 1}, {"size", 1}}));
  needs("there is 1");
  must(study.tell(trials[4].id, {{"loss", 2}}));
  shares(study);
  needs("\"size\", and there is 1", "size");
  CHECK_THAT(error_of(study.importance("speed")), Contains("\"speed\" is no objective"));
}

TEST_CASE("importance: where nothing is explained every share is 0") {
  const Shares none = {{"x", 0}, {"y", 0}, {"z", 0}};
  Study equal = made(square());
  run(equal, 20, [](const json&) { return 0.1; });
  CHECK(shares(equal) == none);
  Study rounded = made(square());
  run(rounded, 20, [](const json& p) { return number(p, "x") > 0 ? 0.3 : 0.1 + 0.2; });
  CHECK(shares(rounded) == none);
  Study same = made(square());
  for (int i = 0; i < 5; ++i) {
    must(same.enqueue({{"x", 0.5}, {"y", 0.5}, {"z", 0.5}}));
    run(same, 1, [i](const json&) { return i; });
  }
  CHECK(shares(same) == none);
  Study constant = made(SpaceBuilder().uniform("c", 1, 1).choice("one", {"a"}).build());
  run(constant, 1, [](const json&) { return 1; });
  must(constant.enqueue({{"c", 1.0}, {"one", "a"}}));
  run(constant, 1, [](const json&) { return 2; });
  CHECK(shares(constant) == Shares{{"c", 0}, {"one", 0}});
}

TEST_CASE("importance: results of any magnitude") {
  for (const double scale : {1e-300, 1.0, -1e300, 1.7e308}) {
    CAPTURE(scale);
    Study study = made(square());
    run(study, 50, [&](const json& p) { return scale * number(p, "x"); });
    CHECK(shares(study).at("x") > 0.95);
  }
  Study offset = made(square());
  run(offset, 100, [](const json& p) { return 1e9 + number(p, "x"); });
  CHECK(shares(offset).at("x") > 0.95);
}

TEST_CASE("importance: tuners that add to the parameters, or take them as a whole") {
  const json whole = {
      {"batch", {{"_type", "choice"}, {"_value", {{{"x", 1}}, {{"x", 2}}, {{"x", 3}}}}}}};
  Study batch = made(whole, {.tuner = {.name = "BatchTuner"}});
  run(batch, 3, [](const json& p) { return number(p, "x"); });
  CHECK(shares(batch).size() == 1);
  Study bohb = made(square(), {.tuner = {.name = "BOHB"}, .seed = 1});
  for (int i = 0; i < 10; ++i) {
    for (const Suggestion& trial : must(bohb.ask()).trials) {
      must(bohb.tell(trial.id, number(trial.parameters, "x")));
    }
  }
  CHECK(shares(bohb).at("x") > 0.5);
}

}  // namespace attune::importance_test
