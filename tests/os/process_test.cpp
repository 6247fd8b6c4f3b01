#include "os/process.h"

#include <catch2/catch.hpp>

namespace attune::process_test {

TEST_CASE("child process: the end of one that is left is not reported") {
  boost::asio::io_context io;
  int ends = 0;
  ProcessSpec spec;
  spec.arguments = {"/bin/true"};
  spec.directory = "/";
  const auto child = ChildProcess::spawn(io, spec, [&](ExitStatus) { ++ends; });
  REQUIRE(child);
  SECTION("of one that is not left it is") {
    io.run();
    CHECK(ends == 1);
  }
  SECTION("left") {
    (*child)->leave();
    CHECK_FALSE((*child)->running());
    io.run();
    CHECK(ends == 0);
  }
}

}  // namespace attune::process_test
