// attune pool, with a coordinator in this process.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>
#include <tuple>

#include "cluster/pool/messages.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/server/server.h"
#include "cluster/pool/worker/worker_process.h"
#include "cluster/workload/buffer_board.h"
#include "manager/app/pool_commands.h"
#include "manager/experiment/dial_address.h"
#include "os/clock.h"
#include "tests/manager/cli/printed.h"
#include "tests/support/temporary_folder.h"
#include "wire/address_file.h"
#include "wire/dialer.h"

namespace attune::pool_view_test {

TEST_CASE("pool: a coordinator that runs is asked, and none is named") {
  const TemporaryFolder folder;
  PoolOptions options;
  options.join = (folder.path / "coordinator").string();
  Printed printed;
  const auto nobody = show_pool(options, printed.console, {});
  REQUIRE_FALSE(nobody);
  CHECK_THAT(nobody.error().message, Catch::Contains("--join names the folder"));

  boost::asio::io_context io;
  const SystemClock clock;
  ServerOptions server_options;
  server_options.directory = options.join;
  const auto server = CoordinatorServer::create(io, real_files(), clock, server_options,
                                                {make_buffer_board, {}, {}}, Log(), [] {});
  REQUIRE(server);
  std::thread loop([&] { io.run(); });
  const auto code = show_pool(options, printed.console, {});
  options.json = true;
  const auto json_code = show_pool(options, printed.console, {});
  io.stop();
  loop.join();
  CHECK(code == 0);
  CHECK(json_code == 0);
  CHECK_THAT(printed.out(), Catch::StartsWith("no workers") &&
                                Catch::Contains("{\"format\":1,\"epoch\":1,\"ending\":false"));
}

// A coordinator whose loop a thread turns.
struct RunningPool {
  RunningPool() {
    ServerOptions options;
    options.directory = folder.path / "coordinator";
    server = CoordinatorServer::create(io, real_files(), clock, options,
                                       {make_buffer_board, {}, {}}, Log(), [] {});
    REQUIRE(server);
    WorkerOptions worker_options;
    worker_options.dial = dial_options(join().join, "", kWorkerRole).value();
    worker_options.hello.id = "w";
    worker_options.hello.incarnation = "1";
    worker_options.hello.host = "host";
    worker_options.hello.key = std::string(64, '1');
    worker = std::make_unique<WorkerProcess>(
        io, worker_options, Rng(1), Log(),
        WorkerProcess::Handlers{{}, [](const std::string&) {}, [] {}});
    worker->begin();
    loop = std::thread([this] { io.run(); });
  }
  ~RunningPool() {
    io.stop();
    loop.join();
  }
  PoolOptions join() const {
    PoolOptions options;
    options.join = (folder.path / "coordinator").string();
    return options;
  }
  // Says something there, and waits until it is answered.
  json as(const std::string& client, const json& said, const std::string& answer) const {
    boost::asio::io_context own;
    std::unique_ptr<Connection> connection;
    json heard;
    Dialer dialer(own, dial_options(join().join, "", kClientRole).value(), {"client", client},
                  Rng(1),
                  {[] { return json{{"key", std::string(64, '2')}}; },
                   [&](std::unique_ptr<Connection> made, const json&) {
                     connection = std::move(made);
                     connection->start({[&](const json& message) {
                                          if (message["type"] != answer) return;
                                          heard = message;
                                          own.stop();
                                        },
                                        [](const std::string&) {},
                                        {}});
                     std::ignore = connection->send(said);
                   },
                   [](DialState, const std::string&) {}});
    dialer.dial();
    own.run_for(std::chrono::seconds(600));
    return heard;
  }

  const TemporaryFolder folder;
  boost::asio::io_context io;
  const SystemClock clock;
  Result<std::unique_ptr<CoordinatorServer>> server = nullptr;
  std::unique_ptr<WorkerProcess> worker;  // nothing runs on it
  std::thread loop;
};

TEST_CASE("pool: a task is cancelled whosever it is and what is not there is said") {
  const RunningPool pool;
  TaskSpec spec;
  spec.id = "e-t0001-0";
  spec.kind = "trial";
  spec.labels = {"nowhere"};
  REQUIRE(pool.as("e", {{"type", "submit"}, {"task", to_json(spec)}}, "submitted").is_object());
  PoolOptions options = pool.join();
  options.cancel = {"e-t0001-0", "nobody"};
  Printed printed;
  CHECK(show_pool(options, printed.console, {}) == kExitFailed);
  CHECK(printed.out() == "task e-t0001-0 of e is told to end\n");
  CHECK(printed.err() == "attune: there is no task nobody\n");
  Printed again;
  options.cancel = {"e-t0001-0"};
  options.json = true;
  CHECK(show_pool(options, again.console, {}) == kExitFailed);
  CHECK_THAT(again.out(),
             Catch::Contains("\"done\":false") && Catch::Contains("has ended already"));
}

TEST_CASE("pool: a worker is drained and goes") {
  const RunningPool pool;
  Printed printed;
  PoolOptions look = pool.join();
  const auto shows = [&](const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (std::chrono::steady_clock::now() < deadline) {
      Printed now;
      REQUIRE(show_pool(look, now.console, {}) == kExitOk);
      if (now.out().find(text) != std::string::npos) return true;
    }
    return false;
  };
  REQUIRE(shows("ready"));
  PoolOptions options = pool.join();
  options.drain = {"w", "v"};
  CHECK(show_pool(options, printed.console, {}) == kExitFailed);
  CHECK(printed.out() == "worker w takes nothing more, and goes\n");
  CHECK(printed.err() == "attune: there is no worker v here\n");
  CHECK(shows("no workers"));
}

TEST_CASE("pool: an error says of --join only what fits") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "view.json").string();
  Printed printed;
  PoolOptions options;
  options.join = file;
  const auto why = [&] {
    const auto code = show_pool(options, printed.console, {});
    return code ? "" : code.error().message;
  };
  CHECK_THAT(why(), Catch::Contains("does not exist; --join names"));
  REQUIRE(write_address_file(file, {"127.0.0.1:9", "view", Secret::draw()}));
  CHECK_THAT(why(),
             Catch::Contains("cannot connect to 127.0.0.1:9") && Catch::Contains("; --join names"));
  std::filesystem::permissions(file, std::filesystem::perms::all);
  CHECK_THAT(why(), Catch::EndsWith("chmod 600"));

  boost::asio::io_context io;
  const SystemClock clock;
  ServerOptions server_options;
  server_options.directory = folder.path / "other";
  const auto server = CoordinatorServer::create(io, real_files(), clock, server_options,
                                                {make_buffer_board, {}, {}}, Log(), [] {});
  REQUIRE(server);
  std::thread loop([&] { io.run(); });
  REQUIRE(write_address_file(file, {(*server)->address(), "view", Secret::draw()}));
  const std::string refused = why();
  io.stop();
  loop.join();
  CHECK_THAT(refused, Catch::Contains("does not know the secret") && !Catch::Contains("--join"));
}

TEST_CASE("pool: an address without its secret is a mistake of usage") {
  PoolOptions options;
  options.join = "127.0.0.1:9";
  Printed printed;
  CHECK(show_pool(options, printed.console, {}) == kExitUsage);
  CHECK_THAT(printed.err(), Catch::Contains("needs --secret-file"));
}

}  // namespace attune::pool_view_test
