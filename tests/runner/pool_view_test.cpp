// attune pool, with a coordinator in this process.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <thread>

#include "base/clock.h"
#include "coordinator/server/server.h"
#include "runner/pool_commands.h"
#include "tests/runner/commands/printed.h"
#include "tests/support/temporary_folder.h"

namespace attune {

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
  server_options.token = "secret";
  const auto server =
      CoordinatorServer::create(io, real_files(), clock, server_options, nullptr, Log(), [] {});
  REQUIRE(server);
  std::thread loop([&] { io.run(); });
  const auto code = show_pool(options, printed.console, {});
  options.json = true;
  const auto json_code = show_pool(options, printed.console, {});
  io.stop();
  loop.join();
  CHECK(code == 0);
  CHECK(json_code == 0);
  CHECK_THAT(printed.out(),
             Catch::StartsWith("no workers") && Catch::Contains("{\"epoch\":1,\"ending\":false"));
}

}  // namespace attune
