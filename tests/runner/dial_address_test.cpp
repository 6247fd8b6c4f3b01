// Where a coordinator is, as it is said on the command line.
#include "runner/dial_address.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/atomic_file.h"
#include "tests/support/temporary_folder.h"
#include "wire/address_file.h"

using namespace attune;

TEST_CASE("dial address: a secret of a file") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "secret").string();
  REQUIRE(write_file_atomically(file, std::string(64, 'a') + "\n"));
  const auto dial = dial_options("head:7000", "worker", "worker.json", file);
  REQUIRE(dial);
  CHECK(dial->address == "head:7000");
  CHECK(dial->secret_file == file);
}

TEST_CASE("dial address: a file without a secret is refused at once") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "secret").string();
  REQUIRE(write_file_atomically(file, GENERATE("", "\n\n", "0123")));
  const auto dial = dial_options("head:7000", "worker", "worker.json", file);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message, Catch::Contains(file + ": no secret is in it"));
}

TEST_CASE("dial address: a file of another role is refused at once") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "client.json").string();
  REQUIRE(write_address_file(file, {"head:7000", "client", Secret(Bytes32{1})}));
  const auto dial = dial_options("head:7000", "worker", "worker.json", file);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message, Catch::Contains("is for the role client, not for worker"));
}

TEST_CASE("dial address: a folder that is not there yet has the file in it") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "pool").string();
  CHECK(dial_options(path, "worker", "worker.json", "")->file == path + "/worker.json");
  CHECK(dial_options(path + "/client.json", "worker", "worker.json", "")->file ==
        path + "/client.json");
  std::ofstream(folder.path / "other") << "{}";
  CHECK(dial_options((folder.path / "other").string(), "worker", "worker.json", "")->file ==
        (folder.path / "other").string());
}
