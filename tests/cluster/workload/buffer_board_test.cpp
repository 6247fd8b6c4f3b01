// What programs say to the buffers of the tasks, and who waits there, without sockets and disk.
#include "cluster/workload/buffer_board.h"

#include <catch2/catch.hpp>

#include "wire/json_frames.h"

namespace attune::buffer_board_test {

using Session = BufferSession;

// A task `t` that runs and owns the buffer `b`, and one `u` that uses it.
struct Buffers {
  explicit Buffers(const std::string& settings) {
    owner.spec.id = "t";
    owner.spec.owns = {{"b", settings}};
    user.spec.id = "u";
    user.spec.uses = {"b"};
    board.hear({.edge = Edge::created}, &owner);
  }
  Result<void> push(std::int64_t first, int count, Session session = 1, json item = {{"meta", "m"}},
                    const Task* who = nullptr) {
    json items = json::array();
    for (int i = 0; i < count; ++i) items.push_back(item);
    return board.hear(session, who != nullptr ? *who : owner,
                      {{"type", "push"}, {"buffer", "b"}, {"seq", first}, {"items", items}});
  }
  Result<void> sample(std::int64_t number, std::size_t size, Session session, const Task& who,
                      std::size_t from = 0) {
    return board.hear(
        session, who,
        {{"type", "sample"}, {"buffer", "b"}, {"seq", number}, {"size", size}, {"from", from}});
  }
  Result<void> say(const json& message) { return board.hear(1, owner, message); }
  // To a session, in the order in which it was said.
  std::vector<json> heard(Session session) const {
    std::vector<json> messages;
    for (const auto& [to, message] : said) {
      if (to == session) messages.push_back(message);
    }
    return messages;
  }
  // What a coordinator that reads the journal has.
  json replayed() const {
    Buffers next(owner.spec.owns[0].settings);
    for (const json& record : records) REQUIRE(next.board.replay(*parse_json(dump_json(record))));
    return next.board.save();
  }

  Task owner, user;
  std::vector<json> records;
  std::vector<std::pair<Session, json>> said;
  BufferBoard board{1,
                    {[this](const json& record) { records.push_back(record); },
                     [this](Session to, const json& message) { said.emplace_back(to, message); }}};
};

std::vector<std::string> metas(const json& batch) {
  std::vector<std::string> texts;
  for (const json& item : batch["items"]) texts.push_back(item["meta"]);
  return texts;
}

TEST_CASE("buffers: numbers that cannot be are an error for whoever says them") {
  Buffers b(R"({"policy": "fifo", "max_staleness": 3})");
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  CHECK_FALSE(b.push(kMost, 1));
  CHECK_FALSE(b.push(kMost - 2, 3));
  CHECK_FALSE(b.push(0, 1));
  CHECK_FALSE(b.push(1, 0));
  CHECK_FALSE(b.push(1, 1, 1, {{"meta", "m"}, {"collect_iter", kMost + 1}}));
  CHECK_FALSE(b.push(1, 1, 1, {{"meta", std::string(kMostMetaBytes + 1, 'x')}}));
  CHECK_FALSE(b.sample(kMost + 1, 1, 1, b.owner));
  CHECK_FALSE(b.sample(0, 1, 1, b.owner));
  CHECK_FALSE(b.sample(1, 0, 1, b.owner));
  CHECK_FALSE(b.sample(1, 257, 1, b.owner));
  CHECK_FALSE(b.sample(1, 4, 1, b.owner, 4));
  CHECK_FALSE(b.say({{"type", "advance"}, {"buffer", "b"}, {"iteration", -1}}));
  CHECK(b.records.empty());
  CHECK(b.push(kMost - 1, 1));
  CHECK(b.say({{"type", "advance"}, {"buffer", "b"}, {"iteration", INT64_MAX}}));
  CHECK(dump_json(b.replayed()) == dump_json(b.board.save()));
}

TEST_CASE("buffers: a push that has to wait is taken piece by piece") {
  Buffers b(R"({"policy": "fifo", "capacity": 2, "batch": 1})");
  json items = json::array();
  for (int i = 0; i < 5; ++i) items.push_back({{"meta", std::to_string(i)}});
  REQUIRE(b.say({{"type", "push"}, {"buffer", "b"}, {"seq", 11}, {"items", items}}));
  for (int i = 0; i < 5; ++i) {
    CHECK(b.heard(1).empty() == (i < 3));
    REQUIRE(b.sample(i + 1, 1, 2, b.user));
    CHECK(metas(b.heard(2).back()) == std::vector{std::to_string(i)});
  }
  CHECK(b.heard(1) == std::vector<json>{{{"type", "pushed"}, {"buffer", "b"}, {"seq", 15}}});
  CHECK(dump_json(b.replayed()) == dump_json(b.board.save()));
}

TEST_CASE("buffers: stale items behind one that waits are taken") {
  Buffers b(R"({"policy": "fifo", "capacity": 1, "batch": 1, "max_staleness": 1})");
  REQUIRE(b.push(1, 3, 1));
  REQUIRE(b.push(1, 1, 2, {{"meta", "m"}, {"collect_iter", 4}}, &b.user));
  CHECK(b.heard(2).empty());
  REQUIRE(b.board.hear(3, b.user, {{"type", "advance"}, {"buffer", "b"}, {"iteration", 6}}));
  CHECK(b.heard(1).empty());
  CHECK(b.heard(2).size() == 1);
}

TEST_CASE("buffers: a large sample is not kept waiting by small ones") {
  Buffers b(R"({"policy": "fifo", "capacity": 100, "batch": 4})");
  REQUIRE(b.sample(1, 4, 50, b.owner));
  for (int i = 1; i <= 4; ++i) {
    Task small = b.user;
    small.attempt = i;
    REQUIRE(b.sample(1, 1, 100 + i, small));
    REQUIRE(b.push(i, 1));
    CHECK(b.heard(50).size() == (i == 4 ? 1 : 0));
    CHECK(b.heard(100 + i).empty());
  }
  REQUIRE(b.push(5, 4));
  for (int i = 1; i <= 4; ++i) CHECK(b.heard(100 + i).size() == 1);
  SECTION("and when it leaves they go on") {
    REQUIRE(b.sample(2, 4, 50, b.owner));
    REQUIRE(b.sample(1, 1, 60, b.user));
    REQUIRE(b.push(9, 1));
    CHECK(b.heard(60).empty());
    b.board.gone(50);
    CHECK(b.heard(60).size() == 1);
  }
}

TEST_CASE("buffers: what changes nothing is no record") {
  const std::string settings = GENERATE(R"({"policy": "uniform"})", R"({"policy": "prioritised"})",
                                        R"({"policy": "prioritised", "max_staleness": 3})");
  Buffers b(settings);
  REQUIRE(b.push(1, 1));
  const auto records_of = [&](const json& message) {
    b.records.clear();
    const std::string before = dump_json(b.board.save());
    REQUIRE(b.say(message));
    CHECK(b.records.empty() == (dump_json(b.board.save()) == before));
    return b.records.size();
  };
  const bool weighs = settings.find("prioritised") != std::string::npos;
  const bool ages = settings.find("max_staleness") != std::string::npos;
  const auto update = [](unsigned id) -> json {
    return {{"type", "update"}, {"buffer", "b"}, {"ids", {id}}, {"priorities", {7}}};
  };
  const auto advance = [](int iteration) -> json {
    return {{"type", "advance"}, {"buffer", "b"}, {"iteration", iteration}};
  };
  CHECK(records_of(update(2U)) == 0);
  CHECK(records_of(update(1U)) == (weighs ? 1 : 0));
  CHECK(records_of(advance(0)) == 0);
  CHECK(records_of(advance(2)) == (ages ? 1 : 0));
  CHECK(records_of(advance(2)) == 0);
  CHECK(records_of(advance(1)) == 0);
}

TEST_CASE("buffers: the last batch of a consumer is given again until the next is asked for") {
  Buffers b(R"({"policy": "fifo", "batch": 2})");
  for (int i = 1; i <= 6; ++i) REQUIRE(b.push(i, 1, 1, {{"meta", std::to_string(i)}}));
  REQUIRE(b.sample(1, 2, 2, b.user));
  b.board.gone(2);
  const std::size_t records = b.records.size();
  REQUIRE(b.sample(1, 2, 3, b.user));
  REQUIRE(b.sample(1, 2, 3, b.user));
  CHECK(b.heard(3) == std::vector(2, b.heard(2).at(0)));
  CHECK(metas(b.heard(3)[0]) == std::vector<std::string>{"1", "2"});
  CHECK(b.heard(3)[0]["seq"] == 1);
  CHECK(b.records.size() == records);
  REQUIRE(b.sample(1, 1, 4, b.owner));  // another consumer has numbers of its own
  CHECK(metas(b.heard(4).at(0)) == std::vector<std::string>{"3"});
  CHECK_FALSE(b.sample(1, 1, 3, b.user));  // not the size that it had
  REQUIRE(b.sample(2, 2, 3, b.user));
  CHECK(metas(b.heard(3).at(2)) == std::vector<std::string>{"4", "5"});
  CHECK_FALSE(b.sample(1, 2, 3, b.user));

  // A later coordinator gives it, too, from its journal or from its snapshot.
  Buffers replayed(b.owner.spec.owns[0].settings), loaded(b.owner.spec.owns[0].settings);
  for (const json& record : b.records) REQUIRE(replayed.board.replay(record));
  REQUIRE(loaded.board.load(b.board.save()));
  for (Buffers* next : {&replayed, &loaded}) {
    REQUIRE(next->sample(2, 2, 3, b.user));
    CHECK(next->heard(3).at(0) == b.heard(3).at(2));
  }
}

TEST_CASE("buffers: the last batch of an attempt goes with it") {
  Buffers b(R"({"policy": "fifo", "batch": 1})");
  const bool own = GENERATE(true, false);
  Task& task = own ? b.owner : b.user;
  REQUIRE(b.push(1, 2));
  REQUIRE(b.sample(1, 1, 2, task));
  REQUIRE(b.board.save()["b"]["state"]["given"].size() == 1);
  task.attempt = 1;
  b.board.hear({.edge = Edge::requeued}, &task);
  CHECK(b.board.save()["b"]["state"]["given"].empty());
  REQUIRE(b.sample(1, 1, 3, task));
  CHECK(b.heard(3).at(0)["items"][0]["id"] == 2);
}

TEST_CASE("buffers: a consumer that comes back takes the place that it had") {
  Buffers b(R"({"policy": "fifo", "batch": 1})");
  REQUIRE(b.sample(1, 1, 2, b.user));
  REQUIRE(b.sample(1, 1, 3, b.owner));
  CHECK_FALSE(b.sample(1, 1, 2, b.user));  // over the same connection
  REQUIRE(b.sample(1, 1, 4, b.user));
  CHECK_FALSE(b.sample(2, 1, 5, b.user));
  b.board.gone(2);
  REQUIRE(b.push(1, 1));
  CHECK(b.heard(2).empty());
  CHECK(b.heard(3).empty());
  CHECK(b.heard(4).size() == 1);
}

TEST_CASE("buffers: an answer fits into a frame and the consumer asks on") {
  const auto [count, meta] = GENERATE(table<int, std::string>({
      {25'000, "m"}, {200, std::string(kMostMetaBytes, '\x01')},  // six times as long in JSON
  }));
  Buffers b(R"({"policy": "fifo", "capacity": 30000, "batch": 30000})");
  REQUIRE(b.push(1, count, 1, {{"meta", meta}}));
  std::size_t from = 0, parts = 0;
  for (; from < static_cast<std::size_t>(count); ++parts) {
    REQUIRE(b.sample(1, static_cast<std::size_t>(count), 2, b.user, from));
    const json part = b.heard(2).back();
    CHECK(encode_json_frame(part));
    CHECK(part["from"] == from);
    REQUIRE(!part["items"].empty());
    for (const json& item : part["items"]) REQUIRE(item["id"] == ++from);
  }
  CHECK(from == static_cast<std::size_t>(count));
  CHECK(parts > 1);
}

TEST_CASE("buffers: a buffer has one owner") {
  Buffers b(R"({"policy": "fifo"})");
  TaskSpec other;
  other.id = "other";
  other.owns = {{"b", R"({"policy": "fifo"})"}};
  CHECK_THAT(b.board.check(other).error().message, Catch::Contains("b: it is that of task t"));
  CHECK(b.board.check(b.owner.spec));
  other.owns = {{"c", R"({"policy": "fifo"})"}, {"c", R"({"policy": "fifo"})"}};
  CHECK_THAT(b.board.check(other).error().message, Catch::Contains("c: it is there twice"));
  other.owns = {{"c", R"({"policy": "lifo"})"}};
  CHECK_THAT(b.board.check(other).error().message, Catch::Contains("c: policy"));
  // Of a commander, or in a journal.
  Task task;
  task.spec.id = "other";
  task.spec.owns = {{"b", R"({"policy": "fifo"})"}};
  b.board.hear({.edge = Edge::created}, &task);
  b.board.hear({.edge = Edge::ended}, &task);
  REQUIRE(b.push(1, 1));
  CHECK(b.heard(1).at(0)["type"] == "pushed");
}

TEST_CASE("buffers: who waits behind an attempt that ends goes on unless the buffer is closed") {
  Buffers b(R"({"policy": "fifo", "batch": 4})");
  REQUIRE(b.push(1, 1));
  const bool owner = GENERATE(true, false);
  REQUIRE(b.sample(1, 4, 2, owner ? b.owner : b.user));
  REQUIRE(b.sample(1, 1, 3, owner ? b.user : b.owner));
  b.board.hear({.edge = Edge::ended}, owner ? &b.owner : &b.user);
  CHECK(b.heard(3).at(0)["type"] == (owner ? "closed" : "batch"));
  CHECK(b.records.size() == (owner ? 1 : 2));  // none of a buffer that is not there any more
}

}  // namespace attune::buffer_board_test
