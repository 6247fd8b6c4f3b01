// Which JSON is a message, and the code of what is none.
#include "manager/mcp/rpc.h"

#include <catch2/catch.hpp>

namespace attune::rpc_test {

RpcError refused(const std::string& text) {
  INFO(text);
  const auto message = read_message(parse_json(text).value());
  REQUIRE_FALSE(message.has_value());
  return message.error();
}

RpcMessage read(const std::string& text) {
  INFO(text);
  const auto message = read_message(parse_json(text).value());
  REQUIRE(message.has_value());
  return *message;
}

TEST_CASE("rpc: requests, notifications and responses") {
  const RpcMessage request =
      read(R"({"jsonrpc": "2.0", "id": "a", "method": "m", "params": {"x": 1}})");
  CHECK(request.kind == RpcMessage::Kind::request);
  CHECK(request.method == "m");
  CHECK(request.id == "a");
  CHECK(request.params == json{{"x", 1}});
  const RpcMessage bare = read(R"({"jsonrpc": "2.0", "id": -3, "method": "m", "params": null})");
  CHECK(bare.params == json::object());
  CHECK(read(R"({"jsonrpc": "2.0", "method": "m"})").kind == RpcMessage::Kind::notification);
  CHECK(read(R"({"jsonrpc": "2.0", "id": 1, "result": {}})").kind == RpcMessage::Kind::response);
  CHECK(read(R"({"jsonrpc": "2.0", "id": 1, "error": {}})").kind == RpcMessage::Kind::response);
}

TEST_CASE("rpc: what is no message") {
  for (const char* text :
       {"1", "null", "\"text\"", R"({})", R"({"jsonrpc": "2.0"})", R"({"method": "m", "id": 1})",
        R"({"jsonrpc": "1.0", "method": "m"})", R"({"jsonrpc": 2.0, "method": "m"})",
        R"({"jsonrpc": "2.0", "method": 1})", R"({"jsonrpc": "2.0", "id": 1, "method": null})"})
    CHECK(refused(text).code == kInvalidRequest);
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 1, "method": "m", "params": [1]})").code ==
        kInvalidParams);
}

TEST_CASE("rpc: an id that cannot be one is not sent back") {
  for (const std::string id : {"null", "1.5", "true", "[1]", "{}", "NaN"}) {
    const RpcError error = refused(R"({"jsonrpc": "2.0", "method": "m", "id": )" + id + "}");
    CHECK(error.code == kInvalidRequest);
    CHECK(error.id.is_null());
  }
  const std::string longest(2'000, 'x');
  CHECK(refused(R"({"jsonrpc": "2.0", "method": "m", "id": ")" + longest + "\"}").id.is_null());
}

TEST_CASE("rpc: the error of a request has its id") {
  CHECK(refused(R"({"jsonrpc": "2.0", "id": 7, "method": 1})").id == 7);
  CHECK(dump_json(rpc_error({kInvalidParams, "why", 7})) ==
        R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"why"}})");
  CHECK(dump_json(rpc_result("a", {{"x", 1}})) == R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})");
}

}  // namespace attune::rpc_test
