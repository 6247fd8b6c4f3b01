#include "base/queue.h"

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace attune::queue_test {

TEST_CASE("first in, first out") {
  BoundedQueue<int> queue(1000);
  for (int i = 0; i < 5; ++i) REQUIRE(queue.push(i, 10));
  CHECK(queue.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(queue.pop() == i);
  CHECK_FALSE(queue.try_pop());
}

TEST_CASE("the bound is in bytes, an empty queue takes anything") {
  BoundedQueue<std::unique_ptr<int>> queue(100);
  auto large = std::make_unique<int>(1);
  CHECK(queue.try_push(large, 5000));
  auto refused = std::make_unique<int>(2);
  CHECK_FALSE(queue.try_push(refused, 1));
  REQUIRE(refused);
  CHECK(queue.push_over_limit(std::move(refused), 1));
  CHECK(**queue.pop() == 1);
  CHECK(**queue.pop() == 2);
}

TEST_CASE("room is announced once, when half of it is free") {
  int announced = 0;
  BoundedQueue<int> queue(100, [&] { ++announced; });
  for (int i = 0; i < 10; ++i) REQUIRE(queue.try_push(i, 10));
  int refused = 10;
  CHECK_FALSE(queue.try_push(refused, 10));
  for (int i = 0; i < 4; ++i) queue.pop();
  CHECK(announced == 0);
  for (int i = 0; i < 4; ++i) queue.pop();
  CHECK(announced == 1);
}

TEST_CASE("a message that overtakes shows what it has overtaken") {
  BoundedQueue<int> queue(1000);
  for (int i = 0; i < 3; ++i) REQUIRE(queue.push(i, 10u + static_cast<std::size_t>(i)));
  std::vector<std::pair<int, std::size_t>> overtaken;
  CHECK(queue.push_first(
      7, 10, [&](int message, std::size_t bytes) { overtaken.emplace_back(message, bytes); }));
  CHECK(overtaken == std::vector<std::pair<int, std::size_t>>{{0, 10}, {1, 11}, {2, 12}});
  for (const int next : {7, 0, 1, 2}) CHECK(queue.pop() == next);
  queue.close();
  CHECK_FALSE(queue.push_first(8, 10, [](int, std::size_t) { FAIL("nobody waits"); }));
}

TEST_CASE("a large message is popped part by part, and counts until its last part") {
  BoundedQueue<int> queue(100, {}, [](int& message) -> std::optional<int> {
    if (message <= 10) return std::nullopt;
    message -= 10;
    return 10;
  });
  REQUIRE(queue.push(25, 100));
  CHECK(queue.pop() == 10);
  queue.push_first(1, 1, [](int rest, std::size_t bytes) {
    CHECK(rest == 15);
    CHECK(bytes == 100);
  });
  int refused = 3;
  CHECK_FALSE(queue.try_push(refused, 1));
  for (const int next : {1, 10, 5}) CHECK(queue.pop() == next);
  CHECK(queue.try_push(refused, 1));
}

TEST_CASE("closing: what is left is drained or discarded, nobody waits for ever") {
  BoundedQueue<int> queue(100);
  queue.push(1, 1);
  SECTION("close") {
    queue.close();
    CHECK(queue.pop() == 1);
    CHECK_FALSE(queue.pop());
    CHECK_FALSE(queue.push(2, 1));
    CHECK_FALSE(queue.push_over_limit(2, 1));
  }
  SECTION("erase some, then close") {
    queue.push(2, 99);
    queue.erase_if([](int message) { return message == 1; });
    queue.close();
    CHECK(queue.pop() == 2);
    CHECK_FALSE(queue.pop());
  }
  SECTION("a waiting producer and a waiting consumer are released") {
    BoundedQueue<int> full(1);
    full.push(1, 1);
    BoundedQueue<int> empty(1);
    // Results come back through futures: Catch2 2 asserts on one thread only.
    auto pushed = std::async(std::launch::async, [&] { return full.push(2, 1); });
    auto popped = std::async(std::launch::async, [&] { return empty.pop(); });
    full.close();
    empty.close();
    CHECK_FALSE(pushed.get());
    CHECK_FALSE(popped.get());
  }
}

TEST_CASE("two stages, blocking both ways: nothing is lost or reordered") {
  BoundedQueue<int> first(64), second(64);
  constexpr int kItems = 20'000;
  std::thread source([&] {
    for (int i = 0; i < kItems; ++i) first.push(i, 8);
    first.close();
  });
  std::thread stage([&] {
    while (auto item = first.pop()) second.push(*item, 8);
    second.close();
  });
  int expected = 0;
  bool ordered = true;
  while (auto item = second.pop()) ordered &= *item == expected++;
  source.join();
  stage.join();
  CHECK(ordered);
  CHECK(expected == kItems);
}

TEST_CASE(
    "four producers, two consumers: nothing is lost, doubled, or out of its producer's order") {
  constexpr int kProducers = 4, kMessages = 5000, kAll = kProducers * kMessages;
  BoundedQueue<int> queue(16);
  std::vector<std::jthread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&queue, p] {
      for (int i = 0; i < kMessages; ++i) queue.push(p * kMessages + i, 1 + i % 20);
    });
  }
  const auto consume = [&queue] {
    std::vector<int> taken;
    while (const auto message = queue.pop()) taken.push_back(*message);
    return taken;
  };
  auto first = std::async(std::launch::async, consume);
  auto second = std::async(std::launch::async, consume);
  producers.clear();  // joins
  queue.close();

  std::vector<int> count(kAll);
  for (auto* consumer : {&first, &second}) {
    std::vector<int> last(kProducers, -1);
    for (const int message : consumer->get()) {
      ++count[static_cast<std::size_t>(message)];
      int& previous = last[static_cast<std::size_t>(message / kMessages)];
      REQUIRE(message > previous);
      previous = message;
    }
  }
  CHECK(count == std::vector<int>(kAll, 1));
}

}  // namespace attune::queue_test
