// Experiments side by side, and their files.
#include <catch2/catch.hpp>

#include "manager/cli/commands/views.h"
#include "manager/control/json_format.h"
#include "manager/experiment/yaml.h"
#include "manager/store/store.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::compare_test {

void begin(const std::filesystem::path& folder, const std::string& id, const json& file,
           const std::vector<double>& scores) {
  Store store = begin_experiment(folder, id, "", file);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    TrialRecord trial = pending_trial(static_cast<std::int64_t>(i));
    trial.proposed.parameters = {{"lr", scores[i]}};
    store.add_trial(trial, 1001).value();
    trial.status = TrialStatus::succeeded;
    trial.final_metric = {{"accuracy", scores[i]}};
    trial.start_time = 1001;
    trial.end_time = 1010 + static_cast<double>(i);
    store.change_trial(trial).value();
  }
  store.commit().value();
}

json with_tuner(const std::string& name) {
  return {{"trialCommand", "true"}, {"tuner", {{"name", name}, {"classArgs", {{"seed", 7}}}}}};
}

TEST_CASE("views: compare shows results, ranks, and what differs in the files") {
  const TemporaryFolder folder;
  begin(folder.path, "aaaa2345", with_tuner("TPE"), {0.5, 0.75, 0.25});
  begin(folder.path, "bbbb2345", with_tuner("Random"), {0.625});
  begin(folder.path, "cccc2345", with_tuner("GP"), {});
  CompareOptions options;
  options.directory = folder.path.string();
  options.experiments = {"aaaa", "bbbb", "cccc"};
  const std::string text = printed(options);
  CHECK(contains(text, "                aaaa2345           bbbb2345           cccc2345\n"));
  CHECK(contains(text, "trials          3                  1                  0\n"));
  CHECK(contains(text, "best score      0.75               0.625              -\n"));
  CHECK(contains(text, "rank            1                  2                  -\n"));
  CHECK(contains(text, "found by trial  t0001              t0000              -\n"));
  CHECK(contains(text, "found after     11 s               10 s               -\n"));
  CHECK(contains(text, "tuner.name      TPE                Random             GP\n"));
  CHECK(contains(text, "best lr         0.75               0.625              -\n"));
  CHECK(text.find("trialCommand") == std::string::npos);

  options.json = true;
  const json array = parse_json(printed(options)).value();
  REQUIRE(array.size() == 3);
  CHECK(array[0]["format"] == kJsonFormat);
  CHECK(array[1]["rank"] == 2);
  CHECK(array[0]["best"]["trial_job_id"] == "t0001");
  CHECK(array[0]["best"]["seconds"] == 11);
  CHECK(array[0]["differing_settings"] == json{{"tuner.name", "TPE"}});
  CHECK(array[2]["rank"].is_null());
}

TEST_CASE("views: compare ranks nothing that has different objectives") {
  const TemporaryFolder folder;
  const json other = {{"objectives", {{{"metric", "accuracy"}}, {{"metric", "size"}}}}};
  begin(folder.path, "aaaa2345", with_tuner("TPE"), {0.5});
  begin(folder.path, "bbbb2345", other, {0.625});
  CompareOptions options;
  options.directory = folder.path.string();
  options.experiments = {"aaaa", "bbbb"};
  options.json = true;
  Printed printed;
  REQUIRE(view(options, printed.console) == kExitOk);
  CHECK(contains(printed.err(), "not ranked: aaaa2345 and bbbb2345 have different objectives"));
  CHECK(parse_json(printed.out())->at(0)["rank"].is_null());
  options.experiments = {"aaaa", "nobody"};
  CHECK(contains(view(options, printed.console).error().message, "no experiment 'nobody'"));
}

TEST_CASE("views: config prints the experiment file as it is stored") {
  const TemporaryFolder folder;
  json file = with_tuner("TPE");
  file["templates"] = {{{"from", "a.in"}, {"to", "a"}}};
  json stored = file;
  stored["templates"][0]["stored"] = {{"base64", "eA=="}, {"executable", false}};
  begin(folder.path, "aaaa2345", stored, {});
  ConfigOptions options;
  options.which.directory = folder.path.string();
  CHECK(parse_yaml(printed(options), "x")->value == file);
  options.which.json = true;
  const json object = parse_json(printed(options)).value();
  CHECK(object["format"] == kJsonFormat);
  CHECK(object["experiment_id"] == "aaaa2345");
  CHECK(object["config"] == file);
}

TEST_CASE("views: words for completion, and no error") {
  const TemporaryFolder folder;
  begin(folder.path, "aaaa2345", with_tuner("TPE"), {0.5, 0.75});
  CompletionWordsOptions options;
  options.which.directory = folder.path.string();
  options.what = "experiments";
  CHECK(printed(options) == "aaaa2345\n");
  options.what = "trials";
  CHECK(printed(options) == "t0001\nt0000\n");
  options.which.experiment = "nobody";
  CHECK(printed(options).empty());
  options.which.directory = "/nowhere";
  CHECK(printed(options).empty());
}

}  // namespace attune::compare_test
