// The client of programs (trial/) and the coordinator that it speaks to, over real sockets: the
// coordinator in this thread, each program in one of its own.
#include "trial/buffer_client.h"

#include <catch2/catch.hpp>
#include <future>

#include "tests/cluster/pool/server_fixture.h"

namespace attune::buffer_client_test {

using namespace attune::test;

// A learner and a collector that run, with the buffer `b` between them.
struct Programs : ServerFixture {
  explicit Programs(const std::string& settings) {
    make_fifo(folder.path / "never");
    command = "report PERIODICAL 0 1; read x < never";
    start_server();
    start_worker("w", 2);
    client = &start_client();
    REQUIRE(run_until([&] { return client->has("welcome"); }));
    json learner = trial(0), collector = trial(1);
    learner["task"]["owns"] = {{{"id", "b"}, {"settings", settings}}};
    collector["task"]["uses"] = {"b"};
    client->say(learner);
    client->say(collector);
    REQUIRE(
        run_until([&] { return client->has("info", "e-t0-0") && client->has("info", "e-t1-0"); }));
  }
  ~Programs() {
    if (!client->connection) return;
    client->say({{"type", "shutdown"}});
    CHECK(run_until([&] { return !client->connection || finished; }));
  }

  BufferClient connect(const std::string& task, std::size_t unacknowledged = 0) const {
    BufferClientOptions options;
    options.address_file = dial("data").file;
    options.task = task;
    options.key = key_of_program(task);
    options.unacknowledged = unacknowledged;
    options.first_pause = std::chrono::milliseconds(1);
    options.longest_pause = std::chrono::milliseconds(10);
    return BufferClient(options);
  }
  template <class T>
  T result_of(std::future<T>& program) {
    REQUIRE(run_until([&] { return program.wait_for(0s) == std::future_status::ready; }));
    return program.get();
  }
  void restart_server() {
    server.reset();
    REQUIRE(run_until([&] { return !client->connection; }));
    start_server();
    client->dialer->dial();
    REQUIRE(run_until([&] { return client->connection != nullptr; }));
  }
  json stats() {
    client->heard.clear();
    client->say({{"type", "status"}});
    REQUIRE(run_until([&] { return client->has("status"); }));
    const auto status = std::ranges::find(client->heard, "status",
                                          [](const json& message) { return message["type"]; });
    return (*status)["buffers"]["b"];
  }

  Client* client = nullptr;
};

TEST_CASE("buffer client: every item counts once over restarts of the coordinator") {
  Programs f(R"({"policy": "uniform", "capacity": 1000, "batch": 8})");
  const std::size_t unacknowledged = GENERATE(0, 50);
  std::atomic<int> pushed = 0;
  auto collector = std::async(std::launch::async, [&]() -> std::string {
    BufferClient client = f.connect("e-t1-0", unacknowledged);
    for (int i = 0; i < 300; ++i) {
      const auto done = client.push("b", {{.meta = fmt::format("{}", i)}});
      if (!done) return done.error().message;
      ++pushed;
    }
    const auto done = client.flush("b");
    return done ? "" : done.error().message;
  });
  for (const int enough : {20, 150}) {
    REQUIRE(f.run_until([&] { return pushed >= enough; }));
    f.restart_server();
  }
  CHECK(f.result_of(collector) == "");
  const json stats = f.stats();
  INFO(dump_json(stats));
  CHECK(stats["size"] == 300);
  CHECK(stats["pushed"] == 300);
}

TEST_CASE("buffer client: a learner samples what a collector pushes") {
  Programs f(R"({"policy": "prioritised", "capacity": 100, "batch": 4})");
  auto collector = std::async(std::launch::async, [&]() -> std::string {
    BufferClient client = f.connect("e-t1-0");
    while (true) {
      const auto open = client.push("b", {{.meta = "old", .priority = 1, .collect_iter = 0}});
      if (!open) return open.error().message;
      if (!*open) return "closed";
    }
  });
  auto learner = std::async(std::launch::async, [&]() -> std::string {
    BufferClient client = f.connect("e-t0-0");
    for (int i = 0; i < 30; ++i) {
      const auto sampled = client.sample("b", 4);
      if (!sampled) return sampled.error().message;
      std::vector<std::uint64_t> ids;
      for (const SampledItem& item : **sampled) ids.push_back(item.id);
      const auto updated = client.update("b", ids, std::vector<double>(ids.size(), 0.5));
      if (!updated) return updated.error().message;
      const auto advanced = client.advance("b", i);
      if (!advanced) return advanced.error().message;
    }
    return "";
  });
  CHECK(f.result_of(learner) == "");
  f.client->say({{"type", "cancel"}, {"task", "e-t0-0"}, {"how", "stop"}});
  CHECK(f.result_of(collector) == "closed");
}

TEST_CASE("buffer client: a batch that is larger than a frame arrives") {
  Programs f(R"({"policy": "fifo", "capacity": 300, "batch": 300})");
  const std::string meta(std::size_t{64} << 10, 'x');
  auto program = std::async(std::launch::async, [&]() -> std::string {
    BufferClient collector = f.connect("e-t1-0"), learner = f.connect("e-t0-0");
    const auto pushed = collector.push("b", std::vector<DataItem>(300, {.meta = meta}));
    if (!pushed) return pushed.error().message;
    const auto sampled = learner.sample("b", 300);
    if (!sampled) return sampled.error().message;
    std::uint64_t last = 0;
    for (const SampledItem& item : **sampled) {
      if (item.id != ++last || item.meta != meta) return "item " + std::to_string(item.id);
    }
    return "";
  });
  CHECK(f.result_of(program) == "");
}

TEST_CASE("buffer client: one that waits in an attempt that has ended is fenced off") {
  Programs f(R"({"policy": "fifo", "capacity": 4, "batch": 2})");
  std::atomic<bool> pushed = false;
  auto collector = std::async(std::launch::async, [&]() -> std::string {
    BufferClient client = f.connect("e-t1-0");
    const auto first = client.push("b", {{.meta = "1"}, {.meta = "2"}});
    if (!first) return first.error().message;
    pushed = true;
    const auto second = client.push("b", {{.meta = "3"}, {.meta = "4"}, {.meta = "5"}});
    return second ? "pushed" : client.fenced() ? "fenced" : second.error().message;
  });
  REQUIRE(f.run_until([&] { return pushed.load(); }));
  f.client->say({{"type", "cancel"}, {"task", "e-t1-0"}, {"how", "stop"}});
  CHECK(f.result_of(collector) == "fenced");
  BufferClient late = f.connect("e-t1-0");
  auto again = std::async(std::launch::async, [&] {
    static_cast<void>(late.push("b", {{.meta = "6"}}));
    return late.fenced();
  });
  CHECK(f.result_of(again));
}

}  // namespace attune::buffer_client_test
