#include "daemon/websocket_url.h"

#include <catch2/catch.hpp>

namespace attune::websocket_url_test {

TEST_CASE("the URLs of NNI's managers") {
  const auto plain = parse_websocket_url("ws://localhost:8080/tuner");
  REQUIRE(plain);
  CHECK(plain->host == "localhost");
  CHECK(plain->port == "8080");
  CHECK(plain->path == "/tuner");
  CHECK(plain->host_header() == "localhost:8080");
  const auto prefixed = parse_websocket_url("ws://10.0.0.7/a/b/tuner?x=1");
  REQUIRE(prefixed);
  CHECK(prefixed->host == "10.0.0.7");
  CHECK(prefixed->port == "80");
  CHECK(prefixed->path == "/a/b/tuner?x=1");
  const auto ipv6 = parse_websocket_url("ws://[::1]:9");
  REQUIRE(ipv6);
  CHECK(ipv6->host == "::1");
  CHECK(ipv6->path == "/");
  CHECK(ipv6->host_header() == "[::1]:9");
}

TEST_CASE("a URL that cannot be used is refused with the form that can") {
  struct Row {
    std::string url, error;
  };
  const auto row = GENERATE(values<Row>({
      {"", "not a WebSocket"},
      {"http://localhost:1/tuner", "not a WebSocket"},
      {"wss://localhost:1/tuner", "TLS is not spoken"},
      {"ws://", "the host is missing"},
      {"ws://:80/tuner", "the host is missing"},
      {"ws://localhost:/tuner", "the port is no port"},
      {"ws://localhost:65536/tuner", "the port is no port"},
      {"ws://localhost:-1/tuner", "the port is no port"},
      {"ws://[::1]8080/tuner", "the port is no port"},
      {"ws://[::1/tuner", "'[' without ']'"},
      {"ws://localhost:1/tu ner", "a blank"},
      {"ws://localhost:1/\r\nHost: x", "a blank"},
  }));
  CAPTURE(row.url);
  const auto url = parse_websocket_url(row.url);
  REQUIRE_FALSE(url);
  CHECK(url.error().message.find(row.error) != std::string::npos);
  CHECK(url.error().message.find("ws://HOST:PORT/tuner") != std::string::npos);
}

}  // namespace attune::websocket_url_test
