#pragma once
// The protocol with one client: which message is answered by what. Does no input and output.
// docs/mcp.md says what is supported.
#include <optional>
#include <string>
#include <vector>

#include "manager/mcp/rpc.h"
#include "manager/mcp/tool.h"
#include "os/log.h"

namespace attune {

struct McpSessionOptions {
  ToolContext context;
  bool allow_changes = false;
  Log log = {};  // a line for each call that changes something
};

// One thread owns a McpSession.
class McpSession {
 public:
  explicit McpSession(McpSessionOptions options);

  // The answer to a message or, in a version that has them, to a batch of messages. Nothing: there
  // is none, as for notifications.
  std::optional<json> answer(const json& message);

 private:
  using Answer = std::expected<json, RpcError>;
  std::optional<json> answer_one(const json& value);
  std::optional<json> answer_batch(const json& batch);
  Answer carry_out(const RpcMessage& request);
  Answer initialize(const json& params);
  Answer list_tools(const json& params) const;
  Answer call_tool(const json& params) const;

  McpSessionOptions options_;
  std::vector<Tool> tools_;
  std::string version_;  // of the protocol; empty: `initialize` has not come yet
};

}  // namespace attune
