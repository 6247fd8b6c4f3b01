// What the workers are started with that a coordinator keeps on its machine.
#include "manager/app/local_workers.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace attune::local_workers_test {

TEST_CASE("a worker of this machine does not outlive its coordinator for ever") {
  const TemporaryFolder folder;
  const auto program = folder.path / "program";
  std::ofstream(program) << "#!/bin/sh\necho \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  boost::asio::io_context io;
  LocalWorkers workers(io, {program, folder.path, 1, 2, {"PATH=/usr/bin:/bin"}}, Log());
  workers.begin();
  std::string words;
  while (words.find('\n') == std::string::npos) {
    io.run_one_for(std::chrono::milliseconds(20));
    std::ifstream file(folder.path / "local-0.out");
    words.assign(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(words.find("--name local-0 ") != std::string::npos);
  CHECK(words.find(" --unreachable-after 600s") != std::string::npos);
}

// As with a full disk, or no more processes: neither may cost a pool its worker for good.
TEST_CASE("a worker of this machine that cannot be started is tried again") {
  const TemporaryFolder folder;
  const auto program = folder.path / "program";
  const auto output = folder.path / "local-0.out";
  const bool no_output = GENERATE(true, false);  // else: no program
  if (no_output) std::filesystem::create_directory(output);
  const auto put_program = [&] {
    std::ofstream(folder.path / "new") << "#!/bin/sh\necho started\n";
    std::filesystem::permissions(folder.path / "new", std::filesystem::perms::owner_all);
    std::filesystem::rename(folder.path / "new", program);
  };
  if (no_output) put_program();
  boost::asio::io_context io;
  LocalWorkers workers(io, {program, folder.path, 1, 2, {"PATH=/usr/bin:/bin"}}, Log());
  workers.begin();
  if (no_output) {
    std::filesystem::remove(output);
  } else {
    put_program();
  }
  std::string words;
  while (words.find('\n') == std::string::npos) {
    io.run_one_for(std::chrono::milliseconds(20));
    std::ifstream file(output);
    words.assign(std::istreambuf_iterator<char>(file), {});
  }
  CHECK(words.starts_with("started"));
}

}  // namespace attune::local_workers_test
