// A command of the user's that is told how many workers are wanted.
#include <catch2/catch.hpp>
#include <fstream>

#include "cluster/batch/command_operator.h"
#include "tests/cluster/pool/coordinator_world.h"
#include "tests/support/run_until.h"
#include "tests/support/temporary_folder.h"

namespace attune::operator_command_test {

using namespace attune::test;
using namespace std::chrono_literals;

struct CommandWorld final : OperatorPort {
  explicit CommandWorld(const std::string& command, int most = 16) {
    world.coordinator.begin(world.now);
    options.command = "cd " + folder.path.string() + "; " + command;
    options.address_file = "/shared/worker.json";
    options.environment = {"PATH=/usr/bin:/bin"};
    options.most = most;
    start();
  }
  // In another life of the coordinator: it does not know what it has asked for.
  void start() {
    op.reset();
    op = std::make_unique<CommandOperator>(io, options, *this, Log());
  }
  double now() const override { return world.now; }
  std::string address() const override { return ""; }
  void worker_unavailable(const std::string&, const std::string&) override {}
  void refuse(const std::string&, const std::string&) override {}
  void explain(const std::string&, const std::string&) override {}
  void changed() override {}

  // Until no command runs.
  std::string settle() {
    op->look(view_of(world.coordinator), now());
    REQUIRE(run_until(io, [this] { return !op->busy(); }));
    return heard();
  }
  std::string heard() const {
    std::ifstream file(folder.path / "heard");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Until it may be left alone for good.
  std::string settle_at_end() {
    op->look(view_of(world.coordinator), now());
    while (op->busy()) {
      REQUIRE(run_until(io, [this] { return op->next_time() || !op->busy(); }));
      if (const auto next = op->next_time(); next && op->busy()) {
        world.now = std::max(now(), *next);
        op->tick(now());
      }
    }
    return heard();
  }
  void submit(int count) {
    for (int i = 0; i < count; ++i)
      REQUIRE(world.coordinator.submit(trial_task(fmt::format("t{}", ++tasks)), now()));
  }

  TemporaryFolder folder;
  boost::asio::io_context io;
  World world;
  CommandOperatorOptions options;
  int tasks = 0;
  std::unique_ptr<CommandOperator> op;
};

constexpr const char* kWrite =
    "echo $ATTUNE_WORKERS_WANTED $ATTUNE_WORKERS_READY $ATTUNE_TASKS_WAITING "
    "$ATTUNE_COORDINATOR >> heard";

TEST_CASE("the command hears how many workers are wanted up to the most") {
  CommandWorld world(kWrite, 3);
  CHECK(world.settle().empty());
  world.submit(2);
  CHECK(world.settle() == "2 0 2 /shared/worker.json\n");
  world.submit(5);
  CHECK(world.settle() == "2 0 2 /shared/worker.json\n3 0 7 /shared/worker.json\n");
}

TEST_CASE("changes while the command runs lead to one more run") {
  CommandWorld world(kWrite);
  world.submit(1);
  world.op->look(view_of(world.world.coordinator), world.now());
  for (int i = 0; i < 3; ++i) {
    world.submit(1);
    world.op->look(view_of(world.world.coordinator), world.now());
  }
  CHECK(world.settle() == "1 0 1 /shared/worker.json\n4 0 4 /shared/worker.json\n");
}

TEST_CASE("fewer workers are wanted only after a while") {
  CommandWorld world(kWrite);
  world.submit(2);
  world.settle();
  world.world.coordinator.cancel("t1", "stop", "", world.now());
  CHECK(world.settle() == "2 0 2 /shared/worker.json\n");
  REQUIRE(world.op->next_time() == world.now() + 30);
  world.world.now += 30;
  CHECK(world.settle() == "2 0 2 /shared/worker.json\n1 0 1 /shared/worker.json\n");
}

TEST_CASE("none are wanted with the end whatever runs then") {
  const bool fails = GENERATE(false, true);
  CommandWorld world(fails ? "echo $ATTUNE_WORKERS_WANTED >> heard; false"
                           : "echo $ATTUNE_WORKERS_WANTED >> heard");
  world.submit(3);
  world.op->look(view_of(world.world.coordinator), world.now());
  world.world.coordinator.finish_all("enough", world.now());
  const std::string heard = world.settle_at_end();
  CHECK(heard == (fails ? "3\n0\n0\n" : "3\n0\n"));
}

TEST_CASE("a worker that is large is enough for several tasks") {
  CommandWorld world(kWrite);
  REQUIRE(world.world.coordinator.worker_joined(worker_hello("w", 4), world.now()));
  world.submit(9);  // 4 run, 5 wait for two more workers
  CHECK(world.settle() == "3 1 5 /shared/worker.json\n");
}

TEST_CASE("a command that fails is run again after a pause") {
  CommandWorld world("echo x >> heard; test -e good");
  world.submit(1);
  CHECK(world.settle() == "x\n");
  REQUIRE(world.op->next_time() == world.now() + 1);
  CHECK(world.settle() == "x\n");
  world.world.now += 1;
  CHECK(world.settle() == "x\nx\n");
  CHECK(world.op->next_time() == world.now() + 2);
  std::ofstream(world.folder.path / "good") << "";
  world.world.now += 2;
  CHECK(world.settle() == "x\nx\nx\n");
  CHECK_FALSE(world.op->next_time().has_value());
}

TEST_CASE("a coordinator that was restarted lets go what the former one has asked for") {
  CommandWorld world("echo $ATTUNE_WORKERS_WANTED >> heard");
  world.submit(1);
  REQUIRE(world.settle() == "1\n");
  world.world.coordinator.cancel("t1", "stop", "", world.now());
  world.start();
  CHECK(world.settle() == "1\n");  // not at once
  REQUIRE(world.op->next_time() == world.now() + 30);
  world.world.now += 30;
  world.op->tick(world.now());
  CHECK(world.settle() == "1\n0\n");
  CHECK_FALSE(world.op->next_time());
}

TEST_CASE("a coordinator that was restarted asks at once for what waits") {
  CommandWorld world("echo $ATTUNE_WORKERS_WANTED >> heard");
  world.submit(1);
  REQUIRE(world.settle() == "1\n");
  world.start();
  CHECK(world.settle() == "1\n1\n");
}

TEST_CASE("a worker has room for what its own kinds of resources and labels allow") {
  CommandWorld world("echo $ATTUNE_WORKERS_WANTED >> heard");
  WorkerHello hello = worker_hello("w", 8);
  hello.labels = {"fast"};
  hello.capacity.custom["card"] = 2;
  REQUIRE(world.world.coordinator.worker_joined(hello, world.now()));
  TaskSpec spec = trial_task("x");
  spec.needs.cpu = 8;
  REQUIRE(world.world.coordinator.submit(spec, world.now()));  // it is busy
  const auto [label, kind, wanted] = GENERATE(table<std::string, std::string, std::string>({
      {"", "", "2\n"},  // four tasks of one core go into one more like it
      {"fast", "", "2\n"},
      {"slow", "", "5\n"},  // nobody knows how large those are
      {"", "card", "3\n"},
      {"", "disk", "5\n"},
  }));
  for (int i = 0; i < 4; ++i) {
    TaskSpec next = trial_task(fmt::format("y{}", i));
    if (!label.empty()) next.labels = {label};
    if (!kind.empty()) next.needs.custom[kind] = 1;
    REQUIRE(world.world.coordinator.submit(next, world.now()));
  }
  CHECK(world.settle() == wanted);
}

}  // namespace attune::operator_command_test
