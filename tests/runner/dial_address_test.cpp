// Where a coordinator is, as it is said on the command line.
#include "runner/dial_address.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

using namespace attune;

TEST_CASE("dial address: a token of a file") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "token").string();
  std::ofstream(file) << "secret\n";
  const auto dial = dial_options("head:7000", file);
  REQUIRE(dial);
  CHECK(dial->address == "head:7000");
  CHECK(dial->token == "secret");
}

TEST_CASE("dial address: a file without a token is refused at once") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "token").string();
  std::ofstream(file) << GENERATE("", "\n\n");
  const auto dial = dial_options("head:7000", file);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message, Catch::Contains(file + ": no token is in it"));
}

TEST_CASE("dial address: a folder that is not there yet has the file in it") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "pool").string();
  CHECK(dial_options(path, "")->file == path + "/coordinator.json");
  CHECK(dial_options(path + "/coordinator.json", "")->file == path + "/coordinator.json");
  std::ofstream(folder.path / "other") << "{}";
  CHECK(dial_options((folder.path / "other").string(), "")->file ==
        (folder.path / "other").string());
}
