#include "manager/interchange/optuna_import.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/interchange/optuna_export.h"
#include "space/parse.h"
#include "tests/manager/interchange/exported_world.h"
#include "tests/support/temporary_folder.h"

namespace attune::optuna_import_test {

using Catch::Contains;

std::string distribution(const char* name, const json& attributes) {
  return dump_json({{"name", name}, {"attributes", attributes}});
}
std::string real(double low, double high, const json& step = nullptr, bool log = false) {
  return distribution("FloatDistribution",
                      {{"step", step}, {"low", low}, {"high", high}, {"log", log}});
}
std::string whole(int low, int high, int step = 1, bool log = false) {
  return distribution("IntDistribution",
                      {{"log", log}, {"step", step}, {"low", low}, {"high", high}});
}
std::string categories(const json& choices) {
  return distribution("CategoricalDistribution", {{"choices", choices}});
}

// A journal file, record by record.
class Journal {
 public:
  Journal() { create_study("net"); }

  void record(int operation, const json& members) {
    json line = {{"op_code", operation}, {"worker_id", "w"}};
    line.update(members);
    std::ofstream(file, std::ios::app) << dump_json(line) << "\n";
  }
  void create_study(const char* name, const json& directions = {1}) {
    record(0, {{"study_name", name}, {"directions", directions}});
  }
  // A trial with parameters {name: [distribution, number]}.
  void trial(const json& parameters, int state, const json& values, int study = 0) {
    record(4, {{"study_id", study}, {"datetime_start", "1970-01-01T00:16:40+00:00"}});
    for (const auto& [name, each] : parameters.items())
      record(5, {{"trial_id", trials_},
                 {"param_name", name},
                 {"distribution", each[0]},
                 {"param_value_internal", each[1]}});
    if (state != 0)
      record(6, {{"trial_id", trials_},
                 {"state", state},
                 {"values", values},
                 {"datetime_complete", "1970-01-01T00:16:42.500000+00:00"}});
    ++trials_;
  }
  AdoptedExperiment adopted(const std::string& study = "") const {
    auto found = adopt_optuna(file, study);
    INFO((found ? "" : found.error().message));
    REQUIRE(found.has_value());
    // What is adopted can be tuned, and holds what was tried.
    const auto space = parse_space(found->file["searchSpace"]);
    REQUIRE(space.has_value());
    for (const json& row : found->rows) {
      const auto point = point_from_json(*space, row["parameters"]);
      INFO((point ? "" : point.error().message));
      CHECK((point.has_value() || row["status"] == "failed"));
    }
    return *std::move(found);
  }
  std::string error(const std::string& study = "") const {
    const auto found = adopt_optuna(file, study);
    return found ? "adopted" : found.error().message;
  }

  TemporaryFolder folder;
  const std::filesystem::path file = folder.path / "study.log";

 private:
  int trials_ = 0;
};

TEST_CASE("optuna import: distributions, and a trial with all it has") {
  Journal journal;
  journal.trial({{"x", {real(0, 1), 0.5}},
                 {"lr", {real(0.001, 1, nullptr, true), 0.25}},
                 {"d", {real(0, 1, 0.25), 0.75}},
                 {"odd", {real(0.125, 1.125, 0.5), 0.6250000001}},
                 {"k", {whole(1, 8), 3}},
                 {"even", {whole(2, 6, 2), 4}},
                 {"u", {whole(1, 64, 1, true), 16}},
                 {"c", {categories({nullptr, true, 2, "a"}), 2}}},
                1, {0.125});
  const AdoptedExperiment adopted = journal.adopted();
  CHECK(adopted.name == "net");
  CHECK(adopted.file["objectives"] == json{{{"metric", "default"}, {"mode", "minimize"}}});
  CHECK(adopted.file["searchSpace"] == parse_json(R"({
    "x": {"_type": "uniform", "_value": [0.0, 1.0]},
    "lr": {"_type": "loguniform", "_value": [0.001, 1.0]},
    "d": {"_type": "quniform", "_value": [0.0, 1.0, 0.25]},
    "odd": {"_type": "choice", "_value": [0.125, 0.625, 1.125]},
    "k": {"_type": "randint", "_value": [1, 9]},
    "even": {"_type": "choice", "_value": [2, 4, 6]},
    "u": {"_type": "qloguniform", "_value": [1, 64, 1]},
    "c": {"_type": "choice", "_value": [null, true, 2, "a"]}})")
                                           .value());
  REQUIRE(adopted.rows.size() == 1);
  CHECK(adopted.rows[0] == parse_json(R"({"trial_job_id": "optuna-0", "status": "succeeded",
    "started": 1000.0, "ended": 1002.5, "parameters": {"x": 0.5, "lr": 0.25, "d": 0.75,
    "odd": 0.625, "k": 3, "even": 4, "u": 16.0, "c": 2}, "value": 0.125})")
                               .value());
}

TEST_CASE("optuna import: bounds that change from trial to trial are joined") {
  Journal journal;
  journal.trial({{"x", {real(0, 1), 0.5}}, {"k", {whole(3, 4), 3}}}, 1, {1});
  journal.trial({{"x", {real(-1, 0.5), 0.25}}, {"k", {whole(1, 3), 1}}}, 1, {2});
  const AdoptedExperiment adopted = journal.adopted();
  CHECK(adopted.file["searchSpace"]["x"]["_value"] == json{-1.0, 1.0});
  CHECK(adopted.file["searchSpace"]["k"]["_value"] == json{1, 5});
}

TEST_CASE("optuna import: conditional parameters become nested choices") {
  const std::string opt = categories({"adam", "sgd", "rms"}), kind = categories({"a", "b"});
  Journal journal;
  const json lr = {real(0, 1), 0.5}, momentum = {real(0, 1), 0.25}, deep = {whole(1, 3), 2};
  journal.trial({{"opt", {opt, 0}}, {"lr", lr}}, 1, {1});
  journal.trial({{"opt", {opt, 1}}, {"lr", lr}, {"momentum", momentum}, {"kind", {kind, 0}}}, 1,
                {2});
  journal.trial(
      {{"opt", {opt, 1}}, {"lr", lr}, {"momentum", momentum}, {"kind", {kind, 1}}, {"deep", deep}},
      1, {3});
  journal.trial({{"opt", {opt, 2}}, {"lr", lr}, {"momentum", momentum}}, 1, {4});
  journal.trial({{"opt", {opt, 1}}}, 3, nullptr);  // failed before it came to its parameters
  const AdoptedExperiment adopted = journal.adopted();
  const json& space = adopted.file["searchSpace"];
  CHECK(space["lr"]["_type"] == "uniform");
  CHECK(space.size() == 2);
  const json& options = space["opt"]["_value"];
  CHECK(options[0] == json{{"_name", "adam"}});
  CHECK(options[1]["kind"]["_value"][0] == json{{"_name", "a"}});
  CHECK(options[1]["kind"]["_value"][1]["deep"]["_value"] == json{1, 4});
  CHECK(options[2].size() == 2);
  CHECK(adopted.rows[2]["parameters"] == parse_json(R"({"opt": {"_name": "sgd", "momentum": 0.25,
    "kind": {"_name": "b", "deep": 2}}, "lr": 0.5})")
                                             .value());
}

TEST_CASE("optuna import: a parameter that nothing explains stays, and is named") {
  Journal journal;
  journal.trial({{"x", {real(0, 1), 0.5}}, {"y", {real(0, 1), 0.5}}}, 1, {1});
  journal.trial({{"x", {real(0, 1), 0.5}}, {"y", {real(0, 1), 0.5}}}, 1, {1});
  journal.trial({{"x", {real(0, 1), 0.25}}}, 1, {2});
  const auto adopted = adopt_optuna(journal.file, "");
  REQUIRE(adopted.has_value());
  CHECK(adopted->file["searchSpace"].contains("y"));
  REQUIRE(adopted->losses.all().size() == 1);
  CHECK_THAT(adopted->losses.all()[0], Contains("y: some trials have no such parameter"));
}

TEST_CASE("optuna import: objectives, constraints, states") {
  Journal journal;
  journal.create_study("many", {1, 2});
  journal.record(3, {{"study_id", 1}, {"system_attr", {{"study:metric_names", {"loss", "size"}}}}});
  const json x = {{"x", {real(0, 1), 0.5}}};
  const auto trial = [&](int state, const json& values, int id) {
    journal.record(4, {{"study_id", 1}, {"datetime_start", "1970-01-01T00:16:40+00:00"}});
    journal.record(5, {{"trial_id", id},
                       {"param_name", "x"},
                       {"distribution", real(0, 1)},
                       {"param_value_internal", 0.5}});
    if (id == 0)
      journal.record(9, {{"trial_id", id}, {"system_attr", {{"constraints", {-0.5, 1}}}}});
    journal.record(8, {{"trial_id", id}, {"user_attr", {{"note", id}}}});
    journal.record(7, {{"trial_id", id}, {"step", 3}, {"intermediate_value", 0.25}});
    journal.record(6, {{"trial_id", id}, {"state", state}, {"values", values}});
  };
  trial(1, {0.25, 3}, 0);
  trial(2, nullptr, 1);
  trial(3, nullptr, 2);
  const AdoptedExperiment adopted = journal.adopted("many");
  CHECK(adopted.file["objectives"] == parse_json(R"([{"metric": "loss", "mode": "minimize"},
    {"metric": "size", "mode": "maximize"},
    {"metric": "constraint_0", "mode": "minimize", "limit": 0.0},
    {"metric": "constraint_1", "mode": "minimize", "limit": 0.0}])")
                                          .value());
  CHECK(adopted.rows[0]["value"] == parse_json(R"({"loss": 0.25, "size": 3.0,
    "constraint_0": -0.5, "constraint_1": 1.0})")
                                        .value());
  CHECK(adopted.rows[0]["attributes"] == json{{"note", 0}});
  CHECK(adopted.rows[0]["reports"] == json{{"3", 0.25}});
  CHECK(adopted.rows[1]["status"] == "early_stopped");
  CHECK_FALSE(adopted.rows[1].contains("value"));
  CHECK(adopted.rows[2]["status"] == "failed");
  CHECK(adopted.losses.all().size() == 2);
}

TEST_CASE("optuna import: a pruned trial has the value that Optuna keeps") {
  Journal journal;
  const json x = {{"x", {real(0, 1), 0.5}}};
  journal.trial(x, 1, {0.25});
  journal.trial(x, 2, {0.75});
  journal.trial(x, 2, nullptr);
  const AdoptedExperiment adopted = journal.adopted();
  CHECK(adopted.rows[1]["status"] == "early_stopped");
  CHECK(adopted.rows[1]["value"] == 0.75);
  CHECK_FALSE(adopted.rows[2].contains("value"));
  REQUIRE(adopted.losses.all().size() == 1);
  CHECK_THAT(adopted.losses.all()[0], Contains("1 pruned trials have no result"));
}

TEST_CASE("optuna import: a journal as Optuna replays it") {
  Journal journal;
  journal.create_study("net");  // a name that exists: no study
  journal.create_study("gone");
  journal.record(4, {{"study_id", 1}, {"datetime_start", "1970-01-01T00:16:40+00:00"}});
  journal.record(4, {{"study_id", 7}});  // no such study: no trial
  journal.record(1, {{"study_id", 1}});  // deleted; its trial keeps its id
  journal.record(4, {{"study_id", 0}, {"datetime_start", "1970-01-01T00:16:40+00:00"}});
  journal.record(5, {{"trial_id", 1},
                     {"param_name", "x"},
                     {"distribution", real(0, 1)},
                     {"param_value_internal", 0.5}});
  journal.record(6, {{"trial_id", 1}, {"state", 1}, {"values", {1}}});
  journal.record(6, {{"trial_id", 1}, {"state", 3}, {"values", {2}}});     // it has ended: ignored
  journal.record(10, {{"trial_ids", {1}}});                                // of a later version
  std::ofstream(journal.file, std::ios::app) << "{\"op_code\": 4, \"stu";  // its writer was killed
  const AdoptedExperiment adopted = journal.adopted();
  REQUIRE(adopted.rows.size() == 1);
  CHECK(adopted.rows[0]["value"] == 1.0);
}

TEST_CASE("optuna import: what attune has exported comes back") {
  const json space = parse_json(R"({"n": {"_type": "normal", "_value": [0, 1]},
    "k": {"_type": "qloguniform", "_value": [1, 8, 1]},
    "opt": {"_type": "choice", "_value": [{"_name": "adam"},
      {"_name": "sgd", "momentum": {"_type": "quniform", "_value": [0, 1, 0.1]}}]},
    "s": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 2}}})")
                         .value();
  const json objectives = parse_json(R"([{"metric": "accuracy", "mode": "maximize"},
    {"metric": "recall", "mode": "maximize", "limit": 0.5}])")
                              .value();
  ExportedWorld world(json{{"searchSpace", space}, {"objectives", objectives}});
  const json parameters = parse_json(R"({"n": 9.5, "k": 4.0, "opt": {"_name": "sgd",
    "momentum": 0.30000000000000004}, "s": {"_value": ["a", "c"], "_idx": [0, 2]}})")
                              .value();
  const json metric = {{"accuracy", 0.75}, {"recall", 0.25}};
  world.add(parameters, TrialStatus::succeeded, metric);
  const auto file = world.folder.path / "study.log";
  std::FILE* out = std::fopen(file.c_str(), "w");
  const ExportedExperiment experiment = world.experiment();
  StoreReader reader = world.reader();
  REQUIRE(export_trials(reader, experiment, *optuna_exporter(experiment, out).value()));
  std::fclose(out);
  const AdoptedExperiment adopted = adopt_optuna(file, "digits").value();
  CHECK(adopted.file["searchSpace"] == space);
  CHECK(adopted.file["objectives"][1]["limit"] == 0.5);
  CHECK(adopted.rows[0]["parameters"] == parameters);
  CHECK(adopted.rows[0]["value"] == metric);
}

TEST_CASE("optuna import: mistakes name their place") {
  Journal journal;
  journal.create_study("other");
  CHECK_THAT(journal.error(),
             Contains("study.log: name one of its studies with --study: net, other"));
  CHECK_THAT(journal.error("nett"), Contains("no study is called nett; there are: net, other"));
  journal.trial({{"x", {real(0, 1), 0.5}}}, 1, {1});
  journal.trial({{"x", {categories({1, 2}), 1}}}, 1, {1});
  CHECK_THAT(journal.error("net"),
             Contains("study net: parameter x: it is of several kinds in different trials"));
  std::ofstream(journal.file, std::ios::app) << "{oops\n";
  CHECK_THAT(journal.error("net"), Contains("study.log: line 9: "));
  CHECK_THAT(adopt_optuna("/nowhere/study.log", "").error().message,
             Contains("/nowhere/study.log"));
}

}  // namespace attune::optuna_import_test
