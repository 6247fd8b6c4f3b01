// Where a coordinator is, as it is said on the command line.
#include "runner/dial_address.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

using namespace attune;

TEST_CASE("dial address: a secret of a file") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "token").string();
  std::ofstream(file) << std::string(64, 'a') << "\n";
  const auto dial = dial_options("head:7000", "worker.json", file);
  REQUIRE(dial);
  CHECK(dial->address == "head:7000");
  CHECK(dial->secret == Secret::parse(std::string(64, 'a')).value());
}

TEST_CASE("dial address: a file without a secret is refused at once") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "token").string();
  std::ofstream(file) << GENERATE("", "\n\n", "0123");
  const auto dial = dial_options("head:7000", "worker.json", file);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message, Catch::Contains(file + ": no secret is in it"));
}

TEST_CASE("dial address: a folder that is not there yet has the file in it") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "pool").string();
  CHECK(dial_options(path, "worker.json", "")->file == path + "/worker.json");
  CHECK(dial_options(path + "/view.json", "worker.json", "")->file == path + "/view.json");
  std::ofstream(folder.path / "other") << "{}";
  CHECK(dial_options((folder.path / "other").string(), "worker.json", "")->file ==
        (folder.path / "other").string());
}
