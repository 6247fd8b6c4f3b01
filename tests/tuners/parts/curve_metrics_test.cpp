#include "tuners/parts/curve_metrics.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::curve_metrics_test {

using Numbers = std::vector<double>;

const CurveMetrics kMetrics(
    "epoch", {{"loss", false}, {"bytes", false, 10.0}, {"score", true}, {"speed", true, 3.0}});

TEST_CASE("curve metrics: the losses of the objectives, then the excess over each limit") {
  CHECK(kMetrics.shape().objectives == 2);
  CHECK(kMetrics.shape().limits == 2);
  const auto now = kMetrics(
      Report{0, 0, {{"loss", 0.5}, {"score", 7}, {"epoch", 3}, {"bytes", 12}, {"speed", 3.5}}});
  REQUIRE(now);
  CHECK(now->resource == 3);
  CHECK(now->result == Numbers{0.5, -7, 2, -0.5});
}

TEST_CASE("curve metrics: a report lacks an objective, or a limit") {
  CHECK_FALSE(kMetrics(Report{0, 0, {{"loss", 0.5}, {"epoch", 3}}}));
  CHECK_FALSE(kMetrics(Report{0, 0, {{"loss", 0.5}, {"score", 7}}}));
  const auto now =
      kMetrics(Report{0, 0, {{"loss", NAN}, {"score", 7}, {"epoch", 3}, {"bytes", NAN}}});
  REQUIRE(now);
  CHECK(std::isnan(now->result[0]));
  CHECK(now->result[2] == 0);  // it breaks nothing
  CHECK(now->result[3] == 0);
}

TEST_CASE("curve metrics: an outcome has its first loss beside the metrics") {
  Outcome outcome{.trial = 0, .loss = 0.25, .metrics = {{"score", 7}, {"bytes", 4}}};
  CHECK(kMetrics(outcome) == Numbers{0.25, -7, -6, 0});
  outcome.metrics[0].second = INFINITY;
  CHECK_FALSE(kMetrics(outcome));
  outcome.metrics.clear();
  CHECK_FALSE(kMetrics(outcome));
  outcome.metrics = {{"score", 7}};
  outcome.end = End::failed;
  CHECK_FALSE(kMetrics(outcome));
}

TEST_CASE("curve metrics: results in the words of the user") {
  CHECK(kMetrics.text({0.5, -7, -1, 0}) == "(0.5, 7)");
  CHECK(kMetrics.text({0.5, -7, 2, 0.5}) == "a result over its limits by 2.5");
  CHECK(kMetrics.not_finite_text(3) == "epoch 3: one of the objectives is not finite");
  const CurveMetrics one("step", {{"accuracy", true}, {"bytes", false, 10.0}});
  CHECK(one.text({-0.75, -1}) == "0.75");
  CHECK(one.not_finite_text(2) == "step 2: \"accuracy\" is not finite");
}

}  // namespace attune::curve_metrics_test
