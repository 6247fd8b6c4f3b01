#include "base/queue.h"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace attune {
namespace {

TEST_CASE("first in, first out") {
  BoundedQueue<int> queue(1000);
  for (int i = 0; i < 5; ++i) REQUIRE(queue.push(i, 10));
  CHECK(queue.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(queue.pop() == i);
  CHECK_FALSE(queue.try_pop());
}

TEST_CASE("the bound is in bytes; an empty queue takes anything") {
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
  SECTION("close_and_discard") {
    queue.close_and_discard();
    CHECK_FALSE(queue.pop());
  }
  SECTION("a waiting producer and a waiting consumer are released") {
    BoundedQueue<int> full(1);
    full.push(1, 1);
    BoundedQueue<int> empty(1);
    std::thread producer([&] { CHECK_FALSE(full.push(2, 1)); });
    std::thread consumer([&] { CHECK_FALSE(empty.pop()); });
    full.close();
    empty.close();
    producer.join();
    consumer.join();
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

}  // namespace
}  // namespace attune
