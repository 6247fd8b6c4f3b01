// Trials as columns: what the store holds, and what has changed since.
#include "manager/dashboard/trial_columns.h"

#include <catch2/catch.hpp>

#include "manager/cli/commands/searched_space.h"
#include "tests/manager/dashboard/column_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::trial_columns_test {

using test::Columns;
using test::read_columns;

const json kFile = {{"trialCommand", "true"},
                    {"searchSpace",
                     {{"x", {{"_type", "uniform"}, {"_value", {0, 1}}}},
                      {"kind", {{"_type", "choice"}, {"_value", {"small", "large"}}}}}}};

struct World {
  explicit World(const json& file = kFile)
      : store(begin_experiment(folder.path, "abcd2345", "", file)) {}

  TrialRecord add(std::int64_t number, double x, const std::string& kind) {
    TrialRecord trial = pending_trial(number);
    trial.proposed.parameters = {{"x", x}, {"kind", kind}, {"TRIAL_BUDGET", 3}};
    store.add_trial(trial, 1001).value();
    store.commit().value();
    return trial;
  }
  void change(const TrialRecord& trial) {
    store.change_trial(trial).value();
    store.commit().value();
  }
  void end(TrialRecord trial, double accuracy) {
    trial.status = TrialStatus::succeeded;
    trial.start_time = 1002;
    trial.end_time = 1004.5;
    trial.reports = 2;
    trial.last_metric = accuracy - 0.1;
    trial.final_metric = {{"accuracy", accuracy}};
    change(trial);
  }
  void start(TrialRecord& trial, double time) {
    ++trial.attempts;
    trial.status = TrialStatus::running;
    if (trial.start_time == 0) trial.start_time = time;
    store.add_attempt(trial, "", time).value();
    change(trial);
  }
  void stop(TrialRecord& trial, double time, Ending how) {
    store.end_attempt(trial, {.job_id = trial.job_id, .how = how, .detail = "", .time = time})
        .value();
    trial.status = TrialStatus::paused;
    change(trial);
  }
  // What a page gets that asks until there is no more.
  Columns ask(const std::string& cursor, std::size_t limit = 1000, std::size_t most = 1000) {
    const StoredExperiment experiment = reader().find("").value();
    if (!columns) columns.emplace(experiment, searched_space(experiment).value(), "e1");
    const bool more = columns->update(reader(), experiment, most).value();
    return read_columns(columns->changes(cursor, limit, more, 7));
  }
  StoreReader& reader() {
    if (!opened) opened = StoreReader::open(folder.path).value();
    return *opened;
  }

  TemporaryFolder folder;
  Store store;
  std::optional<StoreReader> opened;
  std::optional<TrialColumns> columns;
};

TEST_CASE("trial columns: they hold what the store holds") {
  World world;
  world.end(world.add(0, 0.25, "large"), 0.75);
  world.add(3, 0.5, "small");
  Columns got = world.ask("");
  CHECK(got.header["rows"] == 2);
  CHECK(got.header["more"] == false);
  CHECK(got.header["reset"] == false);
  CHECK(got.header["total"] == 7);
  CHECK(got.header["started"] == 1000);
  CHECK(got.columns["trial"] == std::vector<double>{0, 3});
  CHECK(got.columns["status"] == std::vector<double>{3, 0});
  CHECK(got.columns["reports"] == std::vector<double>{2, 0});
  CHECK(got.columns["started"][0] == 2);
  CHECK(got.columns["ended"][0] == 4.5);
  CHECK(std::isnan(got.columns["started"][1]));
  CHECK(got.columns["last"][0] == 0.65);
  CHECK(got.columns["m:accuracy"][0] == 0.75);
  CHECK(std::isnan(got.columns["m:accuracy"][1]));
  CHECK(got.columns["violation"][0] == 0);
  CHECK(got.columns["p:x"] == std::vector<double>{0.25, 0.5});
  CHECK(got.columns["p:kind"] == std::vector<double>{1, 0});
  CHECK(got.columns["worker"][0] == 65535);
}

TEST_CASE("trial columns: where trials run, also if they move") {
  World world;
  const auto place = [&](TrialRecord& trial, int attempts, const std::string& worker,
                         const std::string& gpus) {
    trial.attempts = attempts;
    world.change(trial);
    world.store.add_attempt(trial, "", 1002).value();
    world.store.set_place(trial, {trial.job_id, "", 0, worker, "", gpus}, 1002).value();
    world.store.commit().value();
  };
  TrialRecord first = world.add(0, 0.25, "large");
  place(first, 1, "w1", "");
  place(first, 2, "w2", "");
  TrialRecord second = world.add(1, 0.5, "small");
  place(second, 1, "", "0,2");
  TrialRecord third = world.add(2, 0.5, "small");
  Columns got = world.ask("");
  CHECK(got.header["workers"] == json({"w1", "w2", "gpu 0,2"}));
  CHECK(got.columns["worker"] == std::vector<double>{1, 2, 65535});
  CHECK(world.ask(got.header["next"]).header["rows"] == 0);
  place(third, 1, "w1", "3");
  place(first, 3, "w9", "");
  got = world.ask(got.header["next"]);
  CHECK(got.columns["trial"] == std::vector<double>{0, 2});
  CHECK(got.header["workers"] == json({"w1", "w2", "gpu 0,2", "w9", "w1 gpu 3"}));
  CHECK(got.columns["worker"] == std::vector<double>{3, 4});
}

TEST_CASE("trial columns: when a trial ran that was paused") {
  World world;
  TrialRecord first = world.add(0, 0.25, "large");
  world.start(first, 1002);
  TrialRecord second = world.add(1, 0.5, "small");
  world.start(second, 1002);
  Columns got = world.ask("");
  CHECK(got.header["runs"]["rows"] == 0);  // the columns tell all
  world.stop(first, 1005, Ending::paused);
  got = world.ask(got.header["next"]);
  CHECK(got.runs["trial"] == std::vector<double>{0});
  CHECK(got.runs["started"] == std::vector<double>{2});
  CHECK(got.runs["ended"] == std::vector<double>{5});
  CHECK(got.runs["status"] == std::vector<double>{2});
  CHECK(std::isnan(got.columns["ended"][0]));
  world.start(first, 1010);
  got = world.ask(got.header["next"]);
  CHECK(got.runs["started"] == std::vector<double>{2, 10});
  CHECK(got.runs["status"] == std::vector<double>{2, 1});
  CHECK(std::isnan(got.runs["ended"][1]));
  first.status = TrialStatus::succeeded;
  first.end_time = 1020;
  world.change(first);
  got = world.ask(got.header["next"]);
  CHECK(got.runs["ended"] == std::vector<double>{5, 20});
  CHECK(got.runs["status"] == std::vector<double>{2, 3});
  CHECK(world.ask(got.header["next"]).header["rows"] == 0);
  CHECK(world.ask("").runs["trial"] == std::vector<double>{0, 0});
}

TEST_CASE("trial columns: a run whose end nobody saw lasts until the next one") {
  World world;
  TrialRecord trial = world.add(0, 0.25, "large");
  world.start(trial, 1002);  // its manager was killed
  world.start(trial, 1010);
  world.stop(trial, 1011, Ending::lost);
  world.start(trial, 1012);
  Columns got = world.ask("");
  CHECK(got.runs["started"] == std::vector<double>{2, 10, 12});
  CHECK(got.runs["ended"][0] == 10);
  CHECK(got.runs["ended"][1] == 11);
  CHECK(std::isnan(got.runs["ended"][2]));
  CHECK(got.runs["status"] == std::vector<double>{2, 4, 1});
}

TEST_CASE("trial columns: the tally of trials that wait for room") {
  World world;
  TrialRecord trial = world.add(0, 0.25, "large");
  trial.status = TrialStatus::running;
  trial.reason = "waits for a worker";
  world.change(trial);
  world.ask("");
  CHECK(world.columns->tally().running == 1);
  CHECK(world.columns->tally().waiting == 1);
  trial.reason = "";
  world.change(trial);
  world.ask("");
  CHECK(world.columns->tally().waiting == 0);
}

TEST_CASE("trial columns: the best trials") {
  World world;
  world.end(world.add(0, 0.25, "large"), 0.5);
  TrialRecord late = world.add(1, 0.5, "small");
  world.end(world.add(2, 0.75, "small"), 0.75);
  world.ask("");
  CHECK(world.columns->leaders().best_id() == 2);
  world.end(late, 0.875);
  world.ask("");
  CHECK(world.columns->leaders().best_id() == 1);
}

TEST_CASE("trial columns: large integers and sets of candidates are exact") {
  json file = kFile;
  file["searchSpace"] = json::parse(R"({
    "seed": {"_type": "randint", "_value": [0, 2000000000]},
    "step": {"_type": "quniform", "_value": [0, 1000000000, 1]},
    "few": {"_type": "randint", "_value": [0, 9]},
    "sets": {"_type": "input_choice", "_value": {"candidates": ["a", "b", "c"], "n_chosen": 2}}})");
  World world(file);
  TrialRecord trial = pending_trial(0);
  trial.proposed.parameters = json::parse(
      R"({"seed": 1999999999, "step": 123456789.0, "few": 7,
          "sets": {"_value": ["a", "c"], "_idx": [0, 2]}})");
  world.store.add_trial(trial, 1001).value();
  world.store.commit().value();
  Columns got = world.ask("");
  CHECK(got.columns["p:seed"][0] == 1999999999);
  CHECK(got.columns["p:step"][0] == 123456789);
  CHECK(got.columns["p:few"][0] == 7);
  CHECK(got.columns["p:sets"][0] == 5);
}

TEST_CASE("trial columns: who asks again gets what has changed, and no more") {
  World world;
  TrialRecord first = world.add(0, 0.25, "large");
  TrialRecord second = world.add(1, 0.5, "small");
  const std::string begun = world.ask("").header["next"];
  CHECK(world.ask(begun).header["rows"] == 0);
  CHECK(world.ask(begun).header["next"] == begun);
  world.end(second, 0.5);
  Columns got = world.ask(begun);
  CHECK(got.columns["trial"] == std::vector<double>{1});
  CHECK(got.columns["status"] == std::vector<double>{3});
  const std::string later = got.header["next"];
  first.status = TrialStatus::running;
  first.start_time = 1003;
  world.change(first);
  first.reports = 1;
  first.last_metric = 0.125;
  world.change(first);
  CHECK(world.ask(later).columns["last"] == std::vector<double>{0.125});
  // A page that was asleep all the time.
  CHECK(world.ask(begun).columns["trial"] == std::vector<double>{1, 0});
  CHECK(world.ask("").header["rows"] == 2);
}

TEST_CASE("trial columns: a paused trial that goes on with other parameters") {
  World world;
  TrialRecord trial = world.add(0, 0.25, "large");
  const std::string cursor = world.ask("").header["next"];
  trial.status = TrialStatus::paused;
  trial.proposed.parameters["x"] = 0.75;
  trial.proposed.text = "another";
  world.change(trial);
  CHECK(world.ask(cursor).columns["p:x"] == std::vector<double>{0.75});
}

TEST_CASE("trial columns: they come in parts") {
  World world;
  for (int i = 0; i < 10; ++i) world.add(i, 0.5, "small");
  std::vector<double> trials;
  std::string cursor;
  for (bool more = true; more;) {
    Columns part = world.ask(cursor, 3, 4);
    CHECK(part.header["rows"].get<int>() <= 3);
    for (const double trial : part.columns["trial"]) trials.push_back(trial);
    cursor = part.header["next"];
    more = part.header["more"];
  }
  CHECK(trials == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("trial columns: a cursor of another server begins anew") {
  World world;
  world.add(0, 0.5, "small");
  for (const char* foreign : {"e2.1", "e1", "e10.1", "nonsense"}) {
    const Columns got = world.ask(foreign);
    CHECK(got.header["reset"] == true);
    CHECK(got.header["rows"] == 1);
  }
  CHECK(world.ask("e1.99").header["next"] == "e1.1");
}

TEST_CASE("trial columns: parameters outside of the search space are missing") {
  World world;
  world.add(0, 7, "small");
  Columns got = world.ask("");
  CHECK(std::isnan(got.columns["p:x"][0]));
  CHECK(got.columns["p:kind"][0] == 0);
  const StoredExperiment same = world.reader().find("").value();
  CHECK(world.columns->fits(same));
  StoredExperiment other = same;
  other.file["searchSpace"]["x"]["_value"] = {0, 2};
  CHECK_FALSE(world.columns->fits(other));
}

}  // namespace attune::trial_columns_test
