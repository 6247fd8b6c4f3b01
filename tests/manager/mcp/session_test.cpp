// The protocol: versions, order, errors, batches. None of it needs an experiment.
#include "manager/mcp/session.h"

#include <catch2/catch.hpp>

#include "manager/mcp/rpc.h"
#include "tests/manager/mcp/client.h"

namespace attune::session_test {

const std::filesystem::path kNowhere = "/nonexistent/attune";

std::string ping(const std::string& id) {
  return R"({"jsonrpc": "2.0", "id": )" + id + R"(, "method": "ping"})";
}

TEST_CASE("mcp session: a version is negotiated") {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18"})
    CHECK(Client(kNowhere).initialize(version)["result"]["protocolVersion"] == version);
  for (const char* version : {"2099-01-01", "", "1"})
    CHECK(Client(kNowhere).initialize(version)["result"]["protocolVersion"] == "2025-06-18");
  const json result = Client(kNowhere).initialize()["result"];
  CHECK(result["serverInfo"]["name"] == "attune");
  CHECK(result["capabilities"] == json{{"tools", {{"listChanged", false}}}});
}

TEST_CASE("mcp session: initialize comes first, and once") {
  Client client(kNowhere);
  CHECK(error_code(client.request("tools/list", json::object())) == kInvalidRequest);
  CHECK(error_code(client.call("list")) == kInvalidRequest);
  CHECK(error_code(client.request("initialize", json::object())) == kInvalidParams);
  CHECK(error_code(client.request("initialize", {{"protocolVersion", 1}})) == kInvalidParams);
  CHECK(client.say(ping("\"early\"")) ==
        json{{"jsonrpc", "2.0"}, {"id", "early"}, {"result", json::object()}});
  client.initialize();
  CHECK(error_code(client.initialize()) == kInvalidRequest);
  CHECK(client.request("tools/list", json::object())["result"]["tools"].size() == 7);
}

TEST_CASE("mcp session: unknown methods and tools") {
  Client client(kNowhere);
  client.initialize();
  for (const char* method : {"resources/list", "prompts/list", "", "initialized", "rpc.discover"})
    CHECK(error_code(client.request(method, json::object())) == kMethodNotFound);
  // With an id it is a request, whatever its name.
  CHECK(error_code(client.request("notifications/initialized", json::object())) == kMethodNotFound);
  CHECK(error_code(client.request("tools/call", {{"name", "lst"}})) == kInvalidParams);
  CHECK(error_code(client.request("tools/call", {{"name", 1}})) == kInvalidParams);
  CHECK(error_code(client.request("tools/call", json::object())) == kInvalidParams);
  CHECK(error_code(client.request("tools/call", {{"name", "list"}, {"arguments", {1}}})) ==
        kInvalidParams);
  CHECK(error_code(client.request("tools/list", {{"cursor", "x"}})) == kInvalidParams);
}

TEST_CASE("mcp session: notifications and responses get no answer") {
  Client client(kNowhere, true);
  client.initialize();
  for (const char* text :
       {R"({"jsonrpc": "2.0", "method": "notifications/initialized"})",
        R"({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})",
        R"({"jsonrpc": "2.0", "method": "ping"})", R"({"jsonrpc": "2.0", "method": "unknown"})",
        R"({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "stop"}})",
        R"({"jsonrpc": "2.0", "id": 1, "result": {}})",
        R"({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}})"})
    CHECK_FALSE(client.say(text));
}

TEST_CASE("mcp session: batches belong to one version") {
  const std::string batch =
      "[" + ping("1") + R"(, 3, {"jsonrpc": "2.0", "method": "n"}, )" + ping("2") + "]";
  for (const char* version : {"2024-11-05", "2025-06-18"}) {
    Client client(kNowhere);
    client.initialize(version);
    CHECK(error_code(client.say(batch)) == kInvalidRequest);
  }
  Client client(kNowhere);
  CHECK(error_code(client.say("[" + ping("1") + "]")) == kInvalidRequest);
  client.initialize("2025-03-26");
  const auto answers = client.say(batch);
  REQUIRE(answers);
  REQUIRE(answers->size() == 3);
  CHECK((*answers)[0]["id"] == 1);
  CHECK((*answers)[1]["error"]["code"] == kInvalidRequest);
  CHECK((*answers)[2]["id"] == 2);
  CHECK_FALSE(client.say(R"([{"jsonrpc": "2.0", "method": "n"}])"));
  CHECK(error_code(client.say("[]")) == kInvalidRequest);
  std::string many = "[" + ping("0");
  for (int i = 1; i < 51; ++i) many += "," + ping(std::to_string(i));
  CHECK(error_code(client.say(many + "]")) == kInvalidRequest);
  CHECK((*client.say("[[" + ping("1") + "]]"))[0]["error"]["code"] == kInvalidRequest);
}

TEST_CASE("mcp session: every tool has a schema, a description and hints") {
  Client reading(kNowhere), changing(kNowhere, true);
  reading.initialize();
  changing.initialize();
  const json tools = changing.request("tools/list", json::object())["result"]["tools"];
  std::vector<std::string> names;
  for (const json& tool : tools) {
    INFO(dump_json(tool));
    names.push_back(tool["name"]);
    CHECK_FALSE(tool["description"].get<std::string>().empty());
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK(tool["inputSchema"]["additionalProperties"] == false);
    for (const json& argument : tool["inputSchema"]["properties"])
      CHECK_FALSE(argument["description"].get<std::string>().empty());
    const bool changes = !tool["annotations"]["readOnlyHint"].get<bool>();
    CHECK(changes == tool["annotations"].contains("destructiveHint"));
    // What changes something has to name the experiment.
    const json required = tool["inputSchema"]["required"];
    CHECK((std::ranges::find(required, "experiment") != required.end()) == changes);
  }
  CHECK(names == std::vector<std::string>{"list", "status", "best", "trials", "show", "logs",
                                          "config", "add", "update", "kill", "stop"});
  const json listed = reading.request("tools/list", json::object());
  for (const json& tool : listed["result"]["tools"])
    CHECK(tool["annotations"]["readOnlyHint"] == true);
}

TEST_CASE("mcp session: without permission nothing is changed, and the cure is named") {
  Client client(kNowhere);
  client.initialize();
  for (const char* tool : {"add", "update", "kill", "stop"})
    CHECK_THAT(client.refusal(tool, {{"experiment", "abcd2345"}}),
               Catch::Contains("attune mcp --allow-changes"));
}

TEST_CASE("mcp session: no store is an error of the tool") {
  Client client(kNowhere, true);
  client.initialize();
  CHECK_THAT(client.refusal("list"), Catch::Contains("no experiments in /nonexistent/attune"));
  CHECK_THAT(client.refusal("stop", {{"experiment", "x"}}), Catch::Contains("no experiments in"));
}

}  // namespace attune::session_test
