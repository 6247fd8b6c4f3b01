// Which trials of the store are the best, with limits and several objectives.
#include <catch2/catch.hpp>
#include <limits>

#include "manager/store/store.h"
#include "manager/store/store_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::store_best_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Trials 0, 1, ... that have ended with these final metrics.
void add_ended(Store& store, const std::vector<json>& metrics) {
  std::int64_t sequence = 0;
  for (const json& metric : metrics) {
    TrialRecord trial = pending_trial(sequence++);
    REQUIRE(store.add_trial(trial, 1001).has_value());
    trial.status = TrialStatus::succeeded;
    trial.final_metric = metric;
    REQUIRE(store.change_trial(trial).has_value());
  }
  REQUIRE(store.commit().has_value());
}

std::string best_of(const std::filesystem::path& folder, std::optional<std::int64_t> count = {}) {
  StoreReader reader = StoreReader::open(folder).value();
  const StoredExperiment experiment = reader.find("").value();
  const auto so_far = reader.best_so_far(experiment).value();
  std::string text = so_far ? std::to_string(so_far->trade_offs) : "none";
  const std::vector<TrialRecord> best = reader.best(experiment, count).value();
  for (const TrialRecord& trial : best) text += " " + trial.job_id;
  return text;
}

json with_objectives(const json& objectives) { return {{"objectives", objectives}}; }

TEST_CASE("store: the best trial keeps the limits") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345", "",
                                 with_objectives({{{"metric", "accuracy"}, {"mode", "maximize"}},
                                                  {{"metric", "seconds"}, {"limit", 2}}}));
  CHECK(best_of(folder.path) == "none");
  add_ended(store, {{{"accuracy", 0.9}, {"seconds", 4}},
                    {{"accuracy", 0.8}, {"seconds", 3}},
                    {{"accuracy", 0.99}},
                    {{"accuracy", 0.99}, {"seconds", kNan}},
                    0.99});
  CHECK(best_of(folder.path) == "0 t0001");
  CHECK(best_of(folder.path, 9) == "0 t0001 t0000");
  StoreReader reader = StoreReader::open(folder.path).value();
  const StoredExperiment experiment = reader.find("").value();
  CHECK(reader.best_so_far(experiment).value()->violation == 1);

  TrialRecord kept = pending_trial(7);
  REQUIRE(store.add_trial(kept, 1001).has_value());
  kept.status = TrialStatus::succeeded;
  kept.final_metric = {{"accuracy", 0.1}, {"seconds", 2}};
  REQUIRE(store.change_trial(kept).has_value());
  REQUIRE(store.commit().has_value());
  CHECK(best_of(folder.path) == "0 t0007");
  TrialFilter filter;
  filter.order = TrialFilter::Order::best;
  std::string order;
  const std::vector<TrialRecord> ranked = reader.trials(experiment, filter).value();
  for (const TrialRecord& trial : ranked) order += trial.job_id + " ";
  CHECK(order == "t0007 t0001 t0000 t0002 t0003 t0004 ");
  filter.limit = 2;
  CHECK(reader.trials(experiment, filter)->size() == 2);
}

TEST_CASE("store: of several objectives the best are the trade-offs") {
  const TemporaryFolder folder;
  Store store = begin_experiment(
      folder.path, "abcd2345", "",
      with_objectives({{{"metric", "accuracy"}, {"mode", "maximize"}}, {{"metric", "seconds"}}}));
  add_ended(store, {{{"accuracy", 0.5}, {"seconds", 1}},
                    {{"accuracy", 0.9}, {"seconds", 4}},
                    {{"accuracy", 0.8}, {"seconds", 5}},
                    {{"accuracy", 0.7}, {"seconds", 2}}});
  CHECK(best_of(folder.path) == "3 t0001 t0003 t0000");
  CHECK(best_of(folder.path, 2) == "3 t0001 t0003");
}

TEST_CASE("store: objectives that cannot be read leave those that can") {
  const TemporaryFolder folder;
  Store store =
      begin_experiment(folder.path, "abcd2345", "",
                       with_objectives({{{"metric", "other"}},
                                        7,
                                        {{"metric", 3}},
                                        {{"metric", "a"}, {"mode", 1}},
                                        {{"metric", "b"}, {"mode", "maximize"}, {"limit", "2"}}}));
  StoreReader reader = StoreReader::open(folder.path).value();
  const auto objectives = reader.find("").value().objectives;
  REQUIRE(objectives.size() == 3);
  CHECK(objectives[0].metric == "accuracy");
  CHECK(objectives[0].maximize);
  CHECK(objectives[1].metric == "a");
  CHECK_FALSE(objectives[1].maximize);
  CHECK(objectives[2].maximize);
  CHECK_FALSE(objectives[2].limit);
}

}  // namespace attune::store_best_test
