#pragma once
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "manager/mcp/session.h"

namespace attune {

// A client that talks to a session without pipes.
class Client {
 public:
  explicit Client(const std::filesystem::path& directory, bool allow_changes = false)
      : session_({.context = {directory, clock_}, .allow_changes = allow_changes}) {}

  std::optional<json> say(const std::string& text) {
    return session_.answer(parse_json(text).value());
  }

  json request(const std::string& method, const json& params) {
    const json message = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    const auto answer = session_.answer(message);
    REQUIRE(answer);
    CHECK((*answer)["id"] == 1);
    return parse_json(dump_json(*answer)).value();  // as it comes through a pipe
  }
  json initialize(const std::string& version = "2025-06-18") {
    return request("initialize", {{"protocolVersion", version},
                                  {"capabilities", json::object()},
                                  {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  }
  json call(const std::string& tool, const json& arguments = json::object()) {
    return request("tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  // The structured content of a call that must go well. Its text must hold the same.
  json content(const std::string& tool, const json& arguments = json::object()) {
    const json answer = call(tool, arguments);
    INFO(dump_json(answer));
    REQUIRE(answer.contains("result"));
    CHECK(answer["result"]["isError"] == false);
    const json content = answer["result"]["structuredContent"];
    CHECK(content.is_object());
    CHECK(answer["result"]["content"][0]["text"] == dump_json(content));
    return content;
  }
  // The text of a call that the tool refuses.
  std::string refusal(const std::string& tool, const json& arguments = json::object()) {
    const json answer = call(tool, arguments);
    INFO(dump_json(answer));
    REQUIRE(answer.contains("result"));
    CHECK(answer["result"]["isError"] == true);
    CHECK_FALSE(answer["result"].contains("structuredContent"));
    return answer["result"]["content"][0]["text"];
  }

 private:
  ManualClock clock_{1100};
  McpSession session_;
};

inline int error_code(const std::optional<json>& answer) {
  REQUIRE(answer);
  INFO(dump_json(*answer));
  REQUIRE(answer->contains("error"));
  return (*answer)["error"]["code"].get<int>();
}

}  // namespace attune
