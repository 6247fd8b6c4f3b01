// The command attune importance, over a store.
#include <catch2/catch.hpp>
#include <cmath>

#include "manager/cli/commands/views.h"
#include "manager/control/json_format.h"
#include "manager/store/store.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::importance_view_test {

json search_space() {
  const json unit = {{"_type", "uniform"}, {"_value", {0, 1}}};
  const json kind = {{"_type", "choice"},
                     {"_value", {{{"_name", "a"}}, {{"_name", "b"}, {"depth", unit}}}}};
  return {{"x", unit}, {"y", unit}, {"kind", kind}};
}

json file_of(const json& space) { return {{"trialCommand", "true"}, {"searchSpace", space}}; }

class World {
 public:
  explicit World(const json& file = file_of(search_space()))
      : store(begin_experiment(folder.path, "abcd2345", "", file)) {
    options.which.directory = folder.path.string();
    options.method = "ped-anova";
  }

  void add(const json& parameters, const json& metric,
           TrialStatus status = TrialStatus::succeeded) {
    TrialRecord trial = pending_trial(count_++);
    trial.proposed.parameters = parameters;
    store.add_trial(trial, 1001).value();
    trial.status = status;
    trial.final_metric = metric;
    store.change_trial(trial).value();
    store.commit().value();
  }

  // The accuracy is 1 - (x - 0.3)^2, plus half of the depth in b.
  void add_many(int trials) {
    for (int k = 0; k < trials; ++k) {
      const auto part = [&](int factor) { return std::fmod(k * factor / 101.0, 1); };
      json parameters = {{"x", part(7)}, {"y", part(31)}, {"kind", {{"_name", "a"}}}};
      if (k % 2 == 1) parameters["kind"] = {{"_name", "b"}, {"depth", part(13)}};
      const double bonus = k % 2 == 1 ? part(13) / 2 : 0;
      add(parameters, 1 - std::pow(part(7) - 0.3, 2) + bonus);
    }
  }

  std::string error() {
    Printed printed;
    return view(options, printed.console).error().message;
  }
  json as_json() {
    options.which.json = true;
    return parse_json(printed(options)).value();
  }

  TemporaryFolder folder;
  Store store;
  ImportanceOptions options;

 private:
  std::int64_t count_ = 0;
};

TEST_CASE("views: importance of a running experiment, as a table") {
  World world;
  world.add_many(100);
  const std::string text = printed(world.options);
  CHECK(contains(text, "one of the 10 with the highest accuracy, of 100 trials (PED-ANOVA):\n"));
  CHECK(contains(text, "PARAMETER      SHARE"));
  CHECK(contains(text, "kind[1].depth  0."));
  CHECK(contains(text, "#\n"));
  world.options.method = "fanova";
  CHECK(
      contains(printed(world.options),
               "What accuracy depends on over the whole search space, from 100 trials (fANOVA):"));
  CHECK_FALSE(contains(printed(world.options), " with "));
  world.options.pairs = true;
  CHECK(contains(printed(world.options), "x with y"));
}

TEST_CASE("views: importance as JSON") {
  World world;
  world.add_many(100);
  world.add({{"x", 0.5}}, 1);  // no y
  world.add({{"x", 0.5}, {"y", 1}, {"kind", {{"_name", "a"}}}}, "NaN");
  world.add({{"x", 0.5}, {"y", 1}, {"kind", {{"_name", "a"}}}}, nullptr, TrialStatus::failed);
  world.add({{"x", 0.9}, {"y", 1}, {"kind", {{"_name", "a"}}}, {"TRIAL_BUDGET", 3}}, 0);
  const json object = world.as_json();
  CHECK(object["format"] == kJsonFormat);
  CHECK(object["experiment_id"] == "abcd2345");
  CHECK(object["metric"] == "accuracy");
  CHECK(object["optimize_mode"] == "maximize");
  CHECK(object["method"] == "ped-anova");
  CHECK(object["trials"] == 101);
  CHECK(object["best_trials"] == 11);
  CHECK(object["without_result"] == 1);
  CHECK(object["outside"] == 1);
  REQUIRE(object["parameters"].size() == 4);
  double sum = 0;
  for (const json& each : object["parameters"]) sum += each["share"].get<double>();
  CHECK(sum == Approx(1));
  CHECK_FALSE(object.contains("pairs"));

  world.options.method = "fanova";
  world.options.pairs = true;
  const json pairs = world.as_json();
  CHECK(pairs["best_trials"].is_null());
  REQUIRE(pairs["pairs"].size() == 6);
  CHECK(pairs["pairs"][0]["parameters"].size() == 2);
  sum = 0;
  for (const json& each : pairs["parameters"]) sum += each["share"].get<double>();
  for (const json& each : pairs["pairs"]) sum += each["share"].get<double>();
  CHECK(sum == Approx(1));
}

TEST_CASE("views: importance judges by the direction of the objective") {
  // The highest are those with a large x, whatever y is; the lowest those with a large y.
  World world;
  for (int k = 0; k < 200; ++k) {
    const double x = std::fmod(k * 7 / 200.0, 1), y = std::fmod(k * 31 / 200.0, 1);
    world.add({{"x", x}, {"y", y}, {"kind", {{"_name", "a"}}}}, x > 0.8 ? 2 : y > 0.8 ? -2 : 0);
  }
  CHECK(world.as_json()["parameters"][0]["parameter"] == "x");
}

TEST_CASE("views: what importance cannot judge is an error that says why") {
  World world;
  CHECK(contains(world.error(),
                 "needs 2 succeeded trials with a finite accuracy, and experiment "
                 "abcd2345 has none"));
  world.add({{"x", 0.5}, {"y", 1}, {"kind", {{"_name", "a"}}}}, 1);
  world.add({{"x", 7}, {"y", 1}, {"kind", {{"_name", "a"}}}}, 1);
  CHECK(contains(world.error(), "has 1; 1 trial outside of its search space"));
  world.options.metric = "acuracy";
  CHECK(contains(world.error(),
                 "\"acuracy\" is no objective of experiment abcd2345, did you mean "
                 "\"accuracy\"?; there is: accuracy"));
  world.options.metric = "";
  world.options.which.experiment = "nobody";
  CHECK(contains(world.error(), "no experiment 'nobody'"));
  const json without_space = {{"trialCommand", "true"}};
  World unread(without_space);
  CHECK(contains(unread.error(), "no search space that attune can read"));
}

TEST_CASE("views: importance where nothing differs says so") {
  World world;
  for (const double x : {0.1, 0.5, 0.9})
    world.add({{"x", x}, {"y", 1}, {"kind", {{"_name", "a"}}}}, 1);
  CHECK(contains(printed(world.options), "No parameter explains anything"));
}

}  // namespace attune::importance_view_test
