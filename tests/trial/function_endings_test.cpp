// Functions that do not end when they are asked to, and threads that do not begin.
#include <pthread.h>

#include <cmath>
#include <future>
#include <thread>

#include "tests/trial/trial_folder.h"
#include "trial/function_runner.h"

namespace attune::function_endings_test {

using Catch::Contains;

TEST_CASE("a function that never reports again is left behind, and hurts nobody") {
  const auto release = std::make_shared<std::promise<void>>();
  const auto done = std::make_shared<std::promise<void>>();
  {
    FunctionRunner runner(
        [release, done](const json&, StatusReporter& reporter) {
          try {
            reporter(1);
          } catch (const TrialStopped&) {
            release->get_future().wait();  // swallows the end, and computes on
          }
          try {
            reporter(2);  // the runner is gone: what the function talks to is not
          } catch (const TrialStopped&) {
            done->set_value();
          }
        },
        {.patience = std::chrono::milliseconds(1)});
    REQUIRE(runner.train());
    const bool by_reset = GENERATE(true, false);
    const auto left = by_reset ? runner.reset({}) : runner.stop();
    CHECK_THAT(left.error().message, Contains("left behind"));
    CHECK_FALSE(runner.train());
  }
  release->set_value();
  REQUIRE(done->get_future().wait_for(std::chrono::seconds(200)) == std::future_status::ready);
}

TEST_CASE("a function that was left behind touches no checkpoint of its successor") {
  const Folder folder;
  std::promise<void> release, refused;
  const auto train = [&](const json& config, StatusReporter& reporter, const CheckpointDir&) {
    if (config.contains("second")) {
      const auto made = reporter.make_checkpoint_dir(1);
      std::ofstream(made / "second") << 2;
      reporter.set_checkpoint(made);
      return reporter(2);
    }
    const auto made = reporter.make_checkpoint_dir(2);
    try {
      reporter(1);
    } catch (const TrialStopped&) {
      release.get_future().wait();
    }
    CHECK_THROWS_AS(reporter.set_checkpoint(made), TrialStopped);
    CHECK_THROWS_AS(reporter.make_checkpoint_dir(1), TrialStopped);
    refused.set_value();
  };
  FunctionRunner runner(train,
                        {.log_directory = folder.path, .patience = std::chrono::milliseconds(1)});
  REQUIRE(runner.train());
  REQUIRE_FALSE(runner.reset({{"second", true}}));
  REQUIRE(runner.reset({{"second", true}}));
  REQUIRE(runner.train());
  release.set_value();
  refused.get_future().wait();
  CHECK(runner.save().value().filename() == "checkpoint_1");
  CHECK(folder.text("checkpoint_1/second") == "2");
}

TEST_CASE("a thread that cannot be made is an error, and can be tried again") {
  FunctionRunner runner([](const json&) { return 1; });
  pthread_attr_t before, huge;
  REQUIRE(::pthread_getattr_default_np(&before) == 0);
  ::pthread_attr_init(&huge);
  REQUIRE(::pthread_attr_setstacksize(&huge, std::size_t{1} << 50) == 0);
  REQUIRE(::pthread_setattr_default_np(&huge) == 0);
  const auto refused = runner.train();
  REQUIRE(::pthread_setattr_default_np(&before) == 0);
  ::pthread_attr_destroy(&huge);
  ::pthread_attr_destroy(&before);
  CHECK_THAT(refused.error().message, Contains("cannot start a thread"));
  CHECK(runner.train().value().at("_metric") == 1);
}

TEST_CASE("patience has no end") {
  std::promise<void> release;
  std::promise<void> ending;
  FunctionRunner runner(
      [&](const json&, StatusReporter& reporter) {
        try {
          reporter(1);
        } catch (const TrialStopped&) {
          ending.set_value();
          release.get_future().wait();
        }
      },
      {.patience = std::chrono::duration<double>(GENERATE(HUGE_VAL, 1e10))});
  REQUIRE(runner.train());
  const std::jthread releasing([&] {
    ending.get_future().wait();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();  // a stop that does not wait shows
    release.set_value();
  });
  CHECK(runner.stop());
}

}  // namespace attune::function_endings_test
