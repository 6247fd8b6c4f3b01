// URLs and headers, taken apart.
#include "dashboard/http_message.h"

#include <catch2/catch.hpp>

namespace attune::http_message_test {

TEST_CASE("http message: a URL is taken apart and decoded") {
  const HttpTarget target = parse_target("/api/a%20b/c+d/?x=1&y=p%26q+r&flag&&x=2").value();
  CHECK(target.path == std::vector<std::string>{"api", "a b", "c+d"});
  CHECK(target.value("x") == "1");
  CHECK(target.value("y") == "p&q r");
  CHECK(target.value("flag").empty());
  CHECK(target.value("z").empty());
  CHECK(target.query.size() == 4);
  CHECK(parse_target("/").value().path.empty());
  CHECK(parse_target("/?q=1").value().path.empty());
  CHECK(parse_target("/%C3%BC").value().path.front() == "ü");
}

TEST_CASE("http message: no part of a path leads elsewhere") {
  for (const char* bad :
       {"",        "a",         "http://host/", "*",      "//etc",  "/a//b",    "/.",      "/..",
        "/a/../b", "/%2e%2e/x", "/%2E%2e",      "/a%2fb", "/a%5cb", "/a\\b",    "/a%00",   "/a%0a",
        "/a%7f",   "/%",        "/%4",          "/%zz",   "/%ff",   "/x?y=%ff", "/x?%zz=1"}) {
    INFO(bad);
    CHECK_FALSE(parse_target(bad).has_value());
  }
}

TEST_CASE("http message: headers and cookies are found by their names") {
  const HttpRequest request{
      .method = "GET",
      .target = {},
      .headers = {{"cookie", "a=1; attune80=xyz ;b"}, {"cookie", "c=3"}, {"host", "localhost"}},
      .body = ""};
  CHECK(request.header("host") == "localhost");
  CHECK(request.header("origin").empty());
  CHECK(request.cookie("attune80") == "xyz");
  CHECK(request.cookie("attune8").empty());
  CHECK(request.cookie("c") == "3");
  CHECK(request.cookie("b").empty());
}

}  // namespace attune::http_message_test
