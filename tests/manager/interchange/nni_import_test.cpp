#include "manager/interchange/nni_import.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/store/sqlite.h"
#include "tests/support/temporary_folder.h"

namespace attune::nni_import_test {

using Catch::Contains;

// The tables of NNI 3.0, as it makes them.
constexpr const char* kTables = R"sql(
CREATE TABLE TrialJobEvent (timestamp integer, trialJobId text, event text, data text, logPath text,
  sequenceId integer, message text, environmentId text);
CREATE TABLE MetricData (timestamp integer, trialJobId text, parameterId text, type text,
  sequence integer, data text);
CREATE TABLE ExperimentProfile (params text, id text, execDuration integer, startTime integer,
  endTime integer, logDir text, nextSequenceId integer, revision integer);
)sql";

class World {
 public:
  World() { std::filesystem::create_directories(file.parent_path()); }

  void run(const std::string& sql, std::initializer_list<SqlValue> values) {
    if (!database) {
      database.emplace(Database::open(file, Database::Mode::create).value());
      database->execute(kTables).value();
    }
    database->prepare(sql).value().run(values).value();
  }
  void profile(const json& params, int revision) {
    const std::string text = dump_json(params), id = "k3v8abcd";
    run("INSERT INTO ExperimentProfile VALUES (?, ?, 0, 0, NULL, '', 0, ?)", {text, id, revision});
  }
  void event(int time, const std::string& trial, const std::string& event, const json& data = {}) {
    const std::string text = data.is_null() ? "" : dump_json(data);
    run("INSERT INTO TrialJobEvent VALUES (?, ?, ?, ?, '', 0, '', '')", {time, trial, event, text});
  }
  void metric(const std::string& trial, const std::string& type, int sequence, const json& value) {
    const std::string text = dump_json(dump_json(value));  // JSON in JSON
    run("INSERT INTO MetricData VALUES (0, ?, '0', ?, ?, ?)", {trial, type, sequence, text});
  }
  AdoptedExperiment adopted() const {
    auto found = adopt_file(folder.path, "");
    INFO((found ? "" : found.error().message));
    REQUIRE(found.has_value());
    return *std::move(found);
  }

  TemporaryFolder folder;
  const std::filesystem::path file = folder.path / "db" / "nni.sqlite";
  std::optional<Database> database;
};

json proposal(int id, const json& parameters) {
  return {{"parameter_id", id},
          {"parameter_source", "algorithm"},
          {"parameters", parameters},
          {"parameter_index", 0}};
}

const json kConfig = parse_json(R"({"experimentName": "digits", "experimentType": "hpo",
  "searchSpace": {"x": {"_type": "uniform", "_value": [0, 1]}},
  "trialCommand": "python3 trial.py", "trialCodeDirectory": "/code", "trialConcurrency": 2,
  "maxTrialNumber": 10, "assessor": null, "useAnnotation": false, "debug": false,
  "tuner": {"name": "TPE", "classArgs": {"optimize_mode": "maximize"}},
  "trainingService": {"platform": "local"}, "sharedStorage": {"storageType": "NFS"}})")
                         .value();

TEST_CASE("nni import: the newest configuration, and every trial") {
  World world;
  world.profile({{"searchSpace", json::object()}}, 0);
  world.profile(kConfig, 1);
  world.event(1000, "aaaaa", "WAITING", proposal(0, {{"x", 0.25}}));
  world.event(1500, "aaaaa", "RUNNING");
  world.event(2500, "aaaaa", "SUCCEEDED");
  world.metric("aaaaa", "PERIODICAL", 0, 0.5);
  world.metric("aaaaa", "PERIODICAL", 1, 0.625);
  world.metric("aaaaa", "FINAL", 0, 0.75);
  world.event(1000, "bbbbb", "RUNNING", proposal(1, {{"x", 0.5}}));
  world.event(1600, "bbbbb", "EARLY_STOPPED");
  world.metric("bbbbb", "PERIODICAL", 0, {{"default", 0.125}, {"size", 3}});
  world.event(1000, "ccccc", "RUNNING", proposal(2, {{"x", 0.75}}));
  world.event(1700, "ccccc", "FAILED");
  world.metric("ccccc", "FINAL", 0, 1);  // NNI does not count it either
  world.event(1000, "ddddd", "WAITING", proposal(3, {{"x", 1}}));
  world.event(900, "", "IMPORT_DATA",
              json::array({{{"parameter", {{"x", 0.1}}}, {"value", "0.3"}}}));
  world.metric("zzzzz", "FINAL", 0, 1);  // of no trial

  const AdoptedExperiment adopted = world.adopted();
  CHECK(adopted.name == "k3v8abcd");
  json expected = kConfig;
  for (const char* key :
       {"experimentType", "assessor", "useAnnotation", "debug", "trainingService", "sharedStorage"})
    expected.erase(key);
  CHECK(adopted.file.size() == expected.size());
  for (const auto& [key, value] : expected.items()) CHECK(adopted.file[key] == value);
  REQUIRE(adopted.rows.size() == 5);
  CHECK(adopted.rows[0]["parameters"] == json{{"x", 0.1}});
  CHECK(adopted.rows[0]["value"] == 0.3);
  CHECK(adopted.rows[1] == parse_json(R"({"trial_job_id": "aaaaa", "status": "succeeded",
    "started": 1.5, "ended": 2.5, "parameters": {"x": 0.25}, "value": 0.75,
    "reports": {"0": 0.5, "1": 0.625}})")
                               .value());
  CHECK(adopted.rows[2]["status"] == "early_stopped");
  CHECK(adopted.rows[2]["reports"]["0"]["size"] == 3);
  CHECK(adopted.rows[3]["status"] == "failed");
  CHECK_FALSE(adopted.rows[3].contains("value"));
  CHECK(adopted.rows[4]["status"] == "pending");
  REQUIRE(adopted.losses.all().size() == 2);
  CHECK_THAT(adopted.losses.all()[0], Contains("sharedStorage"));
  CHECK_THAT(adopted.losses.all()[1], Contains("3 trials"));
}

TEST_CASE("nni import: a multi-phase trial gives its first configuration") {
  World world;
  world.profile(kConfig, 0);
  world.event(1000, "aaaaa", "RUNNING", proposal(0, {{"x", 0.25}}));
  world.event(1500, "aaaaa", "ADD_HYPERPARAMETER", proposal(1, {{"x", 0.5}}));
  world.event(2500, "aaaaa", "SUCCEEDED");
  world.metric("aaaaa", "FINAL", 0, 0.75);
  const std::string later = "1", value = "\"0.875\"";
  world.run("INSERT INTO MetricData VALUES (0, 'aaaaa', ?, 'FINAL', 0, ?)", {later, value});
  const AdoptedExperiment adopted = world.adopted();
  REQUIRE(adopted.rows.size() == 1);
  CHECK(adopted.rows[0]["parameters"] == json{{"x", 0.25}});
  CHECK(adopted.rows[0]["value"] == 0.75);
  CHECK_THAT(adopted.losses.all()[0], Contains("sharedStorage"));
  CHECK_THAT(adopted.losses.all()[1], Contains("multi-phase"));
}

TEST_CASE("nni import: an old file holds the search space as a text") {
  World world;
  world.profile({{"searchSpace", dump_json(kConfig["searchSpace"])}, {"authorName", "me"}}, 0);
  const AdoptedExperiment adopted = world.adopted();
  CHECK(adopted.file["searchSpace"] == kConfig["searchSpace"]);
  CHECK_THAT(adopted.losses.all()[0], Contains("authorName"));
}

TEST_CASE("nni import: what is no experiment of NNI") {
  World world;
  CHECK_THAT(adopt_file(world.folder.path, "").error().message, Contains("there is no"));
  world.profile({{"x", 1}}, 0);
  CHECK_THAT(adopt_file(world.file, "").error().message,
             Contains("nni.sqlite: its experiment has no search space"));
  CHECK_THAT(adopt_file(world.file, "net").error().message, Contains("leave out --study"));
  Database other = Database::open(world.folder.path / "other", Database::Mode::create).value();
  other.execute("CREATE TABLE t (x)").value();
  CHECK_THAT(adopt_file(world.folder.path / "other", "").error().message, Contains("other: "));
  std::ofstream(world.folder.path / "text") << "hello\n";
  CHECK_THAT(adopt_file(world.folder.path / "text", "").error().message, Contains("text: line 1"));
}

}  // namespace attune::nni_import_test
