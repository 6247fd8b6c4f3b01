// States and records that no buffer of ours wrote.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/saved_numbers.h"
#include "cluster/workload/buffer/buffer_record.h"
#include "tests/cluster/workload/buffer/buffer_helpers.h"

namespace attune::buffer_state_test {

const std::string kSettings =
    R"({"policy": "prioritised", "capacity": 5, "batch": 2, "max_use": 3, "max_staleness": 4})";

Buffer lived_in() {
  Buffer buffer = buffer_of(kSettings);
  std::vector<BufferItem> items = items_of(4);
  items[1].collect_iter = 2;
  items[2].priority = 7;
  push(buffer, items);
  buffer.advance(5);
  REQUIRE(buffer.give("c", 2, 2) == BufferAnswer::ok);
  return buffer;
}

json packed(const std::vector<double>& numbers) { return save_numbers(numbers); }

TEST_CASE("buffer: a state that was tampered with is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const json state = lived_in().save();
  REQUIRE(Buffer::load(policy_of(kSettings), state));
  const auto [key, value] = GENERATE_COPY(table<std::string, json>({
      {"rng", json(3)},
      {"closed", json(0)},
      {"closed", json(true)},  // with items
      {"iteration", json(-1)},
      {"iteration", json("x")},
      {"iteration", json(7)},  // an item would be stale
      {"next_id", json(4)},    // an id is not below
      {"next_id", json(1000)},
      {"next_id", json(-1)},
      {"largest", packed({nan})},
      {"largest", packed({0.5})},
      {"largest", packed({1e300})},
      {"largest", packed({})},
      {"counts", packed({4, 2, 1, 0, 0, 0})},
      {"counts", packed({5, 2, 1, 0, 0, 0, 0})},  // they do not add up
      {"counts", packed({4, 2, 1, 0, 0, 0, nan})},
      {"counts", packed({4, 1, 1, 0, 0, 0, 0})},  // fewer than the uses
      {"counts", packed({4, 2, 3, 0, 0, 0, 0})},
      {"counts", packed({4, 2.5, 1, 0, 0, 0, 0})},
      {"rate", packed({-1, 0})},
      {"rate", packed({1})},
      {"rate", packed({nan, 0})},
      {"producers", json::array({1})},
      {"producers", json::array({"p", "q"})},
      {"producers", json("p")},
      {"taken", packed({0})},
      {"taken", packed({1.5})},
      {"taken", packed({1e300})},
      {"ids", packed({1, 2, 3})},
      {"ids", packed({1, 2, 3, 3})},
      {"ids", packed({0, 1, 2, 3})},
      {"ids", packed({1, 2, 3, 5})},
      {"ids", packed({1, 2, 3, nan})},
      {"ids", json("?")},
      {"uses", packed({3, 0, 0, 0})},
      {"uses", packed({-1, 0, 0, 0})},
      {"uses", packed({0, 0, 0, 0, 0})},
      {"collect_iters", packed({nan, 0, nan, nan})},  // stale
      {"collect_iters", packed({nan, -1, nan, nan})},
      {"collect_iters", packed({nan, 2.5, nan, nan})},
      {"collect_iters", packed({nan, INFINITY, nan, nan})},
      {"weights", packed({0, 1, 1, 1})},
      {"weights", packed({-1, 1, 1, 1})},
      {"weights", packed({nan, 1, 1, 1})},
      {"weights", packed({INFINITY, 1, 1, 1})},
      {"metas", json::array({"a", "b", "c", 4})},
      {"metas", json::array({"a", "b", "c"})},
      {"metas", json::array({"a", "b", "c", std::string(kMostMetaBytes + 1, 'x')})},
      {"given", json("?")},
      {"given", json::array({3})},
  }));
  CAPTURE(key, dump_json(value));
  json tampered = state;
  tampered[key] = value;
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));
  tampered.erase(key);
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));
}

TEST_CASE("buffer: a last batch that was tampered with is refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const json state = lived_in().save();
  REQUIRE(state["given"].size() == 1);
  const auto [key, value] = GENERATE_COPY(table<std::string, json>({
      {"consumer", json(3)},
      {"number", json(0)},
      {"number", json(1.5)},
      {"number", json(9'007'199'254'740'993)},
      {"ids", packed({})},
      {"ids", packed({1})},
      {"ids", packed({1, 5})},
      {"ids", packed({0, 1})},
      {"ids", packed({1, nan})},
      {"ids", packed({1, 2, 3})},
      {"weights", packed({1})},
      {"weights", packed({0, 1})},
      {"weights", packed({1, 1.5})},
      {"weights", packed({nan, 1})},
      {"metas", json::array({"a"})},
      {"metas", json::array({"a", 4})},
      {"metas", json::array({"a", std::string(kMostMetaBytes + 1, 'x')})},
  }));
  CAPTURE(key, dump_json(value));
  json tampered = state;
  tampered["given"][0][key] = value;
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));
  tampered["given"][0].erase(key);
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));
  tampered = state;
  tampered["given"].push_back(state["given"][0]);
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));  // of the same consumer
  tampered["given"][1]["consumer"] = "other";
  CHECK_FALSE(Buffer::load(policy_of(kSettings), tampered));  // more than were given
}

TEST_CASE("buffer: a state of another policy is refused") {
  const json state = lived_in().save();
  CHECK_FALSE(Buffer::load(policy_of(R"({"policy": "uniform"})"), state));
  CHECK_FALSE(Buffer::load(policy_of(R"({"policy": "prioritised", "capacity": 3})"), state));
  for (const char* text : {"3", "null", "[]", "{}", "\"x\""})
    CHECK_FALSE(Buffer::load(policy_of(kSettings), *parse_json(text)));
}

TEST_CASE("buffer: items in any order of ids are loaded") {
  json state = lived_in().save();
  state["ids"] = packed({4, 3, 2, 1});
  auto buffer = Buffer::load(policy_of(kSettings), state);
  REQUIRE(buffer);
  push(*buffer, 2);  // one goes: that of the least id, wherever it stands
  const std::vector<double> ids = numbers_at(buffer->save(), "ids").value();
  CHECK(std::ranges::find(ids, 1.0) == ids.end());
  CHECK(ids.size() == 5);
}

TEST_CASE("buffer: records that do not fit are refused") {
  const auto text = GENERATE(
      R"(3)", R"({})", R"({"call": "pull"})", R"({"call": 3})", R"({"call": "push"})",
      R"({"call": "push", "producer": "p", "first": 1, "items": 3})",
      R"({"call": "push", "producer": "p", "first": 9, "items": [3]})",
      R"({"call": "push", "producer": "p", "first": 9, "items": [{"meta": 3}]})",
      R"({"call": "push", "producer": "p", "first": 9, "items": [{"meta": "", "priority": "x"}]})",
      R"({"call": "push", "producer": "p", "first": 9, "items": [{"meta": "", "priority": -1}]})",
      R"({"call": "push", "producer": "p", "first": 9, "items": [{"meta": "", "collect_iter": 0.5}]})",
      R"({"call": "push", "producer": "p", "first": 0, "items": [{"meta": ""}]})",
      R"({"call": "sample"})", R"({"call": "sample", "n": 1})",
      R"({"call": "sample", "consumer": "c", "number": 3, "n": 0})",
      R"({"call": "sample", "consumer": "c", "number": 3, "n": -1})",
      R"({"call": "sample", "consumer": "c", "number": 3, "n": 3})",
      R"({"call": "sample", "consumer": "c", "number": 2, "n": 1})",
      R"({"call": "sample", "consumer": "d", "number": 0, "n": 1})",
      R"({"call": "sample", "consumer": "c", "number": 9007199254740993, "n": 1})",
      R"({"call": "update"})", R"({"call": "update", "ids": "", "priorities": 3})",
      R"({"call": "update", "ids": "", "priorities": "AAAAAAAA8D8="})",
      R"({"call": "update", "ids": "AAAAAAAA4D8=", "priorities": "AAAAAAAA8D8="})",
      R"({"call": "advance"})", R"({"call": "close"})");
  CAPTURE(text);
  Buffer buffer = lived_in();
  const json before = buffer.save();
  CHECK_FALSE(replay(buffer, *parse_json(text)));
  CHECK(buffer.save() == before);
}

TEST_CASE("buffer: records of calls that would have had to wait are refused") {
  Buffer buffer = buffer_of(R"({"policy": "fifo", "capacity": 2})");
  CHECK_FALSE(replay(buffer, sample_record("c", 1, 1)));
  CHECK_FALSE(replay(buffer, push_record("p", 1, items_of(3))));
  REQUIRE(buffer.close());
  CHECK_FALSE(replay(buffer, push_record("p", 3, items_of(1))));
}

TEST_CASE("buffer: memory is that of what is there") {
  Buffer buffer = buffer_of(R"({"policy": "prioritised", "capacity": 50, "max_use": 3})");
  std::size_t bytes = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string attempt = "task-" + std::to_string(10'000 + i);
    REQUIRE(buffer.push(attempt, 1, items_of(5)));
    if (buffer.sample_answer(4) == BufferAnswer::ok) drawn(buffer, 4);
    buffer.forget(attempt);
    if (i == 100) bytes = dump_json(buffer.save()).size();
  }
  CHECK(dump_json(buffer.save()).size() < bytes + 100);
}

}  // namespace attune::buffer_state_test
