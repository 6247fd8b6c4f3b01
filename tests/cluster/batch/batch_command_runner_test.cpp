#include "cluster/batch/command_runner.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>

namespace attune::batch_command_runner_test {

namespace asio = boost::asio;

CommandLine shell(std::string script) { return {{"/bin/sh", "-c", std::move(script)}, ""}; }

CommandEnd run_one(const CommandLine& command, std::size_t bound = 1000) {
  asio::io_context io;
  CommandRunner runner(io, {"A=b"}, 1, bound);
  std::optional<CommandEnd> end;
  runner.run(command, [&](const CommandEnd& each) { end = each; });
  CHECK_FALSE(end);  // not from within run()
  io.run();
  return end.value();
}

TEST_CASE("batch: a command hears its input and is heard on both channels") {
  CommandLine command = shell("cat; echo $A >&2; exit 3");
  command.input = std::string(900, 'x');
  const CommandEnd end = run_one(command);
  CHECK(end.output == command.input);
  CHECK(end.errors == "b\n");
  CHECK(end.status.code == 3);
  CHECK(end.trouble.empty());
  CHECK_FALSE(end.success());
  CHECK(run_one(shell("true")).success());
}

TEST_CASE("batch: a command that does not end or floods or is not there is trouble") {
  CommandLine hangs = shell("echo a; sleep 1000");
  hangs.limit = std::chrono::milliseconds(200);
  CHECK(run_one(hangs).trouble.find("0.2 s") != std::string::npos);
  CHECK(run_one(shell("while :; do echo flood; done")).trouble.find("output") != std::string::npos);
  const CommandEnd missing = run_one({{"/nowhere/sbatch"}, ""});
  CHECK(missing.trouble.find("/nowhere/sbatch") != std::string::npos);
  CHECK_FALSE(missing.success());
}

TEST_CASE("batch: commands run in their order and a few at a time") {
  asio::io_context io;
  CommandRunner runner(io, {}, 1);
  std::string order;
  for (const char* text : {"a", "b", "c"}) {
    runner.run(shell(std::string("printf ") + text), [&](const CommandEnd& end) {
      order += end.output;
      if (end.output == "a")
        runner.run(shell("printf d"), [&](const CommandEnd& d) { order += d.output; });
    });
  }
  io.run();
  CHECK(order == "abcd");
}

TEST_CASE("batch: nothing is called when the runner is gone") {
  asio::io_context io;
  int calls = 0;
  auto runner = std::make_unique<CommandRunner>(io, std::vector<std::string>{}, 2);
  for (const CommandLine& command :
       {shell("sleep 1000"), shell("true"), shell("true"), CommandLine{{"/nowhere"}, ""}})
    runner->run(command, [&](const CommandEnd&) { ++calls; });
  runner.reset();
  io.run();
  CHECK(calls == 0);
}

}  // namespace attune::batch_command_runner_test
