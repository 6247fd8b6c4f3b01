#include "wire/host_port.h"

#include <catch2/catch.hpp>

namespace attune::host_port_test {

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

}  // namespace attune::host_port_test
