// What NNI's clients are told, and what they can change.
#include <catch2/catch.hpp>
#include <fstream>

#include "manager/dashboard/nni_json.h"
#include "manager/dashboard/stored_view.h"
#include "tests/manager/control/listening_manager.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::nni_routes_test {

namespace fs = std::filesystem;

const json kFile = {{"experimentName", "digits"},
                    {"trialConcurrency", 2},
                    {"maxTrialNumber", 9},
                    {"tuner", {{"name", "TPE"}}},
                    {"searchSpace", {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}}}};

// t0000 succeeded with two intermediate results, t0001 failed, t0002 runs with one, t0003 waits.
struct World {
  World()
      : store(begin_experiment(folder.path, "abcd2345", "digits", kFile)),
        source(io, clock,
               {.roots = {folder.path},
                .program = "",
                .environment = {},
                .nni_experiment = "abcd2345"}),
        view(source.view()) {
    begin_experiment(folder.path, "efgh2345").commit().value();  // newer, but not the one
    add(0, TrialStatus::succeeded, 2, {{"accuracy", 0.75}});
    add(1, TrialStatus::failed, 0, nullptr);
    add(2, TrialStatus::running, 1, nullptr);
    store.add_trial(pending_trial(3), 1001).value();
    store.commit().value();
  }
  void add(int number, TrialStatus status, int reports, const json& final_metric) {
    TrialRecord trial = pending_trial(number);
    trial.proposed.parameters = {{"x", 0.25 * number}};
    store.add_trial(trial, 1001).value();
    for (int i = 0; i < reports; ++i) {
      const json value = {{"accuracy", 0.5 + 0.125 * i}};
      TrialReport report = report_of(trial, i, value, static_cast<std::uint64_t>(i + 1));
      report.text = dump_json({{"parameter_id", number},
                               {"trial_job_id", trial.job_id},
                               {"type", "PERIODICAL"},
                               {"sequence", i},
                               {"value", dump_json(value)}});
      trial.last_metric = value;
      trial.reports = i + 1;
      store.add_report(trial, report, {}).value();
    }
    trial.status = status;
    trial.attempts = 1;
    trial.start_time = 1002;
    if (has_ended(status)) trial.end_time = 1005.5;
    if (status == TrialStatus::failed) trial.reason = "exit code 1";
    trial.final_metric = final_metric;
    store.change_trial(trial).value();
  }
  HttpResponse ask(const std::string& method, const std::string& path, const json& body = {}) {
    HttpRequest request{.method = method,
                        .target = parse_target(path).value(),
                        .headers = {},
                        .body = body.is_null() ? "" : dump_json(body)};
    kind = source.kind(request);
    return view->answer(request);
  }
  HttpResponse nni(const std::string& method, const std::string& path, const json& body = {}) {
    return ask(method, "/api/v1/nni" + path, body);
  }
  std::string text(const std::string& path) {
    const HttpResponse response = nni("GET", path);
    INFO(path << " " << *response.body);
    CHECK(response.status == 200);
    CHECK(kind.hidden);
    CHECK_FALSE(kind.changes);
    return *response.body;
  }
  json get(const std::string& path) { return parse_json(text(path)).value(); }

  TemporaryFolder folder;
  Store store;
  boost::asio::io_context io;
  ManualClock clock{2000};
  StoredSource source;
  std::unique_ptr<View> view;
  CallKind kind;
};

// As NNI's clients read a metric: JSON text inside of JSON text.
json value_of(const json& metric) {
  const json inner = parse_json(metric["data"].get<std::string>()).value();
  return parse_json(inner.get<std::string>()).value();
}

TEST_CASE("nni routes: the experiment") {
  World world;
  CHECK(world.text("/version") == "3.0");
  // No manager holds the lock.
  CHECK(world.get("/check-status")["status"] == "ERROR");
  CHECK(world.get("/check-status")["errors"].size() == 1);
  const json profile = world.get("/experiment");
  CHECK(profile["id"] == "abcd2345");
  CHECK(profile["startTime"] == 1'000'000);
  CHECK(profile["nextSequenceId"] == 4);
  CHECK(profile["params"]["maxTrialNumber"] == 9);
  CHECK(profile["params"]["tuner"]["classArgs"]["optimize_mode"] == "maximize");
  CHECK(profile["params"]["trainingService"]["platform"] == "local");
  CHECK_FALSE(profile.contains("format"));
  CHECK(world.get("/experiment-metadata")["id"] == "abcd2345");
  CHECK(world.get("/experiments-info").size() == 1);
  CHECK(world.get("/job-statistics") ==
        json::parse(R"([{"trialJobStatus":"WAITING","trialJobNumber":1},
                        {"trialJobStatus":"RUNNING","trialJobNumber":1},
                        {"trialJobStatus":"SUCCEEDED","trialJobNumber":1},
                        {"trialJobStatus":"FAILED","trialJobNumber":1}])"));
}

TEST_CASE("nni routes: the states of an experiment are words of NNI") {
  StoredExperiment experiment;
  experiment.file = kFile;
  Tally tally;
  tally.running = 2;
  const auto word = [&] { return nni_status(experiment, tally)["status"]; };
  CHECK(word() == "RUNNING");
  experiment.reason = "the tuner proposes nothing";
  CHECK(word() == "TUNER_NO_MORE_TRIAL");
  tally.succeeded = 7;
  CHECK(word() == "NO_MORE_TRIAL");
  experiment.status = ExperimentStatus::completed;
  CHECK(word() == "DONE");
  experiment.status = ExperimentStatus::interrupted;
  CHECK(word() == "STOPPED");
  experiment.status = ExperimentStatus::failed;
  CHECK(word() == "ERROR");
  CHECK(nni_status(experiment, tally)["errors"][0] == experiment.reason);
}

TEST_CASE("nni routes: trials") {
  World world;
  const json trials = world.get("/trial-jobs");
  CHECK(world.kind.heavy);
  REQUIRE(trials.size() == 4);
  CHECK(trials[0]["trialJobId"] == "t0000");
  CHECK(trials[0]["status"] == "SUCCEEDED");
  CHECK(trials[0]["startTime"] == 1'002'000);
  CHECK(trials[0]["endTime"] == 1'005'500);
  const json given = parse_json(trials[2]["hyperParameters"][0].get<std::string>()).value();
  CHECK(given == json::parse(R"({"parameter_id":2,"parameter_source":"algorithm",
                                 "parameters":{"x":0.5},"parameter_index":0})"));
  REQUIRE(trials[0]["finalMetricData"].size() == 1);
  CHECK(value_of(trials[0]["finalMetricData"][0]) == 0.75);
  CHECK(trials[1]["status"] == "FAILED");
  CHECK(trials[1]["message"] == "exit code 1");
  CHECK(trials[1]["stderrPath"] == trials[1]["logPath"].get<std::string>() + "/stderr");
  CHECK_FALSE(trials[1].contains("finalMetricData"));
  CHECK(trials[2]["status"] == "RUNNING");
  CHECK_FALSE(trials[2].contains("endTime"));
  CHECK(trials[3]["status"] == "WAITING");
  CHECK(trials[3]["startTime"] == 2'000'000);  // NNI's clients need one
  CHECK(world.get("/trial-jobs?status=FAILED") == json::array({trials[1]}));
  CHECK(world.get("/trial-jobs/t0001") == trials[1]);
  CHECK(world.text("/trial-jobs/t0009").empty());
  CHECK(world.get("/export-data") ==
        json::parse(R"([{"parameter":{"x":0.0},"value":"0.75","trialJobId":"t0000"}])"));
}

TEST_CASE("nni routes: metrics") {
  World world;
  const json all = world.get("/metric-data");
  REQUIRE(all.size() == 4);
  CHECK(all[1]["trialJobId"] == "t0000");
  CHECK(all[1]["sequence"] == 1);
  CHECK(all[1]["parameterId"] == "0");
  CHECK(all[1]["timestamp"] == 1'003'000);
  CHECK(value_of(all[1]) == 0.625);
  CHECK(all[2]["trialJobId"] == "t0002");
  CHECK(all[2]["sequence"] == 0);  // counted anew
  CHECK(all[3]["type"] == "FINAL");
  CHECK(value_of(all[3]) == 0.75);
  CHECK(world.get("/metric-data?type=FINAL") == json::array({all[3]}));
  CHECK(world.get("/metric-data?type=PERIODICAL") == json::array({all[0], all[1], all[2]}));
  CHECK(world.get("/metric-data/t0000") == json::array({all[0], all[1], all[3]}));
  CHECK(world.get("/metric-data/t0000?type=FINAL") == json::array({all[3]}));
  CHECK(world.get("/metric-data/t0009").empty());
  CHECK(world.get("/metric-data-range/1/2") == json::array({all[2]}));
  CHECK(world.get("/metric-data-range/0/20").size() == 4);
  CHECK(world.nni("GET", "/metric-data-range/0/x").status == 500);
  const json latest = world.get("/metric-data-latest");
  REQUIRE(latest.size() == 3);
  CHECK(latest[1]["sequence"] == 1);
  CHECK(value_of(latest[1]) == 0.625);
  CHECK(latest[2]["trialJobId"] == "t0002");
}

TEST_CASE("nni routes: a metric has the member that NNI's clients go by") {
  StoredExperiment experiment;
  experiment.objectives = {Objective{.metric = "accuracy", .maximize = true}};
  TrialRecord trial = pending_trial(0);
  const auto shown = [&](const json& metric) {
    trial.final_metric = metric;
    return value_of(*nni_final(experiment, trial));
  };
  CHECK(shown(0.5) == 0.5);
  CHECK(shown({{"default", 0.5}}) == 0.5);
  CHECK(shown({{"seconds", 3}}) == json{{"seconds", 3}});
  CHECK(dump_json(shown({{"accuracy", 0.5}, {"seconds", 3}})) ==
        R"({"default":0.5,"accuracy":0.5,"seconds":3})");
  trial.final_metric = std::nan("");
  const json data = (*nni_final(experiment, trial))["data"];
  CHECK(data == R"("NaN")");
  trial.proposed.parameter_id = std::string("0-2_0_0");
  CHECK((*nni_final(experiment, trial))["parameterId"] == "0-2_0_0");
}

TEST_CASE("nni routes: files") {
  World world;
  const fs::path trial = world.folder.path / "abcd2345/trials/t0000";
  fs::create_directories(trial);
  std::ofstream(trial / "stdout") << "epoch 1\n";
  std::ofstream(trial / "stderr") << "";
  std::ofstream(trial / "secret") << "x";
  fs::create_directories(world.folder.path / "abcd2345/log");
  std::ofstream(world.folder.path / "abcd2345/log/runner.log") << "trial=t0000 starts\n";
  CHECK(world.text("/trial-file/t0000/stdout") == "epoch 1\n");
  CHECK(world.text("/trial-file/t0000/trial.log") == "epoch 1\n");
  CHECK(world.text("/trial-file/t0000/stderr") == "stderr is empty.");
  CHECK(world.nni("GET", "/trial-file/t0000/secret").status == 404);
  CHECK(world.nni("GET", "/trial-file/t0003/stdout").status == 404);
  CHECK(*world.ask("GET", "/logs/nnimanager.log").body == "trial=t0000 starts\n");
  CHECK(world.ask("GET", "/logs/dispatcher.log").status == 500);  // there is none
}

TEST_CASE("nni routes: changes reach the manager") {
  World world;
  std::vector<json> asked;
  const ListeningManager manager(
      world.folder.path / "abcd2345", [&](const json& request) -> Result<json> {
        asked.push_back(request);
        return request["command"] == "add" ? json{{"trials", {"t0003"}}} : json::object();
      });
  const auto change = [&](const std::string& method, const std::string& path, const json& body) {
    const HttpResponse response = world.nni(method, path, body);
    INFO(path << " " << *response.body);
    CHECK(response.status == 200);
    CHECK(world.kind.changes);
    CHECK(world.kind.hidden);
    return *response.body;
  };
  CHECK(change("POST", "/trial-jobs", {{"x", 0.5}}) == R"({"sequenceId":3})");
  change("DELETE", "/trial-jobs/t0002", nullptr);
  json profile = world.get("/experiment");
  profile["params"]["trialConcurrency"] = 4;
  profile["params"]["maxTrialNumber"] = 20;
  profile["params"]["maxExperimentDuration"] = "2h";
  change("PUT", "/experiment?update_type=TRIAL_CONCURRENCY", profile);
  change("PUT", "/experiment?update_type=MAX_TRIAL_NUM", profile);
  change("PUT", "/experiment?update_type=MAX_EXEC_DURATION", profile);
  change("PUT", "/experiment?update_type=SEARCH_SPACE", profile);
  change(
      "POST", "/experiment/import-data",
      json::parse(R"([{"parameter":{"x":0.1},"value":"0.5"},{"parameter":{"x":0.2},"value":1}])"));
  change("DELETE", "/experiment", nullptr);
  REQUIRE(asked.size() == 8);
  CHECK(asked[0] == json{{"command", "add"}, {"trials", {{{"x", 0.5}}}}});
  CHECK(asked[1] == json{{"command", "kill"}, {"trials", {"t0002"}}});
  CHECK(asked[2] == json{{"command", "update"}, {"concurrency", 4}});
  CHECK(asked[3] == json{{"command", "update"}, {"max_trials", 20}});
  CHECK(asked[4] == json{{"command", "update"}, {"max_seconds", 7200.0}});
  CHECK(asked[5] == json{{"command", "update"}, {"search_space", kFile["searchSpace"]}});
  CHECK(asked[6]["records"][0]["score"] == 0.5);  // one level of text is taken off
  CHECK(asked[6]["records"][1]["parameters"] == json{{"x", 0.2}});
  CHECK(asked[7] == json{{"command", "stop"}, {"kill", false}});
}

TEST_CASE("nni routes: changes that cannot be made are errors with a reason") {
  World world;
  const auto error = [&](const std::string& method, const std::string& path, const json& body) {
    const HttpResponse response = world.nni(method, path, body);
    INFO(path);
    CHECK(response.status >= 400);
    return parse_json(*response.body).value()["error"].get<std::string>();
  };
  const json no_params = json::object();
  CHECK(error("POST", "/trial-jobs", {{"x", 0.5}}).find("attune resume") != std::string::npos);
  CHECK(error("DELETE", "/trial-jobs/t0009", nullptr).find("t0009") != std::string::npos);
  CHECK(error("PUT", "/experiment", no_params).find("update_type") != std::string::npos);
  for (const auto& [type, key] :
       {std::pair{"TRIAL_CONCURRENCY", "trialConcurrency"},
        std::pair{"MAX_TRIAL_NUM", "maxTrialNumber"}, std::pair{"SEARCH_SPACE", "searchSpace"}}) {
    INFO(type);
    CHECK(error("PUT", std::string("/experiment?update_type=") + type, no_params).find(key) !=
          std::string::npos);
  }
  error("PUT", "/experiment?update_type=MAX_EXEC_DURATION", {{"params", 5}});
  error("PUT", "/experiment?update_type=OTHER", no_params);
  error("POST", "/trial-jobs", json::array());
  error("POST", "/experiment/import-data", {{"parameter", 1}});
  CHECK(error("POST", "/experiment", no_params).find("abcd2345") != std::string::npos);
  // What does not run is stopped.
  CHECK(world.nni("DELETE", "/experiment").status == 200);
}

TEST_CASE("nni routes: without an experiment for them there are none") {
  World world;
  const StoredSource plain(world.io, world.clock,
                           {.roots = {world.folder.path}, .program = "", .environment = {}});
  const HttpRequest request{.method = "GET",
                            .target = parse_target("/api/v1/nni/version").value(),
                            .headers = {},
                            .body = ""};
  CHECK(world.source.kind(request).known);
  CHECK_FALSE(plain.kind(request).known);
}

}  // namespace attune::nni_routes_test
