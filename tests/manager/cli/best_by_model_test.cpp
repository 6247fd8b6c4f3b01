// The best trial as a model sees it, over a store.
#include "manager/cli/commands/best_by_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "manager/cli/commands/stored_evidence.h"
#include "manager/cli/commands/views.h"
#include "manager/store/store.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::best_by_model_test {

const json kSpace = {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}};

json with(json object, int others, const json& value) {
  for (int i = 0; i < others; ++i) object["other" + std::to_string(i)] = value;
  return object;
}

// Noisy accuracies of 1 - (x - 0.3)^2. Trial t0000, far from the best x, has a lucky result.
class World {
 public:
  // `others`: parameters that do nothing.
  explicit World(int trials, json objectives = nullptr, int others = 0)
      : store(begin_experiment(folder.path, "abcd2345", "",
                               {{"trialCommand", "true"},
                                {"searchSpace", with(kSpace, others, kSpace["x"])},
                                {"objectives", std::move(objectives)}})) {
    options.which.directory = folder.path.string();
    Rng rng(1);
    for (int k = 0; k < trials; ++k) {
      const double x = k == 0 ? 0.95 : std::fmod(k * 0.618, 1);
      const double accuracy = 1 - std::pow(x - 0.3, 2) + 0.05 * rng.normal();
      TrialRecord trial = pending_trial(k);
      trial.proposed.parameters = with({{"x", x}}, others, 0.5);
      store.add_trial(trial, 1001).value();
      trial.status = TrialStatus::succeeded;
      trial.final_metric = k == 0 ? 1.5 : accuracy;
      store.change_trial(trial).value();
    }
    store.commit().value();
  }

  std::string error() const {
    Printed nothing;
    return view(options, nothing.console).error().message;
  }

  TemporaryFolder folder;
  Store store;
  BestOptions options;
};

TEST_CASE("views: below the best observed trial stands what the model expects") {
  const World world(60);
  const std::string text = printed(world.options);
  CHECK(contains(text, "1.5 (highest, trial t0000)\n"));
  CHECK(contains(text, "\nthe model expects "));
  CHECK(!contains(text, " of trial t0000, which gave"));
  CHECK(contains(text, "\nattune best --by model shows that trial\n"));
}

TEST_CASE("views: of many parameters a model is fitted only if the user asks for it") {
  World world(12, nullptr, 80);
  CHECK(!contains(printed(world.options), "model"));
  world.options.by_model = true;
  CHECK(contains(printed(world.options), "the model expects "));
}

TEST_CASE("views: of many trials those that succeeded are thinned out, not all") {
  World world(10);
  for (int k = 10; k < 50; ++k) world.store.add_trial(pending_trial(k), 1001).value();
  world.store.commit().value();
  StoreReader reader = StoreReader::open(world.folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  CHECK(stored_evidence(reader, experiment, "", 10)->evidence.results.size() == 10);
  CHECK(stored_evidence(reader, experiment, "", 5)->evidence.results.size() == 5);
}

TEST_CASE("views: best by model shows the trial that is not just lucky") {
  World world(60);
  world.options.by_model = true;
  CHECK(contains(printed(world.options), "the model expects "));
  world.options.which.json = true;
  const json array = parse_json(printed(world.options)).value();
  REQUIRE(array.size() == 1);
  CHECK(std::abs(array[0]["parameters"]["x"].get<double>() - 0.3) < 0.15);
  const json& expected = array[0]["expected"];
  CHECK(expected["mean"].get<double>() == Approx(1).margin(0.1));
  CHECK(expected["deviation"].get<double>() < 0.1);
  CHECK(expected["noise"].get<double>() > 0.02);

  world.options.which.json = false;
  world.options.format = "args";
  CHECK(contains(printed(world.options), "--x "));
}

TEST_CASE("views: without a model best shows the observed trial alone, by model says why") {
  World few(5);
  CHECK(!contains(printed(few.options), "model"));
  few.options.by_model = true;
  CHECK(contains(few.error(), "needs 10 results to see the best trial; experiment abcd2345 has 5"));

  World limited(20, json::array({{{"metric", "accuracy"}, {"mode", "maximize"}},
                                 {{"metric", "seconds"}, {"limit", 2}}}));
  limited.options.by_model = true;
  CHECK(contains(limited.error(), "has several objectives or a limit"));
}

}  // namespace attune::best_by_model_test
