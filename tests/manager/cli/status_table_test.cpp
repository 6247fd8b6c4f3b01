// The status table against what Ray Tune printed, and where it has to cut.
#include <catch2/catch.hpp>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/json.h"
#include "manager/cli/commands/status_table.h"

namespace attune::status_table_test {

json scenarios() {
  std::stringstream text;
  text << std::ifstream(ATTUNE_TEST_DATA "/scheduler-traces/ray18_trialrunner_scenarios.json")
              .rdbuf();
  return parse_json(text.str()).value()["scenarios"];
}

// Which error files there were only the recording knows: their names hold dates.
std::string error_file(const std::string& expected, const std::string& name) {
  std::smatch match;
  return std::regex_search(expected, match, std::regex(name + ":\t\\w+, \\d+ failures: (\\S+)"))
             ? match[1].str()
             : "";
}

// What stands above the trials.
std::string header(const json& scenario) {
  std::string text = "== Status ==\nUsing FIFO scheduling algorithm.\n";
  std::string committed;  // unknown before the first step
  for (const json& entry : scenario["log"]) {
    if (entry[0] == "--- step" && committed.empty()) committed = "0";
    if (entry[0] == "=== state") committed = entry[3].dump();
    // A step that raises logs no state; what it stopped has given its resources back.
    if (entry[0] == "trainable.stop") committed = "0";
  }
  std::string resources;
  if (!committed.empty())
    resources = "Resources requested: " + committed + "/" + scenario["cluster"]["CPU"].dump() +
                " CPUs, 0/" + scenario["cluster"]["GPU"].dump() + " GPUs";
  text += resources + "\n";
  return scenario["final"].empty() ? text : text + "Result logdir: <dir>\n";
}

TEST_CASE("status table: what Ray Tune printed in every scenario") {
  const json all = scenarios();
  REQUIRE(all.size() >= 25);
  for (const json& scenario : all) {
    INFO(scenario["name"]);
    const auto expected = scenario["debug_string"].get<std::string>();
    std::vector<StatusRow> rows;
    for (const auto& [id, trial] : scenario["final"].items()) {
      const std::string name = "S_" + id;
      TrialProgress progress;
      progress.state = trial["status"];
      progress.failures = trial["num_failures"];
      progress.failure = error_file(expected, name);
      if (trial["last_iter"].is_number()) {
        progress.location = "h pid=1";
        progress.seconds = trial["last_iter"];  // an iteration takes a second there
        progress.iterations = trial["last_iter"].get<std::int64_t>();
      }
      rows.push_back({progress.state, name, progress_text(progress)});
    }
    CHECK(header(scenario) + status_table(rows) == expected);
  }
}

TEST_CASE("status table: all that can be said of a trial") {
  TrialProgress progress;
  progress.state = "RUNNING";
  progress.seconds = 12.9;
  progress.iterations = 3;
  CHECK(progress_text(progress) == "RUNNING");  // nothing was reported
  progress.location = "host pid=7";
  progress.failures = 2;
  progress.failure = "exit code 3";
  progress.steps = 4000;
  progress.reward = 0.12345;
  progress.loss = 1e-7;
  progress.accuracy = 12345678;
  CHECK(progress_text(progress) ==
        "RUNNING, 2 failures: exit code 3 [host pid=7], 12 s, 3 iter, 4000 ts, 0.123 rew, "
        "1e-07 loss, 1.23e+07 acc");
}

TEST_CASE("status table: never more rows than the limit") {
  std::vector<StatusRow> rows;
  for (const char* state : {"A", "B", "C"}) {
    for (int i = 0; i < 10; ++i) rows.push_back({state, "t" + std::to_string(i), "p"});
  }
  // 20 for three: 7, 7, 6.
  const std::string table = status_table(rows);
  CHECK(table ==
        "A trials:\n - t0:\tp\n - t1:\tp\n - t2:\tp\n  ... 4 not shown\n - t7:\tp\n - t8:\tp\n - "
        "t9:\tp\nB trials:\n - t0:\tp\n - t1:\tp\n - t2:\tp\n  ... 4 not shown\n - t7:\tp\n - "
        "t8:\tp\n - t9:\tp\nC trials:\n - t0:\tp\n - t1:\tp\n - t2:\tp\n  ... 4 not shown\n - "
        "t7:\tp\n - t8:\tp\n - t9:\tp\n");
  // A share of one is no half.
  CHECK(status_table(rows, 3) ==
        "A trials:\n  ... 10 not shown\nB trials:\n  ... 10 not shown\nC trials:\n  ... 10 not "
        "shown\n");
  CHECK(status_table(rows, 0) == status_table(rows, 3));
  CHECK(status_table({}).empty());
}

TEST_CASE("status table: natural order") {
  CHECK(naturally_less("t9", "t10"));
  CHECK_FALSE(naturally_less("t10", "t9"));
  CHECK(naturally_less("t2_x", "t2_y"));
  CHECK(naturally_less("t2", "t2_x"));
  CHECK_FALSE(naturally_less("T2", "t2"));
  CHECK_FALSE(naturally_less("t2", "T2"));
  CHECK(naturally_less("t99999999999999999999998", "t99999999999999999999999"));
  CHECK_FALSE(naturally_less("t007", "t7"));
  CHECK(naturally_less("1", "a"));
  CHECK_FALSE(naturally_less("a", "1"));
}

}  // namespace attune::status_table_test
