#include "daemon/websocket_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "protocol/frame.h"

namespace attune {
namespace {

bool is_port(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= 65535;
}

// Anything else could break the request's lines.
bool is_plain(char c) { return c > ' ' && c < 0x7f; }

}  // namespace

std::string WebSocketUrl::host_header() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + port;
}

Result<WebSocketUrl> parse_websocket_url(std::string_view text) {
  const auto bad = [&](std::string_view what) {
    return fail(
        fmt::format("command channel '{}': {}; ws://HOST:PORT/tuner is expected in --channel or in "
                    "NNI_TUNER_COMMAND_CHANNEL",
                    printable(text, 200), what));
  };
  constexpr std::string_view kScheme = "ws://";
  if (text.starts_with("wss://"))
    return bad("TLS is not spoken, and NNI's managers do not offer it");
  if (!text.starts_with(kScheme)) return bad("not a WebSocket");
  if (!std::ranges::all_of(text, is_plain)) return bad("a blank or a character beyond ASCII");

  WebSocketUrl url;
  url.text = text;
  std::string_view authority = text.substr(kScheme.size());
  if (const auto slash = authority.find('/'); slash != std::string_view::npos) {
    url.path = authority.substr(slash);
    authority = authority.substr(0, slash);
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto bracket = authority.find(']');
    if (bracket == std::string_view::npos) return bad("'[' without ']'");
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (url.host.empty()) return bad("the host is missing");
  if (!port.empty()) {
    if (!port.starts_with(':') || !is_port(port.substr(1))) return bad("the port is no port");
    url.port = port.substr(1);
  }
  return url;
}

}  // namespace attune
