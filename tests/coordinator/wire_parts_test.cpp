#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "coordinator/wire/address_file.h"
#include "coordinator/wire/backoff.h"
#include "coordinator/wire/host_port.h"
#include "coordinator/wire/life_signs.h"
#include "coordinator/wire/token.h"
#include "tests/support/temporary_folder.h"

using namespace attune;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("host and port: names and numbers and IPv6 are read and written") {
  const auto [text, expected] = GENERATE(table<std::string, HostPort>({
      {"127.0.0.1:0", {"127.0.0.1", 0}},
      {"node-7.cluster:65535", {"node-7.cluster", 65535}},
      {"[::1]:7000", {"::1", 7000}},
      {"[fe80::1%eth0]:7000", {"fe80::1%eth0", 7000}},
  }));
  CHECK(parse_host_port(text) == expected);
  CHECK(expected.text() == text);
}

TEST_CASE("host and port: what is wrong is said") {
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {"", "the port is missing"},
      {"host", "the port is missing"},
      {"[::1]", "the port is missing"},
      {":7000", "the host is missing"},
      {"[]:7000", "the host is missing"},
      {"::1:7000", "needs brackets"},
      {"[::1:7000", "needs brackets"},
      {"host:", "not 0 to 65535"},
      {"host:65536", "not 0 to 65535"},
      {"host:-1", "not 0 to 65535"},
      {"host:7x", "not 0 to 65535"},
      {"a host:7", "a blank"},
      {"h\x1bst:7", "a blank"},
  }));
  const std::string message = parse_host_port(text).error().message;
  CHECK_THAT(message, Contains(reason) && Contains("HOST:PORT or [IPv6]:PORT is expected"));
  CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE("token: 128 bits in hexadecimal digits") {
  CHECK(make_token({0, 1, 0x2f, 0xff, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) ==
        "00012fff05060708090a0b0c0d0e0f10");
}

TEST_CASE("token: only the same text matches and nothing matches none") {
  CHECK(token_matches("secret", "secret"));
  for (const char* given : {"", "s", "secres", "Secret", "secretsecret", "secret "}) {
    CHECK(!token_matches("secret", given));
  }
  CHECK(!token_matches("", ""));
}

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

TEST_CASE("life signs: pings after quiet in one direction and the end after silence") {
  using enum LifeSigns::Verdict;
  LifeSigns signs(8ms, 24ms);
  REQUIRE(signs.tick() == 2ms);
  for (int i = 1; i < 13; ++i) CHECK(signs.count(true) == (i % 4 == 0 ? ping : nothing));
  CHECK(signs.count(true) == silent);

  LifeSigns talking(8ms, 24ms);  // hears enough, says nothing
  for (int i = 1; i < 100; ++i) {
    talking.heard();
    CHECK(talking.count(true) == (i % 4 == 0 ? ping : nothing));
  }
  LifeSigns busy(8ms, 24ms);
  for (int i = 1; i < 100; ++i) {
    busy.heard();
    busy.spoken();
    CHECK(busy.count(true) == nothing);
  }
  LifeSigns deaf(8ms, 24ms);
  for (int i = 1; i < 100; ++i) CHECK(deaf.count(false) != silent);
}

TEST_CASE("backoff: pauses double up to the longest and start again") {
  Backoff backoff(100ms, 1s, Rng(7));
  Backoff same(100ms, 1s, Rng(7));
  for (int round = 0; round < 3; ++round) {
    for (const auto bound : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms, 1000ms}) {
      const auto pause = backoff.next();
      CHECK(pause >= bound / 2);
      CHECK(pause <= bound);
      CHECK(pause == same.next());
    }
    backoff.reset();
    same.reset();
  }
  CHECK(Backoff(1s, 1s, Rng(1)).next() != Backoff(1s, 1s, Rng(2)).next());
}
