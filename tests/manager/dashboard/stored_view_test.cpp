// The API over a store: what it answers to good and to bad requests.
#include "manager/dashboard/stored_view.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "manager/store/experiment_lock.h"
#include "os/atomic_file.h"
#include "tests/manager/control/listening_manager.h"
#include "tests/manager/dashboard/column_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::stored_view_test {

namespace fs = std::filesystem;

const json kFile = {{"trialCommand", "true"},
                    {"trialConcurrency", 2},
                    {"tuner", {{"name", "TPE"}}},
                    {"searchSpace", {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}}}}};

// An experiment with `trials` that succeeded and one that waits.
struct World {
  explicit World(int trials = 3)
      : store(begin_experiment(work, "abcd2345", "digits", kFile)),
        source(io, clock,
               {.roots = {folder.path}, .program = "/nonexistent/attune", .environment = {}}),
        view(source.view()) {
    for (int i = 0; i < trials; ++i) {
      TrialRecord trial = pending_trial(i);
      trial.proposed.parameters = {{"x", 0.05 * i}};
      store.add_trial(trial, 1001).value();
      trial.status = TrialStatus::succeeded;
      trial.attempts = 1;
      trial.final_metric = 0.1 * (i + 1);
      store.change_trial(trial).value();
    }
    store.add_trial(pending_trial(trials), 1001).value();
    store.commit().value();
  }
  HttpResponse ask(const std::string& method, const std::string& path, const json& body = {}) {
    HttpRequest request{.method = method,
                        .target = parse_target("/api/v1/experiments" + path).value(),
                        .headers = {},
                        .body = body.is_null() ? "" : dump_json(body)};
    kind = source.kind(request);
    return view->answer(request);
  }
  json get(const std::string& path) {
    const HttpResponse response = ask("GET", path);
    INFO(path);
    CHECK(response.status == 200);
    return parse_json(*response.body).value();
  }
  int status(const std::string& path) { return ask("GET", path).status; }
  fs::path trial_folder(const std::string& job_id) const {
    const fs::path trial = work / "abcd2345/trials" / job_id;
    fs::create_directories(trial);
    return trial;
  }

  TemporaryFolder folder;
  fs::path work = folder.path / "work";
  Store store;
  boost::asio::io_context io;
  ManualClock clock{2000};
  StoredSource source;
  std::unique_ptr<View> view;
  CallKind kind;
};

TEST_CASE("stored view: experiments, and one of them") {
  World world;
  const json list = world.get("");
  REQUIRE(list["experiments"].size() == 1);
  CHECK(list["experiments"][0]["experiment_id"] == "abcd2345");
  CHECK(list["experiments"][0]["trials"]["succeeded"] == 3);
  CHECK(list["problems"].empty());
  const json one = world.get("/abcd2345");
  CHECK(one["best"]["trial_job_id"] == "t0002");
  CHECK(one["concurrency"] == 2);
  CHECK(one["tuner"] == "TPE");
  CHECK(one["max_trials"].is_null());
  CHECK(one["metrics"] ==
        json::parse(R"([{"metric":"accuracy","optimize_mode":"maximize","limit":null}])"));
  CHECK(one["space"][0]["name"] == "x");
  CHECK(one["space"][0]["high"] == 1);
  CHECK(one["file"] == kFile);
  CHECK(one["unfinished_count"] == 1);
  CHECK(world.status("/abcd") == 404);  // not by the beginning of an id, as commands do
  CHECK(world.status("/digits") == 404);
}

TEST_CASE("stored view: an experiment that begins or vanishes while the server runs") {
  World world;
  CHECK(world.status("/efgh2345") == 404);
  Store other = begin_experiment(world.work, "efgh2345");
  other.commit().value();
  CHECK(world.get("/efgh2345")["experiment_id"] == "efgh2345");
  begin_experiment(world.folder.path / "deeper", "ijkl2345").commit().value();
  CHECK(world.get("/ijkl2345")["experiment_id"] == "ijkl2345");
  fs::remove_all(world.folder.path / "deeper");
  CHECK(world.status("/ijkl2345") == 404);
}

TEST_CASE("stored view: a store that cannot be read is told, the others are shown") {
  World world;
  fs::create_directories(world.folder.path / "bad");
  std::ofstream(world.folder.path / "bad/attune.sqlite") << "no database";
  StoredSource source(world.io, world.clock,
                      {.roots = {world.folder.path}, .program = "", .environment = {}});
  HttpRequest request{.method = "GET",
                      .target = parse_target("/api/v1/experiments").value(),
                      .headers = {},
                      .body = ""};
  const json list = parse_json(*source.view()->answer(request).body).value();
  CHECK(list["experiments"].size() == 1);
  REQUIRE(list["problems"].size() == 1);
  CHECK(list["problems"][0]["path"] == fs::canonical(world.folder.path / "bad").string());
}

TEST_CASE("stored view: trials page by page") {
  World world(5);
  const json first = world.get("/abcd2345/trials?limit=2&sort=newest");
  CHECK(first["trials"][0]["trial_job_id"] == "t0005");
  CHECK(first["next_offset"] == 2);
  const json last = world.get("/abcd2345/trials?limit=2&offset=4");
  CHECK(last["trials"].size() == 2);
  CHECK(last["next_offset"].is_null());
  CHECK(world.get("/abcd2345/trials?status=pending")["trials"].size() == 1);
  CHECK(world.get("/abcd2345/trials?sort=best&limit=1")["trials"][0]["sequence"] == 4);
  for (const char* bad : {"?limit=0", "?limit=x", "?status=none", "?sort=worst", "?offset=-1",
                          "?limit=1e9", "?unknown=1"}) {
    INFO(bad);
    const HttpResponse response = world.ask("GET", std::string("/abcd2345/trials") + bad);
    CHECK(response.status == 400);
    CHECK(response.body->find(bad[1]) != std::string::npos);
  }
}

TEST_CASE("stored view: one trial, its log and its files") {
  World world;
  const fs::path folder = world.trial_folder("t0001");
  std::ofstream(folder / "stdout") << "epoch 1\nepoch 2\n";
  std::ofstream(folder / "model.bin") << "weights";
  fs::create_symlink("/etc/passwd", folder / "link");
  fs::create_directory(folder / "more");
  CHECK(world.get("/abcd2345/trials/1")["trial_job_id"] == "t0001");
  CHECK(world.get("/abcd2345/trials/t0001")["sequence"] == 1);
  CHECK(world.status("/abcd2345/trials/99") == 404);
  CHECK(world.get("/abcd2345/trials/1/log")["text"] == "epoch 1\nepoch 2\n");
  CHECK(world.get("/abcd2345/trials/1/log?bytes=10")["text"] == "epoch 2\n");
  CHECK(world.status("/abcd2345/trials/1/log?stream=stderr") == 404);
  CHECK(world.status("/abcd2345/trials/1/log?stream=model.bin") == 400);
  const json files = world.get("/abcd2345/trials/1/files");
  REQUIRE(files["files"].size() == 2);
  CHECK(files["files"][0]["name"] == "model.bin");
  CHECK(files["files"][0]["bytes"] == 7);
  const HttpResponse file = world.ask("GET", "/abcd2345/trials/1/files/model.bin");
  CHECK(file.status == 200);
  CHECK(*file.body == "weights");
  CHECK(file.type == "application/octet-stream");
  for (const char* bad : {"link", "more", "missing"}) {
    INFO(bad);
    CHECK(world.status(std::string("/abcd2345/trials/1/files/") + bad) == 404);
  }
}

TEST_CASE("stored view: pictures") {
  World world(20);
  CHECK(world.get("/abcd2345/front")["front"] == json::parse("[19]"));
  const json importance = world.get("/abcd2345/importance");
  CHECK(importance["parameters"][0]["parameter"] == "x");
  CHECK(world.kind.heavy);
  CHECK(world.status("/abcd2345/importance?method=magic") == 400);
  CHECK(world.status("/abcd2345/importance?metric=other") == 409);
  CHECK(world.get("/abcd2345/curves?trials=1,2&band=1")["curves"].size() == 2);
  const json slice = world.get("/abcd2345/posterior?x=x&at=3");
  CHECK(slice["mean"].size() == slice["x"]["values"].size());
  CHECK(slice["mean"].back() > slice["mean"].front());  // as reported, although it is maximised
  CHECK(slice["trials"] == 20);
  CHECK(world.status("/abcd2345/posterior?x=z") == 409);
  CHECK(world.status("/abcd2345/posterior") == 400);
  for (const char* bad : {"1,", ",1", "x", "1,,2"}) {
    INFO(bad);
    CHECK(world.status(std::string("/abcd2345/curves?trials=") + bad) == 400);
  }
  const auto columns = test::read_columns(*world.ask("GET", "/abcd2345/columns").body);
  CHECK(columns.header["rows"] == 21);
}

TEST_CASE("stored view: numbers for Prometheus") {
  World world;
  begin_experiment(world.work, "efgh2345", "a \"b\"\\\nc").commit().value();
  const HttpRequest request{
      .method = "GET", .target = parse_target("/metrics").value(), .headers = {}, .body = ""};
  const HttpResponse response = world.view->answer(request);
  CHECK(response.type.starts_with("text/plain; version=0.0.4"));
  const auto has = [&](const std::string& line) {
    return response.body->find("\n" + line + "\n") != std::string::npos;
  };
  CHECK(has("# TYPE attune_trials gauge"));
  CHECK(has(R"(attune_trials{experiment="abcd2345",name="digits",state="succeeded"} 3)"));
  CHECK(has(R"(attune_experiment_running{experiment="abcd2345",name="digits"} 0)"));
  CHECK(has(R"(attune_trials{experiment="efgh2345",name="a \"b\"\\\nc",state="failed"} 0)"));
  CHECK(response.body->find("attune_best{experiment=\"abcd2345\",name=\"digits\"} 0.3") !=
        std::string::npos);
  CHECK_FALSE(has("# TYPE attune_best gauge\nattune_best{experiment=\"efgh2345\""));
}

TEST_CASE("stored view: events of streams") {
  World world;
  CHECK(parse_json(world.view->event("").data).value()["experiments"].size() == 1);
  View::Event event = world.view->event("abcd2345");
  CHECK(event.name == "experiment");
  CHECK(event.id.empty());  // nobody has asked for columns
  CHECK(parse_json(event.data).value()["experiment_id"] == "abcd2345");
  const auto columns = test::read_columns(*world.ask("GET", "/abcd2345/columns").body);
  CHECK(world.view->event("abcd2345").id == columns.header["next"].get<std::string>());
  CHECK(world.view->event("other").name == "failure");
}

TEST_CASE("stored view: the list counts trials that ended since their columns were read") {
  World world;
  const auto lock = ExperimentLock::take(world.work / "abcd2345").value();  // it runs
  world.ask("GET", "/abcd2345/columns");
  CHECK(world.get("")["experiments"][0]["trials"]["pending"] == 1);
  TrialRecord trial = pending_trial(3);
  trial.status = TrialStatus::succeeded;
  trial.final_metric = 0.9;
  world.store.change_trial(trial).value();
  world.store.add_trial(pending_trial(4), 1002).value();
  world.store.commit().value();
  const json one = world.get("")["experiments"][0];
  CHECK(one["trials"]["succeeded"] == 4);
  CHECK(one["trials"]["pending"] == 1);
  CHECK(one["best"]["trial_job_id"] == "t0003");
}

TEST_CASE("stored view: a store that others can write is not opened") {
  World world;
  fs::permissions(world.work / "attune.sqlite", fs::perms::others_write, fs::perm_options::add);
  CHECK(world.status("/abcd2345") == 404);
  const json list = world.get("");
  CHECK(list["experiments"].empty());
  REQUIRE(list["problems"].size() == 1);
  CHECK(list["problems"][0]["error"].get<std::string>().find("ATTUNE_TRUST=all") !=
        std::string::npos);
}

TEST_CASE("stored view: an experiment that others can write by now is only shown") {
  World world;
  const auto lock = ExperimentLock::take(world.work / "abcd2345").value();
  CHECK(world.get("/abcd2345")["experiment_id"] == "abcd2345");
  fs::permissions(world.work / "attune.sqlite", fs::perms::others_write, fs::perm_options::add);
  CHECK(world.get("/abcd2345")["experiment_id"] == "abcd2345");
  CHECK(world.ask("POST", "/abcd2345/stop", json::object()).status == 403);
  CHECK(world.ask("POST", "/abcd2345/resume", json::object()).status == 403);
}

TEST_CASE("stored view: files are read only where others can put nothing") {
  World world;
  std::ofstream(world.trial_folder("t0001") / "model.bin") << "weights";
  CHECK(world.get("/abcd2345/trials/1/files")["files"].size() == 1);
  fs::permissions(world.work / "abcd2345", fs::perms::others_write, fs::perm_options::add);
  for (const char* path : {"/files", "/files/model.bin", "/log"}) {
    INFO(path);
    CHECK(world.status(std::string("/abcd2345/trials/1") + path) == 403);
  }
}

TEST_CASE("stored view: the best trial lies outside of a search space that was changed") {
  World world(20);
  json file = kFile;
  file["searchSpace"]["x"]["_value"] = {0, 0.8};  // the best has 0.95
  world.store.update_file(file).value();
  world.store.commit().value();
  const json slice = world.get("/abcd2345/posterior?x=x");
  CHECK(slice["trials"] == 17);
  CHECK(world.status("/abcd2345/posterior?x=x&at=19") == 409);
}

TEST_CASE("stored view: of many reports of a trial the newest are told") {
  World world;
  const TrialRecord trial = pending_trial(3);
  for (int i = 0; i < 2005; ++i)
    world.store.add_report(trial, report_of(trial, i, 0.001 * i, i), {}).value();
  world.store.commit().value();
  const json shown = world.get("/abcd2345/trials/3");
  CHECK(shown["reports"].size() <= 2000);
  CHECK(shown["left_out_reports"] == 5);
}

TEST_CASE("stored view: a store that is replaced is read anew") {
  World world;
  CHECK(world.get("")["experiments"][0]["experiment_id"] == "abcd2345");
  begin_experiment(world.folder.path / "other", "efgh2345").commit().value();
  fs::remove(world.work / "attune.sqlite-wal");
  fs::remove(world.work / "attune.sqlite-shm");
  fs::rename(world.folder.path / "other/attune.sqlite", world.work / "attune.sqlite");
  CHECK(world.get("")["experiments"][0]["experiment_id"] == "efgh2345");
}

TEST_CASE("stored view: a change without a manager is a conflict") {
  World world;
  for (const char* path : {"/abcd2345/stop", "/abcd2345/trials/3/kill"}) {
    const HttpResponse response = world.ask("POST", path, json::object());
    CHECK(world.kind.changes);
    CHECK(response.status == 409);
    CHECK(response.body->find("attune resume") != std::string::npos);
  }
  const json update = {{"max_trials", 9}};
  const HttpResponse response = world.ask("PATCH", "/abcd2345", update);
  CHECK(response.status == 409);
  CHECK(response.body->find("--max-trials 9") != std::string::npos);
  CHECK(world.ask("PATCH", "/abcd2345", json::object()).status == 400);
  CHECK(world.ask("PATCH", "/abcd2345", {{"max_trials", 0}}).status == 400);
  CHECK(world.ask("PATCH", "/abcd2345", {{"unknown", 1}}).status == 400);
  CHECK(world.ask("POST", "/abcd2345/trials", {{"trials", json::array()}}).status == 400);
  CHECK(world.ask("POST", "/abcd2345/stop").status == 400);  // no body
  CHECK(world.ask("DELETE", "/abcd2345").status == 404);
  CHECK_FALSE(world.kind.allowed);
}

TEST_CASE("routes: the document of the API tells of all of them") {
  const json document = openapi_document(all_routes());
  const fs::path file = fs::path(ATTUNE_TEST_DATA) / "../../docs/openapi.json";
  CHECK(parse_json(read_file(file).value()).value() == document);
  std::size_t operations = 0;
  for (const auto& [path, methods] : document["paths"].items()) operations += methods.size();
  CHECK(operations == all_routes().size());
}

}  // namespace attune::stored_view_test
