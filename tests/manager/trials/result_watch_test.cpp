#include "manager/trials/result_watch.h"

#include <catch2/catch.hpp>
#include <limits>

namespace attune::result_watch_test {

using Catch::Matchers::Contains;

TrialRecord with_result(json value) {
  TrialRecord trial;
  trial.status = TrialStatus::succeeded;
  trial.final_metric = std::move(value);
  return trial;
}

TEST_CASE("result watch: a trial without a word of the objective is silent") {
  ResultWatch watch({{.metric = "loss"}}, "in a file");
  CHECK_FALSE(watch.take(with_result({{"error", 0.5}})));
  CHECK(watch.silent() == 1);
  CHECK_FALSE(watch.any_result());
  CHECK_THAT(watch.wanted_result(), Contains("finite \"loss\"") && Contains("in a file") &&
                                        Contains("write `objectives: [{metric: error}]`"));
}

TEST_CASE("result watch: a number that is not finite is a bad configuration, not a bad program") {
  ResultWatch watch({{.metric = "loss"}}, "in a file");
  CHECK_FALSE(watch.take(with_result({{"loss", std::numeric_limits<double>::quiet_NaN()}})));
  CHECK(watch.silent() == 0);
  CHECK_FALSE(watch.any_result());
}

TEST_CASE("result watch: a result says how good it is, minimised") {
  ResultWatch watch({{.metric = "accuracy", .maximize = true}}, "in a file");
  const auto standing = watch.take(with_result({{"accuracy", 0.75}}));
  REQUIRE(standing);
  CHECK(standing->values == std::vector<double>{-0.75});
  CHECK(watch.any_result());
}

TEST_CASE("result watch: results of earlier sessions count") {
  ResultWatch watch({Objective{}}, "in a file");
  watch.restore(3);
  CHECK(watch.any_result());
}

}  // namespace attune::result_watch_test
