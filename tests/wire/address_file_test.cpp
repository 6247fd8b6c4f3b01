#include "wire/address_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/json.h"
#include "tests/support/temporary_folder.h"

namespace attune::address_file_test {

using Catch::Contains;

const Secret kSecret(Bytes32{1});

// A file with them; empty: without.
std::string file(const std::string& address, const std::string& role, const std::string& secret) {
  json object = json::object();
  if (!address.empty()) object["address"] = address;
  if (!role.empty()) object["role"] = role;
  if (!secret.empty()) object["secret"] = secret;
  return dump_json(object);
}

TEST_CASE("address file: is read as it was written and nobody else may") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "address";
  REQUIRE(write_address_file(path, {"127.0.0.1:7000", "worker", kSecret}));
  CHECK(read_address_file(path) == WireAddress{"127.0.0.1:7000", "worker", kSecret});
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  REQUIRE(write_address_file(path, {"[::1]:7001", "client", Secret(Bytes32{9})}));
  CHECK(read_address_file(path) == WireAddress{"[::1]:7001", "client", Secret(Bytes32{9})});
}

TEST_CASE("address file: what is wrong with one is said with its path") {
  const TemporaryFolder folder;
  const std::string path = folder.path / "address";
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {"", "invalid JSON"},
      {"{\"address\": \"a:1\"", "invalid JSON"},
      {"[]", "a JSON object is expected"},
      {"{}", "'address' must be a text"},
      {R"({"address": 7, "role": "worker", "secret": "00"})", "'address' must be a text"},
      {file("a:1", "", kSecret.hex()), "'role' must be a text"},
      {file("a:1", "worker", ""), "'secret' must be a text"},
      {R"({"address": "a:1", "role": "worker", "secret": ""})", "'secret' must be a text"},
      {R"({"address": "a:1", "token": "t"})", "'role' must be a text"},
      {file("a:1", "worker", "00"), "'secret': 64 hexadecimal digits are expected"},
      {file("a", "worker", kSecret.hex()), "the port is missing"},
      {file("a:0", "worker", kSecret.hex()), "the port is 0"},
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
  REQUIRE(write_address_file(path, {"a:1", "worker", kSecret}));
  std::filesystem::create_symlink(path, folder.path / "link");
  CHECK_THAT(read_address_file(folder.path / "link").error().message, Contains("link"));
  ::chmod(path.c_str(), 0640);
  CHECK_THAT(read_address_file(path).error().message,
             Contains("open to others (mode 0640)") && Contains("chmod 600"));
}

}  // namespace attune::address_file_test
