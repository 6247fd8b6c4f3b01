#pragma once
// The messages of JSON-RPC 2.0 as the Model Context Protocol uses them: parameters are objects, and
// ids are texts or whole numbers. Does no input and output.
#include <expected>
#include <string>

#include "base/json.h"

namespace attune {

// The codes of JSON-RPC 2.0.
enum RpcCode {
  kParseError = -32700,      // the line is no JSON
  kInvalidRequest = -32600,  // it is JSON, but no message that is allowed now
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603
};

struct RpcError {
  RpcCode code = kInternalError;
  std::string message;  // one sentence, with the cure
  json id = {};         // of the request; null: it is not known
};

std::unexpected<RpcError> rpc_fail(RpcCode code, std::string message, json id = {});

// A request wants an answer; a notification gets none. A response answers a request of ours; since
// we send none, it is ignored.
struct RpcMessage {
  enum class Kind { request, notification, response } kind = Kind::request;
  std::string method;
  json params = json::object();  // an object
  json id;                       // of a request or response
};

// Error: the value is no message.
std::expected<RpcMessage, RpcError> read_message(const json& value);

json rpc_result(const json& id, const json& result);
json rpc_error(const RpcError& error);

}  // namespace attune
