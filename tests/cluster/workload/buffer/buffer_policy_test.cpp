#include "cluster/workload/buffer/buffer_policy.h"

#include <catch2/catch.hpp>

#include "tests/cluster/workload/buffer/buffer_helpers.h"

namespace attune::buffer_policy_test {

TEST_CASE("buffer policy: defaults") {
  const BufferPolicy policy = policy_of(R"({"policy": "prioritised"})");
  CHECK(policy.kind == BufferKind::prioritised);
  CHECK(policy.capacity == 10'000);
  CHECK(policy.batch == 256);
  CHECK(policy.alpha == 0.6);
  CHECK(policy.beta == 0.4);
  CHECK_FALSE(policy.max_use);
  CHECK(policy_of(R"({"policy": "fifo", "capacity": 10})").batch == 10);
  CHECK(policy_of(R"({"policy": "uniform", "capacity": 100, "min_ratio": 4})").batch == 25);
}

TEST_CASE("buffer policy: is read back as it was written") {
  const auto settings = GENERATE(
      R"({"policy": "fifo", "capacity": 7, "rate_limit": {"min": 0.5}})",
      R"({"policy": "uniform", "replace": true, "min_items": 3, "min_ratio": 0.5, "max_use": 2})",
      R"({"policy": "prioritised", "alpha": 0, "beta": 1, "anneal": 5, "max_staleness": 0,
          "batch": 8, "rate_limit": {"min": 1, "max": 4.5, "window": 1000}})");
  const BufferPolicy policy = policy_of(settings);
  const auto again = parse_buffer_policy(*parse_json(dump_json(to_json(policy))));
  REQUIRE(again);
  CHECK(*again == policy);
}

TEST_CASE("buffer policy: what is wrong is said with the name of the setting") {
  const auto [settings, named] = GENERATE(table<std::string, std::string>({
      {R"(7)", "object"},
      {R"({})", "policy"},
      {R"({"policy": "lifo"})", "policy"},
      {R"({"policy": 3})", "policy"},
      {R"({"policy": "uniform", "capacity": 0})", "capacity"},
      {R"({"policy": "uniform", "capacity": 1.5})", "capacity"},
      {R"({"policy": "uniform", "capacity": "many"})", "capacity"},
      {R"({"policy": "uniform", "capacity": 1e300})", "capacity"},
      {R"({"policy": "uniform", "capacity": NaN})", "capacity"},
      {R"({"policy": "uniform", "size": 3})", "size"},
      {R"({"policy": "uniform", "alpha": 0.5})", "alpha"},
      {R"({"policy": "uniform", "replace": 1})", "replace"},
      {R"({"policy": "prioritised", "replace": true})", "replace"},
      {R"({"policy": "fifo", "max_use": 2})", "max_use"},
      {R"({"policy": "uniform", "max_use": 0})", "max_use"},
      {R"({"policy": "uniform", "max_staleness": -1})", "max_staleness"},
      {R"({"policy": "prioritised", "alpha": 1.5})", "alpha"},
      {R"({"policy": "prioritised", "beta": -0.1})", "beta"},
      {R"({"policy": "prioritised", "anneal": 0})", "anneal"},
      {R"({"policy": "uniform", "rate_limit": 3})", "rate_limit"},
      {R"({"policy": "uniform", "rate_limit": {"mean": 3}})", "mean"},
      {R"({"policy": "uniform", "rate_limit": {"max": 0}})", "max"},
      {R"({"policy": "uniform", "rate_limit": {"window": 0}})", "window"},
      {R"({"policy": "uniform", "rate_limit": {"min": 3, "max": 2}})", "min"},
  }));
  const auto policy = parse_buffer_policy(*parse_json(settings));
  INFO(settings);
  REQUIRE_FALSE(policy);
  INFO(policy.error().message);
  CHECK(policy.error().message.find(named) != std::string::npos);
}

TEST_CASE("buffer policy: settings under which somebody would wait for ever are refused") {
  const auto [settings, named] = GENERATE(table<std::string, std::string>({
      {R"({"policy": "uniform", "capacity": 10, "batch": 11})", "batch"},
      {R"({"policy": "fifo", "capacity": 10, "min_items": 11})", "min_items"},
      {R"({"policy": "uniform", "capacity": 10, "batch": 5, "min_ratio": 2.1})", "min_ratio"},
      {R"({"policy": "fifo", "rate_limit": {"max": 0.5}})", "max"},
      {R"({"policy": "uniform", "batch": 64, "rate_limit": {"max": 2, "window": 63}})", "window"},
      {R"({"policy": "uniform", "max_use": 2, "rate_limit": {"min": 2.5}})", "min"},
      {R"({"policy": "fifo", "rate_limit": {"min": 1.5}})", "min"},
  }));
  const auto policy = parse_buffer_policy(*parse_json(settings));
  INFO(settings);
  REQUIRE_FALSE(policy);
  CHECK(policy.error().message.find(named) != std::string::npos);
  CHECK(parse_buffer_policy(*parse_json(
      R"({"policy": "uniform", "batch": 64, "rate_limit": {"max": 2, "window": 64}})")));
}

}  // namespace attune::buffer_policy_test
