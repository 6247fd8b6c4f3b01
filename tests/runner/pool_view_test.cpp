// attune pool, with a coordinator in this process.
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "base/address_file.h"
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

TEST_CASE("pool: an error says of --join only what fits") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "coordinator.json").string();
  Printed printed;
  PoolOptions options;
  options.join = file;
  const auto why = [&] {
    const auto code = show_pool(options, printed.console, {});
    return code ? "" : code.error().message;
  };
  CHECK_THAT(why(), Catch::Contains("does not exist; --join names"));
  REQUIRE(write_address_file(file, {"127.0.0.1:9", "token"}));
  CHECK_THAT(why(),
             Catch::Contains("cannot connect to 127.0.0.1:9") && Catch::Contains("; --join names"));
  std::filesystem::permissions(file, std::filesystem::perms::all);
  CHECK_THAT(why(), Catch::EndsWith("chmod 600"));

  boost::asio::io_context io;
  const SystemClock clock;
  ServerOptions server_options;
  server_options.directory = folder.path / "other";
  server_options.token = "secret";
  const auto server =
      CoordinatorServer::create(io, real_files(), clock, server_options, nullptr, Log(), [] {});
  REQUIRE(server);
  std::thread loop([&] { io.run(); });
  REQUIRE(write_address_file(file, {(*server)->address(), "wrong"}));
  const std::string refused = why();
  io.stop();
  loop.join();
  CHECK_THAT(refused, Catch::Contains("refuses") && !Catch::Contains("--join"));
}

TEST_CASE("pool: an address without its token is a mistake of usage") {
  PoolOptions options;
  options.join = "127.0.0.1:9";
  Printed printed;
  CHECK(show_pool(options, printed.console, {}) == kExitUsage);
  CHECK_THAT(printed.err(), Catch::Contains("needs --token-file"));
}

}  // namespace attune
