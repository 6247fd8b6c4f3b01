#include "wire/host_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace attune {
namespace {

bool is_plain(char c) { return c > ' ' && c < 0x7f; }

}  // namespace

std::string HostPort::text() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<HostPort> parse_host_port(std::string_view text) {
  const auto bad = [text](std::string_view what) {
    std::string shown(text.substr(0, 200));
    std::ranges::replace_if(shown, [](char c) { return c < ' ' || c >= 0x7f; }, '.');
    return fail(fmt::format("address '{}': {}; HOST:PORT or [IPv6]:PORT is expected", shown, what));
  };
  if (!std::ranges::all_of(text, is_plain)) return bad("a blank or a character beyond ASCII");
  const auto colon = text.rfind(':');
  if (colon == text.npos || text.ends_with(']')) return bad("the port is missing");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != host.npos) {
    return bad("an IPv6 address needs brackets");
  }
  if (host.empty()) return bad("the host is missing");
  HostPort parsed{std::string(host)};
  const std::string_view port = text.substr(colon + 1);
  const char* end = port.data() + port.size();
  const auto number = std::from_chars(port.data(), end, parsed.port);
  if (number.ec != std::errc() || number.ptr != end) return bad("the port is not 0 to 65535");
  return parsed;
}

}  // namespace attune
