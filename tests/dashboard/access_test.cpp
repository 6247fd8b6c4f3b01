// Who is served: each rule alone.
#include "dashboard/access.h"

#include <catch2/catch.hpp>

namespace attune::access_test {

using Headers = std::vector<std::pair<std::string, std::string>>;

HttpRequest request(Headers headers) {
  return {.method = "GET", .target = {}, .headers = std::move(headers), .body = ""};
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

TEST_CASE("access: data and changes need the token or the key") {
  const Secret token = Secret::draw();
  const Access access({}, token);
  const Access other({}, token);  // a server that was started later
  const std::string bearer = "Bearer " + token.hex();
  for (const bool changes : {false, true}) {
    const auto status = [&](const Access& whose, Headers headers) {
      headers.emplace_back("host", "localhost:8470");
      const auto refusal = whose.check_user(request(std::move(headers)), changes);
      return refusal ? refusal->status : 200;
    };
    INFO(changes);
    CHECK(status(access, {}) == 401);
    CHECK(status(access, {{"authorization", bearer}}) == 200);
    CHECK(status(access, {{"authorization", "Bearer " + Secret::draw().hex()}}) == 401);
    CHECK(status(access, {{"authorization", "Bearer "}}) == 401);
    CHECK(status(access, {{"authorization", token.hex()}}) == 401);
    CHECK(status(access, {{"attune-key", access.key()}}) == 200);
    CHECK(status(access, {{"attune-key", token.hex()}}) == 401);
    CHECK(status(access, {{"attune-key", ""}}) == 401);
    CHECK(status(access, {{"cookie", "attune8470=" + access.key()}}) == 401);
    CHECK(status(other, {{"attune-key", access.key()}}) == 401);
    const Access reader({.hosts = {}, .read_only = true}, token);
    CHECK(status(reader, {{"authorization", bearer}}) == (changes ? 403 : 200));
    CHECK(status(reader, {}) == 401);
  }
}

}  // namespace attune::access_test
