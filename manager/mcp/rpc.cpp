#include "manager/mcp/rpc.h"

#include <fmt/format.h>

namespace attune {
namespace {

// A text as an id comes back in the answer. No client needs a long one.
constexpr std::size_t kLongestId = 1000;

bool is_id(const json& id) {
  if (id.is_string()) return id.get_ref<const std::string&>().size() <= kLongestId;
  return id.is_number_integer();
}

}  // namespace

std::unexpected<RpcError> rpc_fail(RpcCode code, std::string message, json id) {
  return std::unexpected(RpcError{code, std::move(message), std::move(id)});
}

std::expected<RpcMessage, RpcError> read_message(const json& value) {
  if (!value.is_object())
    return rpc_fail(kInvalidRequest,
                    fmt::format("a message is an object, not {}", json_type_name(value)));
  RpcMessage message;
  const auto id = value.find("id");
  message.kind = id == value.end() ? RpcMessage::Kind::notification : RpcMessage::Kind::request;
  if (id != value.end()) {
    if (!is_id(*id))
      return rpc_fail(
          kInvalidRequest,
          fmt::format("'id' must be a whole number or a text of at most {} bytes", kLongestId));
    message.id = *id;
  }
  if (value.value("jsonrpc", json()) != "2.0")
    return rpc_fail(kInvalidRequest, "'jsonrpc' must be \"2.0\"", message.id);
  const auto method = value.find("method");
  if (method == value.end() && (value.contains("result") || value.contains("error"))) {
    message.kind = RpcMessage::Kind::response;
    return message;
  }
  if (method == value.end() || !method->is_string())
    return rpc_fail(kInvalidRequest, "'method' must be a text", message.id);
  message.method = method->get<std::string>();
  if (const auto params = value.find("params"); params != value.end() && !params->is_null()) {
    if (!params->is_object())
      return rpc_fail(kInvalidParams,
                      fmt::format("'params' must be an object, not {}", json_type_name(*params)),
                      message.id);
    message.params = *params;
  }
  return message;
}

json rpc_result(const json& id, const json& result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}};
}

json rpc_error(const RpcError& error) {
  return {{"jsonrpc", "2.0"},
          {"id", error.id},
          {"error", {{"code", static_cast<int>(error.code)}, {"message", error.message}}}};
}

}  // namespace attune
