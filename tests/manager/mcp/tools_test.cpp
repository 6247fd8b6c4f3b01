// What the tools say of a store, and what they ask a manager.
#include <catch2/catch.hpp>
#include <fstream>
#include <mutex>

#include "tests/manager/control/listening_manager.h"
#include "tests/manager/mcp/client.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::tools_test {

TrialRecord succeeded(std::int64_t sequence, double accuracy) {
  TrialRecord trial = pending_trial(sequence);
  trial.status = TrialStatus::succeeded;
  trial.attempts = 1;
  trial.final_metric = accuracy;
  return trial;
}

// An experiment with trials t0000 (0.1), t0001 (0.2), ..., and one that waits.
class World {
 public:
  explicit World(int trials = 3)
      : store(begin_experiment(folder.path, "abcd2345", "digits", {{"searchSpace", {{"x", 1}}}})) {
    for (int i = 0; i < trials; ++i) {
      store.add_trial(pending_trial(i), 1001).value();
      store.change_trial(succeeded(i, 0.1 * (i + 1))).value();
    }
    store.add_trial(pending_trial(trials), 1001).value();
    store.commit().value();
  }
  std::filesystem::path output(const std::string& job_id, const std::string& stream) const {
    const auto trial = folder.path / "abcd2345" / "trials" / job_id;
    std::filesystem::create_directories(trial);
    return trial / stream;
  }
  Client client(bool allow_changes = false) const {
    Client client(folder.path, allow_changes);
    client.initialize();
    return client;
  }

  TemporaryFolder folder;
  Store store;
};

std::vector<std::string> job_ids(const json& answer) {
  std::vector<std::string> found;
  for (const json& trial : answer["trials"]) found.push_back(trial["trial_job_id"]);
  return found;
}

TEST_CASE("mcp tools: list and status") {
  const World world;
  Client client = world.client();
  const json list = client.content("list");
  REQUIRE(list["experiments"].size() == 1);
  CHECK(list["more"] == false);
  CHECK(list["experiments"][0]["experiment_id"] == "abcd2345");
  CHECK(list["experiments"][0]["trials"]["succeeded"] == 3);
  CHECK(list["experiments"][0]["best"]["trial_job_id"] == "t0002");
  CHECK(client.content("list", {{"offset", 1}})["experiments"].empty());
  const json status = client.content("status", {{"experiment", "digits"}});
  CHECK(status["status"] == "killed");
  REQUIRE(status["unfinished"].size() == 1);
  CHECK_THAT(status["unfinished"][0]["reason"].get<std::string>(),
             Catch::Contains("no manager runs"));
  CHECK_THAT(client.refusal("status", {{"experiment", "other"}}), Catch::Contains("abcd2345"));
}

TEST_CASE("mcp tools: best and trials, page by page") {
  const World world(5);
  Client client = world.client();
  CHECK(job_ids(client.content("best", {{"limit", 2}})) ==
        std::vector<std::string>{"t0004", "t0003"});
  CHECK(client.content("best", {{"limit", 2}})["more"] == true);
  CHECK(client.content("best", {{"limit", 5}})["more"] == false);
  std::vector<std::string> all;
  json arguments = {{"limit", 2}};
  for (bool more = true; more;) {
    const json page = client.content("trials", arguments);
    for (const std::string& id : job_ids(page)) all.push_back(id);
    more = page["more"].get<bool>();
    if (more) arguments["offset"] = page["next_offset"];
  }
  CHECK(all == std::vector<std::string>{"t0000", "t0001", "t0002", "t0003", "t0004", "t0005"});
  CHECK(job_ids(client.content("trials", {{"status", {"pending", "failed"}}})) ==
        std::vector<std::string>{"t0005"});
  CHECK(job_ids(client.content("trials", {{"sort", "newest"}, {"limit", 1}})) ==
        std::vector<std::string>{"t0005"});
  CHECK(job_ids(client.content("trials", {{"sort", "best"}, {"limit", 1}})) ==
        std::vector<std::string>{"t0004"});
}

TEST_CASE("mcp tools: a large experiment gives a small answer") {
  World world(0);
  for (int i = 1; i < 400; ++i) {
    TrialRecord trial = pending_trial(i);
    trial.proposed.parameters = {{"x", std::string(static_cast<std::size_t>(i) * 50, 'x')}};
    world.store.add_trial(trial, 1001).value();
  }
  world.store.commit().value();
  Client client = world.client();
  for (const char* tool : {"list", "status", "best", "trials"}) {
    json arguments = {{"limit", 200}};
    CHECK(dump_json(client.call(tool, arguments)).size() < 200'000);
  }
  CHECK(client.content("trials", {{"limit", 200}})["more"] == true);
  CHECK(client.content("status")["left_out"]["unfinished"] == 380);
}

TEST_CASE("mcp tools: show and config") {
  World world;
  for (int i = 0; i < 30; ++i)
    world.store.add_report(pending_trial(3), report_of(pending_trial(3), i, 0.5, 10), {}).value();
  world.store.commit().value();
  Client client = world.client();
  const json trial = client.content("show", {{"trial", "3"}, {"limit", 5}});
  CHECK(trial["experiment_id"] == "abcd2345");
  CHECK(trial["trial_job_id"] == "t0003");
  CHECK(trial["parameter_list"][0]["parameters"] == json{{"x", 0.5}});
  REQUIRE(trial["report_list"].size() == 5);
  CHECK(trial["report_list"][4]["sequence"] == 29);
  CHECK(trial["left_out"] == json{{"report_list", 25}});
  CHECK_FALSE(client.refusal("show", {{"trial", "t0099"}}).empty());
  CHECK(client.content("config")["config"]["searchSpace"] == json{{"x", 1}});
}

TEST_CASE("mcp tools: logs give the end of the output, in whole lines") {
  const World world;
  std::ofstream(world.output("t0001", "stdout")) << "first\nsecond\nthird \xff\n";
  Client client = world.client();
  const json whole = client.content("logs", {{"trial", "1"}});
  CHECK(whole["text"] == "first\nsecond\nthird \xef\xbf\xbd\n");
  CHECK(whole["left_out_bytes"] == 0);
  const json end = client.content("logs", {{"trial", "1"}, {"bytes", 10}});
  CHECK(end["text"] == "third \xef\xbf\xbd\n");
  CHECK(end["left_out_bytes"] == 13);
  CHECK(client.content("logs", {{"trial", "1"}, {"bytes", 3}})["text"] == " \xef\xbf\xbd\n");
  CHECK_THAT(client.refusal("logs", {{"trial", "1"}, {"stream", "stderr"}}),
             Catch::Contains("stderr"));
  CHECK_THAT(client.refusal("logs", {{"trial", "3"}}), Catch::Contains("not started yet"));
  std::filesystem::remove(world.output("t0001", "stdout"));
  std::filesystem::create_symlink("/etc/passwd", world.output("t0001", "stdout"));
  CHECK_FALSE(client.refusal("logs", {{"trial", "1"}}).empty());
}

TEST_CASE("mcp tools: without a manager nothing changes, and the cure is named") {
  const World world;
  Client client = world.client(true);
  CHECK_THAT(client.refusal("stop", {{"experiment", "abcd"}}),
             Catch::Contains("no manager runs; attune resume"));
  CHECK_THAT(client.refusal("update", {{"experiment", "abcd"}, {"max_trials", 9}}),
             Catch::Contains(" --max-trials 9 starts one with that"));
  CHECK_THAT(client.refusal("update", {{"experiment", "abcd"}}),
             Catch::Contains("nothing to change"));
}

TEST_CASE("mcp tools: changes are requests to the manager") {
  const World world;
  std::mutex mutex;
  std::vector<json> requests;
  const ListeningManager manager(world.folder.path / "abcd2345",
                                 [&](const json& request) -> Result<json> {
                                   const std::lock_guard lock(mutex);
                                   requests.push_back(request);
                                   if (request["command"] == "update") return fail("too many");
                                   return json{{"trials", {"t0004"}}};
                                 });
  Client client = world.client(true);
  const json added = client.content("add", {{"experiment", "abcd"}, {"trials", {{{"x", 0.5}}}}});
  CHECK(added["trials"] == json{"t0004"});
  CHECK(added["experiment_id"] == "abcd2345");
  client.content("kill", {{"experiment", "digits"}, {"trials", {"t0001", "2"}}});
  client.content("stop", {{"experiment", "abcd2345"}, {"kill", true}});
  CHECK_THAT(
      client.refusal(
          "update",
          {{"experiment", "abcd"}, {"concurrency", 3}, {"max_seconds", 60}, {"max_trials", 9.0}}),
      Catch::Contains("too many"));
  const std::lock_guard lock(mutex);
  CHECK(requests ==
        std::vector<json>{
            {{"command", "add"}, {"trials", {{{"x", 0.5}}}}},
            {{"command", "kill"}, {"trials", {"t0001", "t0002"}}},
            {{"command", "stop"}, {"kill", true}},
            {{"command", "update"}, {"concurrency", 3}, {"max_seconds", 60.0}, {"max_trials", 9}}});
}

TEST_CASE("mcp tools: wrong arguments reach no tool") {
  const World world;
  Client client = world.client(true);
  for (const json& wrong :
       {json{{"experiment", "abcd"}}, json{{"experiment", "abcd"}, {"trials", json::array()}},
        json{{"experiment", "abcd"}, {"trials", {1}}}, json{{"trials", {json::object()}}},
        json{{"experiment", "abcd"}, {"trials", {json::object()}}, {"more", 1}}})
    CHECK(error_code(client.call("add", wrong)) == kInvalidParams);
}

}  // namespace attune::tools_test
