#include "manager/interchange/learning_curve.h"

#include <catch2/catch.hpp>

#include "tests/manager/interchange/exported_world.h"

namespace attune::learning_curve_test {

// An attempt that reports its values as numbers 0, 1, ...
void attempt(ExportedWorld& world, TrialRecord& trial, const std::string& from,
             const std::vector<double>& values) {
  trial.status = TrialStatus::running;
  ++trial.attempts;
  world.store.add_attempt(trial, from, 1002).value();
  std::int64_t sequence = 0;
  for (const double value : values) world.report(trial, sequence++, value);
}

TEST_CASE("learning curve: steps go on from a checkpoint, and begin again without one") {
  ExportedWorld world(json{{"trialCommand", "true"}});
  TrialRecord trial = pending_trial(0);
  world.store.add_trial(trial, 1001).value();
  attempt(world, trial, "", {0.1, 0.2, 0.3});
  world.store.add_checkpoint({trial.job_id, "t0000-1", 100, "", 2}, 1003).value();
  attempt(world, trial, "t0000-1", {0.4});
  world.store.commit().value();
  const auto values = [&] {
    const StoredTrial whole = world.reader().whole_trial(world.experiment().stored, "0").value();
    std::vector<double> found;
    std::int64_t step = 0;
    for (const LearningPoint& point : learning_curve(whole, world.experiment())) {
      CHECK(point.step == step++);
      found.push_back(point.metric.get<double>());
    }
    return found;
  };
  CHECK(values() == std::vector<double>{0.1, 0.2, 0.4});
  attempt(world, trial, "", {0.5});
  world.store.commit().value();
  CHECK(values() == std::vector<double>{0.5, 0.2, 0.4});
}

}  // namespace attune::learning_curve_test
