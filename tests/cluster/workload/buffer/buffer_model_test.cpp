// Any calls in any order: against the slow model, saved and loaded anywhere, and replayed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "cluster/workload/buffer/buffer_record.h"
#include "tests/cluster/workload/buffer/buffer_helpers.h"
#include "tests/cluster/workload/buffer/buffer_model.h"

namespace attune::buffer_model_test {

Buffer reloaded(const Buffer& buffer) {
  const auto state = parse_json(dump_json(buffer.save()));
  REQUIRE(state);
  auto loaded = Buffer::load(buffer.policy(), *state);
  INFO((loaded ? "" : loaded.error().message));
  REQUIRE(loaded);
  return *std::move(loaded);
}

BufferPolicy random_policy(Rng& rng) {
  json settings = {
      {"policy", std::vector<std::string>{"fifo", "uniform", "prioritised"}[rng.index(3)]}};
  const bool is_fifo = settings["policy"] == "fifo";
  settings["capacity"] = 4 + rng.index(30);
  settings["batch"] = 1 + rng.index(4);
  if (rng.index(3) == 0) settings["min_items"] = rng.index(5);
  if (rng.index(2) == 0) settings["min_ratio"] = rng.uniform(0, 1);
  if (rng.index(2) == 0) settings["max_staleness"] = rng.index(6);
  if (rng.index(2) == 0 && !is_fifo) settings["max_use"] = 1 + rng.index(4);
  if (rng.index(2) == 0 && settings["policy"] == "uniform") settings["replace"] = true;
  if (rng.index(2) == 0) {
    json rate = json::object();
    if (rng.index(2) == 0) rate["min"] = rng.uniform(0, 1);
    if (rng.index(2) == 0 && !is_fifo) rate["max"] = rng.uniform(1, 4);
    if (rng.index(2) == 0) rate["window"] = 10 + rng.index(50);
    settings["rate_limit"] = rate;
  }
  if (settings["policy"] == "prioritised") settings["anneal"] = 1 + rng.index(50);
  return policy_of(dump_json(settings));
}

// Does random calls to a buffer and the model, and keeps the records of those that changed it.
class Walk {
 public:
  explicit Walk(std::uint64_t seed)
      : rng(seed), policy(random_policy(rng)), buffer(policy, Rng(seed)), model(policy) {}

  void step() {
    const std::size_t what = rng.index(100);
    const bool push_waited = buffer.push_answer() != BufferAnswer::ok;
    std::vector<std::size_t> waited;
    for (std::size_t n = 1; n <= policy.batch; ++n) {
      if (buffer.sample_answer(n) != BufferAnswer::ok) waited.push_back(n);
    }
    do_any(what);
    compare();
    // Who waits need not ask again but when buffer.h says so.
    if (push_waited && buffer.push_answer() == BufferAnswer::ok)
      REQUIRE((is_sample(what) || is_advance(what)));
    for (const std::size_t n : waited) {
      if (buffer.sample_answer(n) == BufferAnswer::ok) REQUIRE(is_push(what));
    }
  }

  void close() {
    REQUIRE(buffer.close());
    model.close();
    records.push_back({{"call", "close"}});
    compare();
  }

  Rng rng;
  BufferPolicy policy;
  Buffer buffer;
  BufferModel model;
  std::vector<json> records;

 private:
  bool is_push(std::size_t what) const { return what < pushes; }
  bool is_sample(std::size_t what) const { return what >= pushes && what < 80; }
  static bool is_update(std::size_t what) { return what >= 80 && what < 90; }
  static bool is_advance(std::size_t what) { return what >= 90 && what < 97; }

  void do_any(std::size_t what) {
    if (is_push(what)) {
      do_push();
    } else if (is_sample(what)) {
      do_sample();
    } else if (is_update(what)) {
      do_update();
    } else if (is_advance(what)) {
      iteration += rng.integer(-1, 3);
      if (iteration < 0) iteration = 0;
      REQUIRE(buffer.advance(iteration) == model.advance(iteration));
      records.push_back(advance_record(iteration));
    } else {
      const std::string producer = some_producer();
      buffer.forget(producer);
      model.taken.erase(producer);
      numbers.erase(producer);
      records.push_back({{"call", "forget"}, {"who", producer}});
    }
  }

  std::string some_producer() { return "p" + std::to_string(rng.index(3)); }

  void do_push() {
    std::vector<BufferItem> items = items_of(rng.index(5));
    for (BufferItem& item : items) {
      item.meta += "/" + std::to_string(count++);
      if (rng.index(2) == 0) item.priority = rng.uniform(0, 3);
      if (rng.index(3) != 0)
        item.collect_iter = std::max<std::int64_t>(0, iteration - rng.integer(0, 8));
    }
    const std::string producer = some_producer();
    const std::int64_t known = buffer.taken_of(producer);
    const std::int64_t first = std::max<std::int64_t>(1, known + 1 - rng.integer(0, 3));
    const auto pushed = buffer.push(producer, first, items);
    REQUIRE(pushed);
    const Pushed expected = model.push(producer, first, items);
    REQUIRE(pushed->answer == expected.answer);
    REQUIRE(pushed->taken == expected.taken);
    if (pushed->taken > 0)
      records.push_back(push_record(producer, first, std::span(items).first(pushed->taken)));
  }

  void do_sample() {
    const std::size_t n = 1 + rng.index(policy.batch);
    const BufferAnswer expected = model.sample_answer(n);
    const std::string consumer = some_producer();
    const std::int64_t number = numbers[consumer] + rng.integer(1, 2);
    const auto answer = buffer.give(consumer, number, n);
    REQUIRE(answer);
    REQUIRE(*answer == expected);
    if (expected != BufferAnswer::ok) return;
    numbers[consumer] = number;
    const GivenBatch* given = buffer.given(consumer);
    REQUIRE(given != nullptr);
    REQUIRE(given->number == number);
    REQUIRE(given->items.size() == n);
    const std::string impossible = model.take(given->items);
    INFO(impossible);
    REQUIRE(impossible.empty());
    records.push_back(sample_record(consumer, number, n));
  }

  void do_update() {
    std::vector<ItemId> ids;
    std::vector<double> priorities;
    for (std::size_t i = rng.index(5); i > 0; --i) {
      ids.push_back(rng.index(20) == 0 ? ~ItemId{0} : rng.index(count + 2));
      priorities.push_back(rng.index(5) == 0 ? 0 : rng.uniform(0, 10));
    }
    const auto updated = buffer.update(ids, priorities);
    REQUIRE(updated);
    REQUIRE(*updated == model.update(ids, priorities));
    records.push_back(update_record(ids, priorities));
  }

  void compare() const {
    BufferStats expected = model.stats;
    expected.size = model.rows.size();
    expected.capacity = policy.capacity;
    expected.producers = buffer.stats().producers;
    expected.push = model.push_answer();
    expected.sample = model.sample_answer(policy.batch);
    REQUIRE(to_json(buffer.stats()) == to_json(expected));
    // Nobody waits for somebody who waits.
    if (!model.closed)
      REQUIRE((expected.push == BufferAnswer::ok || expected.sample == BufferAnswer::ok));
  }

  std::int64_t iteration = 0;
  std::map<std::string, std::int64_t> numbers;  // of the last batches
  std::size_t count = 0;
  std::size_t pushes =
      10 + rng.index(40);  // percent of the calls: few keep the buffer nearly empty
};

TEST_CASE("buffer: does what a slow obvious model does") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Walk walk(seed);
    INFO(seed << ": " << dump_json(to_json(walk.policy)));
    for (int i = 0; i < 300; ++i) walk.step();
    walk.close();
    for (int i = 0; i < 20; ++i) walk.step();
  }
}

TEST_CASE("buffer: goes on with every bit wherever it was saved") {
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    Walk straight(seed), saved(seed);
    Rng when(seed);
    INFO(seed << ": " << dump_json(to_json(straight.policy)));
    for (int i = 0; i < 200; ++i) {
      if (when.index(4) == 0) saved.buffer = reloaded(saved.buffer);
      straight.step();
      saved.step();
      REQUIRE(straight.buffer.save() == saved.buffer.save());
    }
    straight.close();
    CHECK(reloaded(straight.buffer).save() == straight.buffer.save());
  }
}

TEST_CASE("buffer: records on a snapshot make the same buffer again") {
  for (std::uint64_t seed = 200; seed < 230; ++seed) {
    Walk walk(seed);
    INFO(seed << ": " << dump_json(to_json(walk.policy)));
    for (std::uint64_t i = seed; i % 7 != 0; ++i) {
      for (int step = 0; step < 30; ++step) walk.step();
    }
    Buffer again = reloaded(walk.buffer);
    walk.records.clear();
    for (int i = 0; i < 150; ++i) walk.step();
    if (seed % 3 == 0) walk.close();
    for (const json& record : walk.records) {
      // The two follow from other records.
      if (record["call"] == "forget") again.forget(record["who"].get<std::string>());
      if (record["call"] == "close") again.close();
      if (record["call"] == "forget" || record["call"] == "close") continue;
      const auto done = replay(again, *parse_json(dump_json(record)));
      INFO((done ? "" : done.error().message));
      REQUIRE(done);
    }
    REQUIRE(again.save() == walk.buffer.save());
  }
}

}  // namespace attune::buffer_model_test
