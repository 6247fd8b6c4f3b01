// Programs that begin while another one writes to the store.
#include <signal.h>

#include <catch2/catch.hpp>

#include "manager/store/schema.h"
#include "tests/manager/app/running_program.h"

namespace attune::program_store_test {

struct Held : RunningProgram {
  Held() {
    folder.write("report FINAL 1");
    other.emplace(open_for_writing(folder.path / "attune-experiments", schema_steps(), 60).value());
    REQUIRE(other->execute("BEGIN IMMEDIATE"));
  }
  void begin(const std::string& command) {
    std::vector<std::string> arguments = {command, "e.yaml", "--quiet"};
    if (command == "run") arguments.insert(arguments.end(), {"--daemon", FAKE_DAEMON});
    spawn(arguments);
    wait_for("waits for another process that holds");
  }

  std::optional<Database> other;
};

TEST_CASE("attune: who begins while another program writes to the store waits for it") {
  Held held;
  held.begin(GENERATE("run", "simulate"));
  REQUIRE(held.other->execute("ROLLBACK"));
  held.other.reset();
  CHECK(held.code() == 0);
}

TEST_CASE("attune: who waits for the store ends when it is told to") {
  const std::string command = GENERATE("run", "simulate");
  const int signal = GENERATE(SIGINT, SIGTERM);
  Held held;
  held.begin(command);
  ::kill(held.process->pid(), signal);
  CHECK(held.code() == 130);
}

}  // namespace attune::program_store_test
