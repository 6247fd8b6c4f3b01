// Who is served: each rule alone.
#include "dashboard/access.h"

#include <catch2/catch.hpp>

namespace attune::access_test {

using Headers = std::vector<std::pair<std::string, std::string>>;

HttpRequest request(Headers headers) {
  return {.method = "GET", .target = {}, .headers = std::move(headers), .body = ""};
}

std::string cookie_of(const Access& access, const std::string& host) {
  const std::string set = access.set_cookie(request({{"host", host}}));
  return set.substr(0, set.find(';'));
}

TEST_CASE("access: only names that were allowed are served") {
  const Access access({.hosts = {"tuning.example"}}, Secret::draw());
  for (const char* host : {"localhost", "localhost:8470", "LOCALHOST:1", "127.0.0.1:8470", "[::1]",
                           "[::1]:9", "tuning.example", "Tuning.Example:443"}) {
    INFO(host);
    CHECK_FALSE(access.check_sender(request({{"host", host}})));
  }
  for (const char* host : {"", "evil.example", "evil.example:8470", "localhost.evil.example",
                           "127.0.0.2", "::1", "[::1", "tuning.example.", "127.0.0.1:80:80"}) {
    INFO(host);
    CHECK(access.check_sender(request({{"host", host}})));
  }
  CHECK(access.check_sender(request({})));
}

TEST_CASE("access: pages of other sites are not served") {
  const Access access({}, Secret::draw());
  const auto refused = [&](const char* name, const char* value) {
    return access.check_sender(request({{"host", "localhost:8470"}, {name, value}})).has_value();
  };
  CHECK_FALSE(refused("origin", "http://localhost:8470"));
  CHECK_FALSE(refused("origin", "https://localhost:8470"));
  CHECK(refused("origin", "http://localhost:8471"));
  CHECK(refused("origin", "http://evil.example"));
  CHECK(refused("origin", "null"));
  CHECK_FALSE(refused("sec-fetch-site", "same-origin"));
  CHECK_FALSE(refused("sec-fetch-site", "none"));
  CHECK(refused("sec-fetch-site", "cross-site"));
  CHECK(refused("sec-fetch-site", "same-site"));  // another port of this machine
  CHECK_FALSE(access.check_sender(request(
      {{"host", "localhost"}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}})));
}

TEST_CASE("access: data need the token, or the cookie and the key") {
  const Secret token = Secret::draw();
  const Access access({}, token);
  const auto status = [&](Headers headers) {
    headers.emplace_back("host", "localhost:8470");
    const auto refusal = access.check_user(request(std::move(headers)), false);
    return refusal ? refusal->status : 200;
  };
  CHECK(status({}) == 401);
  CHECK(status({{"authorization", "Bearer " + token.hex()}}) == 200);
  CHECK(status({{"authorization", "Bearer " + Secret::draw().hex()}}) == 401);
  CHECK(status({{"authorization", "Bearer "}}) == 401);
  CHECK(status({{"authorization", token.hex()}}) == 401);
  const std::string cookie = cookie_of(access, "localhost:8470"), key = access.key();
  CHECK(status({{"cookie", cookie}, {"attune-key", key}}) == 200);
  CHECK(status({{"cookie", cookie}}) == 401);  // a server at another port gets it, too
  CHECK(status({{"attune-key", key}}) == 401);
  CHECK(status({{"cookie", cookie}, {"attune-key", Secret::draw().hex()}}) == 401);
  CHECK(status({{"cookie", cookie}, {"attune-key", ""}}) == 401);
  CHECK(status({{"cookie", cookie_of(access, "localhost:8471")}, {"attune-key", key}}) == 401);
  CHECK(status({{"cookie", "attune8470=" + token.hex()}, {"attune-key", key}}) == 401);
  CHECK(status({{"cookie", "attune8470="}, {"attune-key", key}}) == 401);
  const Access other({}, token);  // a server that was started later
  CHECK(status({{"cookie", cookie_of(other, "localhost:8470")}, {"attune-key", key}}) == 401);
}

TEST_CASE("access: a change of a page names the page") {
  const Secret token = Secret::draw();
  const Access access({}, token);
  const std::string cookie = cookie_of(access, "localhost:8470");
  const auto status = [&](const Access& whose, Headers headers) {
    headers.emplace_back("host", "localhost:8470");
    const auto refusal = whose.check_user(request(std::move(headers)), true);
    return refusal ? refusal->status : 200;
  };
  const std::string origin = "http://localhost:8470";
  CHECK(status(access, {}) == 401);
  CHECK(status(access, {{"cookie", cookie}, {"origin", origin}}) == 401);
  CHECK(status(access, {{"cookie", cookie}, {"attune-key", access.key()}}) == 403);
  CHECK(status(access, {{"attune-key", access.key()}, {"origin", origin}}) == 401);
  const Headers all = {{"cookie", cookie}, {"origin", origin}, {"attune-key", access.key()}};
  CHECK(status(access, all) == 200);
  CHECK(status(access, {{"authorization", "Bearer " + token.hex()}}) == 200);
  const Access reader({.hosts = {}, .read_only = true}, token);
  CHECK(status(reader, {{"authorization", "Bearer " + token.hex()}}) == 403);
}

TEST_CASE("access: the cookie is out of reach of scripts and of other sites") {
  const Access access({}, Secret::draw());
  const std::string set = access.set_cookie(request({{"host", "127.0.0.1:8470"}}));
  CHECK(set.starts_with("attune8470="));
  CHECK(set.find("; HttpOnly; SameSite=Strict; Path=/") != std::string::npos);
  // What stands behind the colon is a port, or nothing.
  CHECK(access.set_cookie(request({{"host", "localhost:1;x=y"}})).starts_with("attune="));
}

}  // namespace attune::access_test
