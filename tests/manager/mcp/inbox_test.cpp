// What reaches the session: messages, mistakes, and no request that was cancelled in time.
#include "manager/mcp/inbox.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/manager/mcp/input_pipe.h"

namespace attune::inbox_test {

std::string request(int id, const std::string& method = "ping") {
  return R"({"jsonrpc": "2.0", "id": )" + std::to_string(id) + R"(, "method": ")" + method +
         "\"}\n";
}

std::string cancel(const std::string& id) {
  return R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": )" +
         id + "}}\n";
}

// The ids of all messages; -1 for what is none.
std::vector<json> ids(const std::string& input) {
  InputPipe pipe;
  pipe.write(input);
  pipe.close();
  Inbox inbox(pipe.read_end.get());
  std::vector<json> found;
  while (auto message = inbox.next()) found.push_back(*message ? (**message)["id"] : json(-1));
  return found;
}

TEST_CASE("inbox: messages come in their order, blank lines do not count") {
  CHECK(ids(request(1) + "\n \r\n" + request(2) + request(3)) == std::vector<json>{1, 2, 3});
}

TEST_CASE("inbox: a line that is no JSON is a parse error") {
  for (const std::string line : {"garbage", "{", "\xff\xfe", "{\"a\": \"\xff\"}", "1 2"}) {
    INFO(line);
    InputPipe pipe;
    pipe.write(line + "\n" + request(1));
    pipe.close();
    Inbox inbox(pipe.read_end.get());
    const auto wrong = inbox.next();
    REQUIRE(wrong.has_value());
    REQUIRE_FALSE(wrong->has_value());
    CHECK(wrong->error().code == kParseError);
    CHECK(wrong->error().id.is_null());
    CHECK(inbox.next().value().value()["id"] == 1);
  }
}

TEST_CASE("inbox: JSON that would cost too much is refused") {
  CHECK(ids(std::string(30'000, '[') + "\n" + request(1)) == std::vector<json>{-1, 1});
  std::string wide = "[0";
  for (int i = 0; i < 20'000; ++i) wide += ",0";
  CHECK(ids(wide + "]\n" + request(1)) == std::vector<json>{-1, 1});
}

TEST_CASE("inbox: a line of too many bytes is refused without reading it into memory") {
  InputPipe pipe;
  std::thread client([&] {
    pipe.write(std::string(Inbox::kLineBytes + 1, ' ') + "\n" + request(1));
    pipe.close();
  });
  Inbox inbox(pipe.read_end.get());
  CHECK(inbox.next().value().error().code == kParseError);
  CHECK(inbox.next().value().value()["id"] == 1);
  CHECK_FALSE(inbox.next().has_value());
  client.join();
}

TEST_CASE("inbox: a request that waits is cancelled") {
  CHECK(ids(request(1) + request(2) + request(3) + cancel("2")) == std::vector<json>{1, 3});
  CHECK(ids(request(1) + cancel("1") + request(2)) == std::vector<json>{2});
  CHECK(ids(request(1) + cancel("1")).empty());
}

TEST_CASE("inbox: only the request of exactly that id is cancelled, and never initialize") {
  CHECK(ids(request(1) + cancel("\"1\"")) == std::vector<json>{1});
  CHECK(ids(request(1) + cancel("7")) == std::vector<json>{1});
  CHECK(ids(cancel("1") + request(1)) == std::vector<json>{1});
  CHECK(ids(request(1, "initialize") + cancel("1")) == std::vector<json>{1});
}

TEST_CASE("inbox: no flood of cancellations keeps a request from its answer") {
  InputPipe pipe;
  std::string flood = request(1);
  for (int i = 0; i < 500; ++i) flood += cancel("7");
  pipe.write(flood + request(2) + cancel("1"));
  Inbox inbox(pipe.read_end.get());
  CHECK(inbox.next().value().value()["id"] == 1);
  pipe.close();
  CHECK(inbox.next().value().value()["id"] == 2);
}

}  // namespace attune::inbox_test
