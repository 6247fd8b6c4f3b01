#include "manager/interchange/optuna_export.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "manager/interchange/optuna_journal.h"
#include "tests/manager/interchange/exported_world.h"

namespace attune::optuna_export_test {

const json kSpace = parse_json(R"({
  "x": {"_type": "uniform", "_value": [0, 1]},
  "opt": {"_type": "choice", "_value": [
    {"_name": "adam"},
    {"_name": "sgd", "momentum": {"_type": "uniform", "_value": [0, 0.99]}}]}})")
                        .value();

struct Journal {
  std::vector<json> study, trials;
  std::vector<std::string> losses;
};

Journal journal_of(const ExportedWorld& world) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  const ExportedExperiment experiment = world.experiment();
  StoreReader reader = world.reader();
  const auto exporter = optuna_exporter(experiment, out).value();
  REQUIRE(export_trials(reader, experiment, *exporter).has_value());
  std::fclose(out);
  Journal journal{{}, {}, exporter->losses().all()};
  std::istringstream lines(std::string(text, size));
  std::free(text);
  for (std::string line; std::getline(lines, line);) {
    json record = parse_json(line).value();
    (record["op_code"] == 4 ? journal.trials : journal.study).push_back(std::move(record));
  }
  return journal;
}

TEST_CASE("optuna export: the study, and a trial with all it has") {
  ExportedWorld world(json{{"searchSpace", kSpace}});
  world.add({{"x", 0.5}, {"opt", {{"_name", "sgd"}, {"momentum", 0.25}}}}, TrialStatus::succeeded,
            {{"accuracy", 0.75}, {"size", 3}}, {0.5, 0.625, std::nan("")});
  const Journal journal = journal_of(world);
  REQUIRE(journal.study.size() == 5);
  CHECK(journal.study[0]["study_name"] == "digits");
  CHECK(journal.study[0]["directions"] == json{kOptunaMaximize});
  CHECK(journal.study[1]["system_attr"] == json{{kOptunaMetricNames, {"accuracy"}}});
  CHECK(journal.study[4]["user_attr"]["attune:search_space"] == kSpace);
  REQUIRE(journal.trials.size() == 1);
  const json& trial = journal.trials[0];
  CHECK(trial["state"] == 1);
  CHECK(trial["value"] == 0.75);
  CHECK(trial["values"].is_null());
  CHECK(trial["params"] == json{{"x", 0.5}, {"opt", 1}, {"opt.sgd.momentum", 0.25}});
  CHECK(parse_json(trial["distributions"]["opt"].get<std::string>()).value()["attributes"] ==
        json{{"choices", {"adam", "sgd"}}});
  CHECK(trial["user_attrs"] == json{{"attune:job_id", "t0000"},
                                    {"attune:status", "succeeded"},
                                    {"attune:source", "algorithm"},
                                    {"attune:metrics", {{"accuracy", 0.75}, {"size", 3}}}});
  CHECK(seconds_of_optuna_time(trial["datetime_start"]) == 1002);
  CHECK(seconds_of_optuna_time(trial["datetime_complete"]) == 1003.5);
  CHECK(trial["intermediate_values"]["0"] == 0.5);
  CHECK(trial["intermediate_values"]["1"] == 0.625);
  CHECK(std::isnan(trial["intermediate_values"]["2"].get<double>()));
  CHECK(journal.losses.empty());
}

TEST_CASE("optuna export: states") {
  ExportedWorld world(json{{"searchSpace", kSpace}});
  const json point = {{"x", 0.5}, {"opt", {{"_name", "adam"}}}};
  world.add(point, TrialStatus::succeeded, 0.5);
  world.add(point, TrialStatus::succeeded, std::nan(""));
  world.add(point, TrialStatus::early_stopped, nullptr, {0.25, 0.125});
  world.add(point, TrialStatus::failed, nullptr);
  world.add(point, TrialStatus::user_canceled, nullptr);
  world.add(point, TrialStatus::running, nullptr, {0.25});
  world.add(point, TrialStatus::paused, nullptr, {0.25});
  world.add(point, TrialStatus::pending, nullptr);
  const Journal journal = journal_of(world);
  std::vector<int> states;
  for (const json& trial : journal.trials) states.push_back(trial["state"].get<int>());
  CHECK(states == std::vector<int>{1, 3, 2, 3, 3, 0, 0, 4});
  CHECK(journal.trials[1]["value"].is_null());
  CHECK(journal.trials[2]["value"] == 0.125);
  for (const json& trial : journal.trials) {
    const auto state = OptunaState(trial["state"].get<int>());
    const bool open = state == OptunaState::running || state == OptunaState::waiting;
    CHECK(trial.contains("datetime_complete") == !open);
    CHECK(trial["datetime_start"].is_null() == (state == OptunaState::waiting));
  }
  CHECK(journal.losses.size() == 3);  // the NaN, the paused and the cancelled one
}

TEST_CASE("optuna export: several objectives, and limits as constraints") {
  ExportedWorld world(json{{"searchSpace", kSpace},
                           {"objectives",
                            {{{"metric", "accuracy"}, {"mode", "maximize"}},
                             {{"metric", "size"}, {"mode", "minimize"}},
                             {{"metric", "seconds"}, {"mode", "minimize"}, {"limit", 2}},
                             {{"metric", "recall"}, {"mode", "maximize"}, {"limit", 0.5}}}}});
  const json point = {{"x", 0.5}, {"opt", {{"_name", "adam"}}}};
  world.add(point, TrialStatus::succeeded,
            {{"accuracy", 0.5}, {"size", 3}, {"seconds", 1.5}, {"recall", 0.25}});
  world.add(point, TrialStatus::succeeded, {{"accuracy", 0.5}, {"size", 3}});
  const Journal journal = journal_of(world);
  CHECK(journal.study[0]["directions"] == json{kOptunaMaximize, kOptunaMinimize});
  CHECK(journal.trials[0]["value"].is_null());
  CHECK(journal.trials[0]["values"] == json{0.5, 3});
  CHECK(journal.trials[0]["system_attrs"] == json{{kOptunaConstraints, {-0.5, 0.25}}});
  CHECK(journal.trials[1]["state"] == 3);
}

TEST_CASE("optuna export: what is not in the search space stands in an attribute") {
  ExportedWorld world(json{{"searchSpace", kSpace}, {"constraints", {"x < 0.9"}}});
  world.add({{"former", 3}}, TrialStatus::succeeded, 0.5);
  const Journal journal = journal_of(world);
  CHECK(journal.trials[0]["params"].empty());
  CHECK(journal.trials[0]["user_attrs"]["attune:parameters"] == json{{"former", 3}});
  CHECK(journal.losses.size() == 2);
  CHECK(journal.study.back()["user_attr"]["attune:constraints"] == json{"x < 0.9"});
}

TEST_CASE("optuna export: two parameters of one name are refused") {
  const ExportedWorld world(json{{"searchSpace",
                                  {{"opt.sgd.momentum", {{"_type", "uniform"}, {"_value", {0, 1}}}},
                                   {"opt", kSpace["opt"]}}}});
  const ExportedExperiment experiment = world.experiment();
  CHECK(optuna_exporter(experiment, stderr).error().message.find("opt.sgd.momentum") !=
        std::string::npos);
}

TEST_CASE("optuna export: times in every form of ISO 8601 that Optuna has written") {
  CHECK(seconds_of_optuna_time("1970-01-01T00:16:42+00:00") == 1002);
  CHECK(seconds_of_optuna_time("1970-01-01T02:16:42.500000+02:00") == 1002.5);
  CHECK_FALSE(seconds_of_optuna_time(nullptr).has_value());
  CHECK_FALSE(seconds_of_optuna_time("yesterday").has_value());
}

}  // namespace attune::optuna_export_test
