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

// Port 0 is accepted: who listens there gets a free one. Errors show the text and the form that is
// expected.
Result<HostPort> parse_host_port(std::string_view text);

}  // namespace attune
