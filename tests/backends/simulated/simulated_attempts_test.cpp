// Trials of the simulated backend that are started more than once.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>

#include "backends/simulated/generated_curves.h"
#include "tests/backends/simulated/simulated_fixture.h"

namespace attune::simulated_attempts_test {

using namespace simulated_test;

TEST_CASE("simulated backend: a pause and a resume repeat no epoch and leave none out") {
  SimulatedBackendOptions options;
  options.delays.stop = GENERATE(0.0, 0.05, 1.5);
  const int paused_at = GENERATE(1, 3, 5);
  CAPTURE(options.delays.stop, paused_at);
  Fixture f(options);
  f.start(0);
  while (f.epochs().size() < static_cast<std::size_t>(paused_at)) {
    REQUIRE(f.backend->advance());
    f.fetch();
  }
  f.backend->pause("t0000");
  const bool saved_while_stopping = GENERATE(false, true);
  if (saved_while_stopping) f.backend->save_checkpoint("t0000", "c1");
  f.run();
  if (!saved_while_stopping) f.backend->save_checkpoint("t0000", "c1");
  f.run();
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends[0].how == Ending::paused);
  REQUIRE(f.saved.size() == 1);
  CHECK(f.saved[0].job_id == "t0000");
  CHECK(f.saved[0].error.empty());

  const double resumed = f.clock.now();
  f.start(0, "c1", json::object(), 1);
  f.run();
  CHECK(f.epochs() == std::vector<int>{1, 2, 3, 4, 5});
  CHECK(f.ends.back().how == Ending::succeeded);
  // Time goes on from the resume, without the epochs before the pause.
  CHECK(f.clock.now() - resumed == Approx(0.05 + (5 - paused_at) + (paused_at < 5 ? 0.1 : 0.05)));
  CHECK(f.reports.back().metric.type == ReportMetricData::Type::final);
  CHECK(f.reports.back().metric.value["default"] == 0.5);
}

TEST_CASE("simulated backend: without checkpoints every attempt starts from scratch") {
  SimulatedBackendOptions options;
  options.checkpoints = false;
  Fixture f(options);
  f.start(0);
  f.run(2.2);
  f.backend->pause("t0000");
  f.run();
  f.backend->save_checkpoint("t0000", "c1");
  f.run();
  REQUIRE(f.saved.size() == 1);
  CHECK(f.saved[0].error == "nothing saved");
  f.start(0, "", json::object(), 1);
  f.run();
  CHECK(f.epochs() == std::vector<int>{1, 2, 1, 2, 3, 4, 5});
}

TEST_CASE("simulated backend: a checkpoint starts other trials, on their own curves") {
  Fixture f;
  f.start(0);
  f.run(3.2);
  f.backend->save_checkpoint("t0000", "c1");  // while it runs: three epochs
  f.run();
  f.backend->copy_checkpoint("c1", "c2");
  f.backend->delete_checkpoint("c1");
  f.backend->delete_checkpoint("c1");
  f.backend->copy_checkpoint("c1", "c3");
  f.backend->release("t0000");
  f.backend->save_checkpoint("t0000", "c4");
  f.start(1);
  f.backend->save_checkpoint("t0001", "c5");
  f.fetch();
  REQUIRE(f.saved.size() == 5);
  CHECK(f.saved[1].error.empty());
  CHECK(f.saved[2].error == "no checkpoint c1");
  CHECK(f.saved[3].error == "there is no trial t0000");
  CHECK(f.saved[4].error == "nothing saved");
  f.run();

  f.reports.clear();
  f.ends.clear();
  f.start(2, "c2");
  f.run();
  CHECK(f.epochs() == std::vector<int>{4, 5});
  CHECK(f.reports[0].metric.value["default"] == 0.2);
  CHECK(f.reports[0].metric.sequence == 0);

  f.start(3, "c1");
  f.run();
  REQUIRE(f.ends.size() == 2);
  CHECK(f.ends[1].how == Ending::restore_failed);
  CHECK(f.ends[1].detail == "no checkpoint c1");
}

TEST_CASE("simulated backend: attempts fail at the given rates, the same ones each time") {
  SimulatedBackendOptions options;
  options.failures = {0.3, 0.2, {}};
  GeneratedCurvesOptions curves;
  curves.epochs = 5;
  curves.seconds_ratio = 1;
  std::string first_log;
  for (int round = 0; round < 2; ++round) {
    Fixture f(options, generated_curves(curves));
    for (int i = 0; i < 1000; ++i) f.start(i);
    f.run();
    if (round == 1) CHECK(f.log == first_log);
    first_log = f.log;
    std::map<Ending, int> count;
    for (const TrialFinished& end : f.ends) ++count[end.how];
    // Binomial: three deviations are 43 and 38.
    CHECK(std::abs(count[Ending::failed] - 300) < 45);
    CHECK(std::abs(count[Ending::lost] - 200) < 40);
    CHECK(count[Ending::succeeded] == 1000 - count[Ending::failed] - count[Ending::lost]);
  }
}

TEST_CASE("simulated backend: a retry continues from a checkpoint, and has a fate of its own") {
  SimulatedBackendOptions options;
  options.failures = {1, 0, 3};
  Fixture f(options);
  f.start(0);
  f.run();
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends[0].how == Ending::failed);
  CHECK(f.ends[0].detail == "exit code 1");
  CHECK(f.epochs() == std::vector<int>{1, 2});
  CHECK(f.ends[0].time == Approx(1003.1));  // in the third epoch
  f.backend->save_checkpoint("t0000", "c");
  f.start(0, "c", json::object(), 1);
  f.run();
  CHECK(f.ends.back().how == Ending::failed);
  CHECK(f.epochs() == std::vector<int>{1, 2});

  options.failures = {0.5, 0, {}};
  Fixture g(options);
  std::set<Ending> fates;
  for (int attempt = 0; attempt < 20; ++attempt) {
    g.start(0, "", json::object(), attempt);
    g.run();
    fates.insert(g.ends.back().how);
  }
  CHECK(fates == std::set<Ending>{Ending::succeeded, Ending::failed});
}

TEST_CASE("simulated backend: nothing of an earlier process can be adopted") {
  Fixture f;
  const auto adoption = f.backend->adopt(f.trial(0, 0, "{}"), 3);
  REQUIRE(adoption.has_value());
  CHECK(*adoption == TrialBackend::Adoption::lost);
  CHECK(f.backend->ready());
  CHECK_FALSE(f.try_start(0, "", json::object(), 1));  // before its end was fetched
  f.run();
  REQUIRE(f.ends.size() == 1);
  CHECK(f.ends[0].how == Ending::lost);
  f.start(0, "", json::object(), 1);
  f.run();
  CHECK(f.ends.back().how == Ending::succeeded);
}

}  // namespace attune::simulated_attempts_test
