#pragma once
// A program that a test speaks to while it runs.
#include "backends/local/file_watch.h"
#include "tests/manager/app/program_folder.h"

namespace attune {

class RunningProgram {
 public:
  void spawn(const std::vector<std::string>& arguments) {
    process = folder.spawn(io, arguments, [this](ExitStatus status) { exit = status; });
  }
  // Until it has said so on standard error.
  void wait_for(const std::string& message) {
    const auto watch = FileWatch::create(io, [](int) {}).value();
    REQUIRE(watch->add(folder.path / "err").has_value());
    while (folder.text("err").find(message) == std::string::npos) {
      REQUIRE(io.run_one_for(std::chrono::seconds(600)) == 1);
      REQUIRE_FALSE(exit.has_value());
    }
  }
  int code() {
    io.restart();
    io.run_for(std::chrono::seconds(600));
    REQUIRE(exit.has_value());
    return exit->signal == 0 ? exit->code : -exit->signal;
  }

  ProgramFolder folder;
  boost::asio::io_context io;
  std::optional<ExitStatus> exit;
  std::unique_ptr<ChildProcess> process;
};

}  // namespace attune
