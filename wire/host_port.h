#pragma once
// HOST:PORT as text. IPv6 addresses stand in brackets: [::1]:7000.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace attune {

struct HostPort {
  std::string host;  // name or address; IPv6 without its brackets
  std::uint16_t port = 0;

  std::string text() const;
  bool operator==(const HostPort&) const = default;
};

// Accepts port 0: a listener then gets a free port from the system. Errors show the text and the
// expected form.
Result<HostPort> parse_host_port(std::string_view text);

}  // namespace attune
