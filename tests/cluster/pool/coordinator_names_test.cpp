// Names are bound to who had them: a worker's for as long as it is here or has tasks, a client's
// for ever.
#include <catch2/catch.hpp>

#include "cluster/pool/name_key.h"
#include "tests/cluster/pool/coordinator_world.h"

namespace attune::coordinator_names_test {

using namespace attune::test;
using Catch::Contains;
using Lines = std::vector<std::string>;

WorkerHello with_key(const std::string& id, const std::string& key,
                     const std::string& incarnation = "1") {
  WorkerHello hello = worker_hello(id, 1, incarnation);
  hello.key = test_key(key);
  return hello;
}

// w runs a.
struct NamesWorld : World {
  NamesWorld() {
    coordinator.begin(now);
    REQUIRE(coordinator.worker_joined(with_key("w", "its own"), now));
    REQUIRE(coordinator.submit(trial_task("a"), now));
    start("a");
    effects.take();
  }
};

TEST_CASE("names: nobody takes the name of a worker that is here") {
  NamesWorld w;
  // Not even with its incarnation, which is no secret.
  for (const char* incarnation : {"1", "2"}) {
    const auto joined = w.coordinator.worker_joined(with_key("w", "another", incarnation), w.now);
    REQUIRE_FALSE(joined);
    CHECK_THAT(joined.error().message, Contains("the name w is that of another worker"));
  }
  CHECK(w.effects.take().empty());
  CHECK(w.coordinator.worker_joined(with_key("w", "its own"), w.now));
  WorkerHello bad = with_key("w", "its own");
  for (const std::string& key : {std::string("?!"), bad.key + "0", std::string(64, 'g')}) {
    bad.key = key;
    const auto joined = w.coordinator.worker_joined(bad, w.now);
    REQUIRE_FALSE(joined);
    CHECK_THAT(joined.error().message, Contains("key") && !Contains(key));
  }
}

TEST_CASE("names: while a worker is lost its tasks are nobody else's") {
  NamesWorld w;
  w.coordinator.worker_lost("w", w.now);
  CHECK_FALSE(w.coordinator.worker_joined(with_key("w", "another", "2"), w.now));
  CHECK(w.effects.take().empty());
  // The same one, started again.
  REQUIRE(w.coordinator.worker_joined(with_key("w", "its own", "2"), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again"});
}

TEST_CASE("names: the name of a worker is free when that was given up or has gone") {
  NamesWorld w;
  w.coordinator.worker_lost("w", w.now);
  w.pass(16);
  CHECK(w.task("a").state == TaskState::lost);
  REQUIRE(w.coordinator.worker_joined(with_key("w", "another"), w.now));
  CHECK(w.effects.take().empty());  // what the former one may still run it does not hear of
  w.coordinator.worker_lost("w", w.now);
  REQUIRE(w.coordinator.worker_joined(with_key("w", "its own"), w.now));
  CHECK(w.effects.take() == Lines{"w: lease a running attempt 0 again", "w: cancel a kill"});
}

TEST_CASE("names: a later coordinator knows whose the tasks are") {
  NamesWorld w;
  auto next = w.restarted();
  REQUIRE(next);
  CHECK_FALSE(next->coordinator.worker_joined(with_key("w", "another"), next->now));
  REQUIRE(next->coordinator.worker_joined(with_key("w", "its own"), next->now));
  World loaded;
  REQUIRE(loaded.coordinator.load(*parse_json(dump_json(w.coordinator.save()))));
  loaded.coordinator.begin(w.now);
  CHECK_FALSE(loaded.coordinator.worker_joined(with_key("w", "another"), w.now));
  CHECK(loaded.coordinator.worker_joined(with_key("w", "its own"), w.now));
}

TEST_CASE("names: a journal of a former version binds at first sight") {
  NamesWorld w;
  REQUIRE(w.coordinator.client_joined("c", test_key("c"), w.now));
  World next;
  for (Record record : w.effects.records) {
    if (record.edge == Edge::named) continue;
    record.key.clear();
    REQUIRE(next.coordinator.replay(record));
  }
  next.coordinator.begin(w.now);
  REQUIRE(next.coordinator.worker_joined(with_key("w", "any"), w.now));
  CHECK_FALSE(next.coordinator.worker_joined(with_key("w", "its own"), w.now));
  CHECK(next.coordinator.client_joined("c", test_key("any"), w.now));
  CHECK_FALSE(next.coordinator.client_joined("c", test_key("c"), w.now));
}

TEST_CASE("names: a client's stays its own for ever") {
  NamesWorld w;
  REQUIRE(w.coordinator.client_joined("c", test_key("c"), w.now));
  REQUIRE(w.coordinator.client_joined("c", test_key("c"), w.now));
  w.finish("a");
  w.coordinator.forget("a", w.now);
  REQUIRE(w.coordinator.board().tasks().empty());
  const auto joined = w.coordinator.client_joined("c", test_key("d"), w.now);
  REQUIRE_FALSE(joined);
  CHECK_THAT(joined.error().message, Contains("the name c is that of another client"));
  CHECK(w.coordinator.client_joined("d", test_key("d"), w.now));
  CHECK_FALSE(w.coordinator.client_joined("e", "no key", w.now));
  auto next = w.restarted();
  REQUIRE(next);
  CHECK_FALSE(next->coordinator.client_joined("c", test_key("d"), w.now));
  CHECK(next->coordinator.client_joined("c", test_key("c"), w.now));
  World loaded;
  REQUIRE(loaded.coordinator.load(*parse_json(dump_json(w.coordinator.save()))));
  CHECK_FALSE(loaded.coordinator.client_joined("c", test_key("d"), w.now));
  // The key itself is in no journal.
  for (const Record& record : w.effects.records)
    CHECK(encode_record(record).find(test_key("c")) == std::string::npos);
}

TEST_CASE("names: the keys of programs follow from a secret that stays and from the lease") {
  World first;
  Coordinator coordinator({.secret = test_key("first")}, nullptr, first.effects);
  coordinator.begin(1);
  World next;
  for (const Record& record : first.effects.records) REQUIRE(next.coordinator.replay(record));
  CHECK(next.coordinator.board().secret() == test_key("first"));
  WrittenEffects effects;
  Coordinator later({.secret = test_key("later")}, nullptr, effects);
  REQUIRE(later.load(*parse_json(dump_json(next.coordinator.save()))));
  later.begin(2);
  CHECK(later.board().secret() == test_key("first"));

  const std::string key = program_key(test_key("first"), "a", 1);
  CHECK(key.size() == 64);
  CHECK(same_key(key, program_key(test_key("first"), "a", 1)));
  CHECK_FALSE(same_key(key, program_key(test_key("first"), "a", 2)));
  CHECK_FALSE(same_key(key, program_key(test_key("first"), "b", 1)));
  CHECK_FALSE(same_key(key, program_key(test_key("later"), "a", 1)));
  CHECK(program_key("", "a", 1).empty());
  CHECK_FALSE(same_key("", ""));
}

}  // namespace attune::coordinator_names_test
