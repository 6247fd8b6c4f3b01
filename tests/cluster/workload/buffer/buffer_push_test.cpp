// What gets into a buffer, and leaves it.
#include <catch2/catch.hpp>

#include <limits>

#include "tests/cluster/workload/buffer/buffer_helpers.h"

namespace attune::buffer_push_test {

TEST_CASE("buffer: fifo gives each item once in the order of arrival") {
  Buffer buffer = buffer_of(R"({"policy": "fifo", "capacity": 10})");
  CHECK(push(buffer, 5).taken == 5);
  CHECK(push(buffer, 2, "q").taken == 2);
  const auto batch = drawn(buffer, 4);
  CHECK(ids_of(batch) == std::vector<ItemId>{1, 2, 3, 4});
  CHECK(batch[1].meta == "m1");
  CHECK(ids_of(drawn(buffer, 3)) == std::vector<ItemId>{5, 6, 7});
  CHECK(sample_answer(buffer, 1) == BufferAnswer::few);
  CHECK(buffer.stats().used_up == 7);
}

TEST_CASE("buffer: a full fifo lets the producer wait and drops nothing") {
  Buffer buffer = buffer_of(R"({"policy": "fifo", "capacity": 3})");
  const Pushed pushed = push(buffer, 5);
  CHECK(pushed.answer == BufferAnswer::full);
  CHECK(pushed.taken == 3);
  CHECK(buffer.taken_of("p") == 3);
  CHECK(buffer.stats().push == BufferAnswer::full);
  const json before = buffer.save();
  CHECK(push(buffer, 1, "q").taken == 0);
  CHECK(buffer.save() == before);
  drawn(buffer, 2);
  const auto items = items_of(5);
  const auto rest = buffer.push("p", 4, std::span(items).subspan(3));
  REQUIRE(rest);
  CHECK(rest->answer == BufferAnswer::ok);
  CHECK(ids_of(drawn(buffer, 3)) == std::vector<ItemId>{3, 4, 5});
}

TEST_CASE("buffer: a resend is taken once") {
  const auto kind = GENERATE("fifo", "uniform", "prioritised");
  Buffer buffer = buffer_of(std::string(R"({"policy": ")") + kind + R"(", "capacity": 4})");
  const auto items = items_of(6);
  REQUIRE(buffer.push("p", 1, std::span(items).first(3)));
  const json before = buffer.save();
  const auto again = buffer.push("p", 1, std::span(items).first(3));
  REQUIRE(again);
  CHECK(again->taken == 3);
  CHECK(again->answer == BufferAnswer::ok);
  CHECK(buffer.save() == before);
  // Overlapping: only the new one comes in.
  CHECK(buffer.push("p", 2, std::span(items).subspan(1, 3))->taken == 3);
  CHECK(buffer.stats().pushed == 4);
  CHECK(buffer.stats().size == 4);
  // Known ones are acknowledged though there is no room.
  CHECK(buffer.push("p", 1, std::span(items).first(4))->taken == 4);
  // Another producer counts for itself, and so does one that was forgotten.
  if (buffer.policy().kind != BufferKind::fifo) {
    CHECK(buffer.push("q", 1, std::span(items).first(1))->taken == 1);
    CHECK(buffer.stats().pushed == 5);
    CHECK(buffer.stats().producers == 2);
    buffer.forget("p");
    CHECK(buffer.taken_of("p") == 0);
    CHECK(buffer.stats().producers == 1);
  }
}

TEST_CASE("buffer: the oldest item goes when a ring is full") {
  const auto kind = GENERATE("uniform", "prioritised");
  Buffer buffer = buffer_of(std::string(R"({"policy": ")") + kind + R"(", "capacity": 4})");
  push(buffer, 7);
  CHECK(buffer.stats().replaced == 3);
  std::vector<bool> seen(8, false);
  for (int i = 0; i < 100; ++i) {
    for (const ItemId id : ids_of(drawn(buffer, 4))) seen.at(id) = true;
  }
  CHECK(seen == std::vector<bool>{false, false, false, false, true, true, true, true});
}

TEST_CASE("buffer: an item leaves after its last use and no update brings it back") {
  const auto kind = GENERATE(R"("uniform")", R"("uniform", "replace": true)", R"("prioritised")");
  Buffer buffer = buffer_of(std::string(R"({"policy": )") + kind +
                            R"(, "capacity": 8, "max_use": 2, "batch": 4})");
  push(buffer, 8);
  std::vector<int> uses(9, 0);
  const std::vector<ItemId> all = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> high(8, 1000.0);
  for (int i = 0; buffer.sample_answer(4) == BufferAnswer::ok; ++i) {
    REQUIRE(i < 4);
    for (const ItemId id : ids_of(drawn(buffer, 4))) ++uses.at(id);
    REQUIRE(buffer.update(all, high));
  }
  for (const int each : uses) CHECK(each <= 2);
  CHECK(buffer.stats().size + buffer.stats().used_up == 8);
  CHECK(buffer.stats().used_up > 0);
}

TEST_CASE("buffer: stale items leave in whatever order they came") {
  Buffer buffer = buffer_of(R"({"policy": "fifo", "capacity": 20, "max_staleness": 5})");
  std::vector<BufferItem> items = items_of(6);
  const std::vector<std::int64_t> iterations = {7, 3, 9, 4, 8};  // the last has none
  for (std::size_t i = 0; i < iterations.size(); ++i) items[i].collect_iter = iterations[i];
  push(buffer, items);
  CHECK(buffer.advance(9) == 1);   // 3 is 6 behind, and not the oldest item
  CHECK(buffer.advance(8) == 0);   // time does not go back
  CHECK(buffer.advance(10) == 1);  // 4
  CHECK(buffer.advance(10) == 0);
  std::vector<BufferItem> late = items_of(2);
  late[0].collect_iter = 4;  // is too old on arrival
  late[1].collect_iter = 5;  // is just not
  CHECK(push(buffer, late, "q").taken == 2);
  CHECK(buffer.taken_of("q") == 2);
  CHECK(ids_of(drawn(buffer, 5)) == std::vector<ItemId>{1, 3, 5, 6, 7});
  const BufferStats stats = buffer.stats();
  CHECK(stats.stale == 3);
  CHECK(stats.pushed == 8);
}

TEST_CASE("buffer: closes once") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "batch": 2})");
  push(buffer, 5);
  CHECK(buffer.close());
  CHECK_FALSE(buffer.close());
  CHECK(push(buffer, 1).answer == BufferAnswer::closed);
  CHECK(push(buffer, 1).taken == 0);
  CHECK(sample_answer(buffer, 1) == BufferAnswer::closed);
  const std::vector<ItemId> ids = {1};
  const std::vector<double> priorities = {1};
  CHECK(buffer.update(ids, priorities) == 0);
  CHECK(buffer.advance(3) == 0);
  CHECK(buffer.stats().discarded == 5);
  CHECK(buffer.stats().push == BufferAnswer::closed);
  CHECK(buffer.stats().sample == BufferAnswer::closed);
  CHECK(buffer.stats().size == 0);
}

TEST_CASE("buffer: what is wrong with an item is said and nothing is taken") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised"})");
  auto items = items_of(3);
  const int which = GENERATE(0, 1, 2, 3, 4, 5, 6);
  CAPTURE(which);
  if (which == 0) items[2].priority = std::numeric_limits<double>::quiet_NaN();
  if (which == 1) items[2].priority = -1e-9;
  if (which == 2) items[2].priority = std::numeric_limits<double>::infinity();
  if (which == 3) items[2].priority = 1e200;
  if (which == 4) items[2].collect_iter = -1;
  if (which == 5) items[2].meta = std::string(kMostMetaBytes + 1, 'x');
  if (which == 6) items[2].meta = "\xff";
  const json before = buffer.save();
  const auto pushed = buffer.push("p", 1, items);
  REQUIRE_FALSE(pushed);
  CHECK(pushed.error().message.find("item 3") != std::string::npos);
  CHECK(buffer.save() == before);
}

TEST_CASE("buffer: numbers of items are from 1 to 2^53") {
  Buffer buffer = buffer_of(R"({"policy": "fifo"})");
  const auto items = items_of(2);
  CHECK_FALSE(buffer.push("p", 0, items));
  CHECK_FALSE(buffer.push("p", -5, items));
  CHECK_FALSE(buffer.push("p", std::numeric_limits<std::int64_t>::max(), items));
  CHECK(buffer.push("p", kMostWhole - 2, items));
  CHECK(buffer.stats().pushed == 2);
}

TEST_CASE("buffer: priorities are updated by id and refused when they are none") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "capacity": 3})");
  push(buffer, 5);  // 3, 4 and 5 are there
  const json before = buffer.save();
  const std::vector<ItemId> ids = {1, 4, 4, 99};
  CHECK_FALSE(buffer.update(ids, std::vector<double>{1, 1, 1}));
  CHECK_FALSE(buffer.update(ids, std::vector<double>{1, 1, 1, std::nan("")}));
  CHECK_FALSE(buffer.update(ids, std::vector<double>{1, 1, -1, 1}));
  CHECK_FALSE(buffer.update(ids, std::vector<double>{1, INFINITY, 1, 1}));
  CHECK(buffer.save() == before);
  CHECK(buffer.update(ids, std::vector<double>{5, 7, 8, 9}) == 2);
  // Uniform ones have none, and say nothing.
  Buffer uniform = buffer_of(R"({"policy": "uniform"})");
  push(uniform, 5);
  const json same = uniform.save();
  CHECK(uniform.update(ids, std::vector<double>{5, 7, 8, 9}) == 0);
  CHECK(uniform.save() == same);
}

}  // namespace attune::buffer_push_test
