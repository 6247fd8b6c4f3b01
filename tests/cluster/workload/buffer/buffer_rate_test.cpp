// Who waits for whom.
#include <catch2/catch.hpp>

#include "tests/cluster/workload/buffer/buffer_helpers.h"

namespace attune::buffer_rate_test {

TEST_CASE("buffer: batches wait for enough items") {
  Buffer buffer = buffer_of(R"({"policy": "uniform", "batch": 4, "min_items": 6})");
  push(buffer, 5);
  CHECK(sample_answer(buffer, 1) == BufferAnswer::few);
  push(buffer, 1);
  CHECK(sample_answer(buffer, 4) == BufferAnswer::ok);
  Buffer ratio = buffer_of(R"({"policy": "prioritised", "batch": 4, "min_ratio": 2.5})");
  push(ratio, 9);
  CHECK(sample_answer(ratio, 4) == BufferAnswer::few);
  CHECK(sample_answer(ratio, 3) == BufferAnswer::ok);
  push(ratio, 1);
  CHECK(sample_answer(ratio, 4) == BufferAnswer::ok);
  Buffer repeated = buffer_of(
      R"({"policy": "uniform", "replace": true, "batch": 4, "min_ratio": 0, "max_use": 3})");
  CHECK(sample_answer(repeated, 1) == BufferAnswer::few);
  push(repeated, 1);
  CHECK(sample_answer(repeated, 4) == BufferAnswer::few);  // there are three uses
  CHECK(sample_answer(repeated, 3) == BufferAnswer::ok);
  CHECK(repeated.stats().size == 0);
}

TEST_CASE("buffer: batches are from 1 to the largest that was agreed") {
  Buffer buffer = buffer_of(R"({"policy": "fifo", "batch": 4})");
  CHECK_FALSE(buffer.sample(0));
  CHECK_FALSE(buffer.sample(5));
}

TEST_CASE("buffer: the consumer waits when samples per push would exceed max") {
  Buffer buffer = buffer_of(R"({"policy": "uniform", "batch": 4, "rate_limit": {"max": 2}})");
  push(buffer, 6);
  for (int i = 0; i < 3; ++i) drawn(buffer, 4);
  const json before = buffer.save();
  CHECK(sample_answer(buffer, 1) == BufferAnswer::rate);
  CHECK(buffer.save() == before);
  CHECK(buffer.stats().sample == BufferAnswer::rate);
  push(buffer, 1);
  CHECK(sample_answer(buffer, 4) == BufferAnswer::rate);
  CHECK(sample_answer(buffer, 2) == BufferAnswer::ok);
}

TEST_CASE("buffer: the producer waits when samples per push would fall below min") {
  Buffer buffer = buffer_of(R"({"policy": "uniform", "batch": 4, "rate_limit": {"min": 0.5}})");
  // Free until a batch could be sampled.
  const Pushed pushed = push(buffer, 10);
  CHECK(pushed.answer == BufferAnswer::rate);
  CHECK(pushed.taken == 4);
  CHECK(buffer.stats().push == BufferAnswer::rate);
  drawn(buffer, 3);
  CHECK(push(buffer, 10).taken == 2);
  CHECK(buffer.stats().pushed == 6);
}

TEST_CASE("buffer: the rate limit never blocks producers of a buffer that ran empty") {
  // Everything went stale unused, so that the ratio is far too low for ever.
  Buffer buffer = buffer_of(
      R"({"policy": "fifo", "capacity": 50, "batch": 4, "max_staleness": 0, "rate_limit": {"min": 1}})");
  for (std::int64_t iteration = 0; iteration < 20; ++iteration) {
    buffer.advance(iteration);
    std::vector<BufferItem> items = items_of(3);
    for (BufferItem& item : items) item.collect_iter = iteration;
    REQUIRE(push(buffer, items).taken == 3);
  }
}

TEST_CASE("buffer: a window forgets what was long ago") {
  const auto limited = [](const std::string& window) {
    Buffer buffer = buffer_of(R"({"policy": "uniform", "capacity": 100, "batch": 10,
                                  "rate_limit": {"max": 1)" +
                              window + "}}");
    for (int i = 0; i < 100; ++i) push(buffer, 100);  // the learner was away
    int batches = 0;
    while (sample_answer(buffer, 10) == BufferAnswer::ok) ++batches;
    return batches;
  };
  CHECK(limited("") == 1000);
  CHECK(limited(R"(, "window": 200)") == 19);  // nearly 200 pushes count
}

TEST_CASE("rate limit: a window decays both counts with each push") {
  RateLimit limit(RateLimits{.window = 4});
  limit.pushed();
  limit.sampled(8);
  limit.pushed();
  CHECK(limit.counts().pushed == 1.75);
  CHECK(limit.counts().sampled == 6);
  limit.pushed();
  CHECK(limit.counts().pushed == 2.3125);
  CHECK(limit.counts().sampled == 4.5);
  RateLimit all(RateLimits{});
  CHECK(all.may_sample(1000));  // without limits nobody waits
  CHECK(all.may_push());
  for (int i = 0; i < 5; ++i) all.pushed();
  CHECK(all.counts().pushed == 5);
}

}  // namespace attune::buffer_rate_test
