#pragma once
// ws://HOST[:PORT][/PATH], where NNI's manager (2.8 and later) listens for its tuner.
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

struct WebSocketUrl {
  std::string text;         // as given, for messages
  std::string host;         // name or address; IPv6 without its brackets
  std::string port = "80";  // digits, 1 to 65535
  std::string path = "/";   // with the query

  std::string host_header() const;  // "localhost:8080", "[::1]:8080"
};

// Errors name the URL, what is wrong and the form that is expected.
Result<WebSocketUrl> parse_websocket_url(std::string_view text);

}  // namespace attune
