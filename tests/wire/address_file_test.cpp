#include "wire/address_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

using namespace attune;
using Catch::Contains;

TEST_CASE("address file: is read as it was written and nobody else may") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "address";
  REQUIRE(write_address_file(path, {"127.0.0.1:7000", "secret"}));
  CHECK(read_address_file(path) == WireAddress{"127.0.0.1:7000", "secret"});
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  REQUIRE(write_address_file(path, {"[::1]:7001", "other"}));
  CHECK(read_address_file(path) == WireAddress{"[::1]:7001", "other"});
}

TEST_CASE("address file: what is wrong with one is said with its path") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "address";
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {"", "invalid JSON"},
      {"{\"address\": \"a:1\"", "invalid JSON"},
      {"[]", "a JSON object is expected"},
      {"{}", "'address' must be a text"},
      {R"({"address": 7, "token": "t"})", "'address' must be a text"},
      {R"({"address": "a:1"})", "'token' must be a text"},
      {R"({"address": "a:1", "token": ""})", "'token' must be a text"},
      {R"({"address": "a", "token": "t"})", "the port is missing"},
      {R"({"address": "a:0", "token": "t"})", "the port is 0"},
      {std::string(70'000, ' '), "larger than"},
  }));
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0600);
  CHECK_THAT(read_address_file(path).error().message, Contains(path) && Contains(reason));
}

TEST_CASE("address file: one that is missing or open to others or a link is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "address";
  CHECK_THAT(read_address_file(path).error().message, Contains(path) && Contains("No such file"));
  REQUIRE(write_address_file(path, {"a:1", "t"}));
  std::filesystem::create_symlink(path, folder.path / "link");
  CHECK_THAT(read_address_file(folder.path / "link").error().message, Contains("link"));
  ::chmod(path.c_str(), 0640);
  CHECK_THAT(read_address_file(path).error().message,
             Contains("open to others (mode 0640)") && Contains("chmod 600"));
}
