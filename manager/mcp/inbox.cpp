#include "manager/mcp/inbox.h"

#include <fmt/format.h>

namespace attune {
namespace {

// Far above what a client sends: a tool takes at most some hundred configurations.
constexpr JsonLimits kLimits = {.depth = 64, .elements = 10'000, .values = 200'000};

// The id that a notification cancels; null: it is another message.
json cancelled_id(const json& message) {
  if (!message.is_object() || message.contains("id")) return {};
  if (message.value("method", json()) != "notifications/cancelled") return {};
  const json params = message.value("params", json());
  return params.is_object() ? params.value("requestId", json()) : json();
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\r") == std::string::npos;
}

}  // namespace

std::optional<std::expected<json, RpcError>> Inbox::next() {
  do {
    if (waiting_.empty()) {
      auto line = lines_.next(true);
      if (!line) return std::nullopt;
      take(*std::move(line));
    }
    // Bounded, so that no stream of cancellations keeps a request from its answer.
    for (std::size_t i = 0; i < kWaiting && has_room(); ++i) {
      auto line = lines_.next(false);
      if (!line) break;
      take(*std::move(line));
    }
  } while (waiting_.empty());
  auto message = std::move(waiting_.front().message);
  waiting_.pop_front();
  return message;
}

void Inbox::take(InputLine line) {
  if (line.too_long) {
    waiting_.push_back(
        {rpc_fail(kParseError, fmt::format("a line has at most {} bytes", kLineBytes))});
    return;
  }
  if (is_blank(line.text)) return;
  auto message = parse_json(line.text, kLimits);
  if (!message) {
    waiting_.push_back({rpc_fail(kParseError, message.error().message)});
  } else if (const json id = cancelled_id(*message); !id.is_null()) {
    cancel(id);
  } else {
    waiting_.push_back({*std::move(message), line.text.size()});
  }
}

bool Inbox::has_room() const {
  std::size_t bytes = 0;
  for (const Waiting& each : waiting_) bytes += each.bytes;
  return waiting_.size() < kWaiting && bytes < kLineBytes;
}

void Inbox::cancel(const json& id) {
  std::erase_if(waiting_, [&id](const Waiting& each) {
    const auto& message = each.message;
    // The protocol does not allow to cancel `initialize`.
    return message && message->is_object() && message->contains("id") && (*message)["id"] == id &&
           message->value("method", json()) != "initialize";
  });
}

}  // namespace attune
