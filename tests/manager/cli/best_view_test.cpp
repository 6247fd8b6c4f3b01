// The best trials, with several objectives.
#include <catch2/catch.hpp>

#include "manager/cli/commands/views.h"
#include "manager/store/store.h"
#include "tests/manager/cli/printed.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::best_view_test {

// An experiment of these objectives, whose trials have ended with these final metrics.
class Ended {
 public:
  Ended(const json& objectives, const std::vector<json>& metrics)
      : store(begin_experiment(folder.path, "abcd2345", "", {{"objectives", objectives}})) {
    for (const json& metric : metrics) {
      TrialRecord trial = pending_trial(next_++);
      store.add_trial(trial, 1001).value();
      trial.status = TrialStatus::succeeded;
      trial.final_metric = metric;
      store.change_trial(trial).value();
    }
    store.commit().value();
  }

  template <class Options>
  std::string shows(Options options) const {
    if constexpr (requires { options.which; }) options.which.directory = folder.path.string();
    if constexpr (requires { options.directory; }) options.directory = folder.path.string();
    return printed(options);
  }

  TemporaryFolder folder;
  Store store;

 private:
  std::int64_t next_ = 0;
};

const json kAccuracy = {{"metric", "accuracy"}, {"mode", "maximize"}};
const json kSeconds = {{"metric", "seconds"}, {"limit", 2}};
const json kSize = {{"metric", "size"}};

json metrics(double accuracy, double seconds, double size) {
  return {{"accuracy", accuracy}, {"seconds", seconds}, {"size", size}};
}

TEST_CASE("views: best says whether the limits are kept") {
  const Ended none({kAccuracy, kSeconds}, {metrics(0.9, 5, 1), metrics(0.8, 3, 1)});
  CHECK(none.shows(BestOptions()) ==
        "no trial keeps the limits yet; nearest:\n0.8 (highest, trial t0001)\n"
        "  with seconds 3 (breaks the limit: at most 2)\n{\n  \"x\": 0.5\n}\n");
  CHECK(contains(none.shows(StatusOptions()),
                 "\nno trial keeps the limits yet, nearest 0.8 (t0001)\n"));
  CHECK(contains(none.shows(ListOptions()), "  0.8 (limits not kept)  "));

  const Ended kept({kAccuracy, kSeconds}, {metrics(0.9, 5, 1), metrics(0.7, 1, 1)});
  CHECK(kept.shows(BestOptions()) ==
        "0.7 (highest, trial t0001)\n  with seconds 1 (limit: at most 2)\n{\n  \"x\": 0.5\n}\n");
  CHECK(contains(kept.shows(StatusOptions()), "\nbest 0.7 (t0001)\n"));
  BestOptions options;
  options.which.json = true;
  options.count = 5;
  const json array = parse_json(kept.shows(options)).value();
  REQUIRE(array.size() == 2);
  CHECK(array[0]["trial_job_id"] == "t0001");
  CHECK(array[0]["violation"] == 0);
  CHECK(array[1]["violation"] == 3);
  CHECK(array[1]["objectives"] == json{{"accuracy", 0.9}, {"seconds", 5}});

  const Ended lacks({kAccuracy, kSeconds}, {{{"accuracy", 0.9}}});
  auto which = BestOptions();
  which.which.directory = lacks.folder.path.string();
  Printed nothing;
  CHECK(contains(view(which, nothing.console).error().message,
                 "no succeeded trial with a finite accuracy, seconds yet"));
}

TEST_CASE("views: best shows all trade-offs") {
  const Ended world({kAccuracy, kSize, kSeconds}, {metrics(0.5, 2, 1), metrics(0.9, 1, 4),
                                                   metrics(0.8, 1, 5), metrics(0.99, 3, 1)});
  const std::string table =
      "TRIAL  accuracy  size  seconds  PARAMETERS\nt0001  0.9       4     1        {\"x\":0.5}\n";
  const std::string sought = "(maximize accuracy, minimize size, seconds at most 2):\n";
  CHECK(world.shows(BestOptions()) ==
        "2 trade-offs " + sought + table + "t0000  0.5       1     2        {\"x\":0.5}\n");
  BestOptions options;
  options.count = 1;
  CHECK(world.shows(options) == "2 trade-offs, the first 1 " + sought + table);
  CHECK(contains(world.shows(StatusOptions()), "\n2 trade-offs, best accuracy 0.9 (t0001)\n"));
  CHECK(contains(world.shows(ListOptions()), "  0.9 (2 trade-offs)  "));
  options.count.reset();
  options.which.json = true;
  const json array = parse_json(world.shows(options)).value();
  REQUIRE(array.size() == 2);
  CHECK(array[1]["objectives"] == json{{"accuracy", 0.5}, {"size", 1.0}, {"seconds", 2.0}});
  StatusOptions status;
  status.which.json = true;
  const json object = parse_json(world.shows(status)).value();
  CHECK(object["trade_off_count"] == 2);
  CHECK(object["best"]["trial_job_id"] == "t0001");
  CHECK(object["objectives"][2] ==
        json{{"metric", "seconds"}, {"mode", "minimize"}, {"limit", 2.0}});
}

}  // namespace attune::best_view_test
