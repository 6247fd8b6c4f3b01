#include "manager/experiment/listen_address.h"

#include <fmt/format.h>

#include "wire/host_port.h"

namespace attune {

bool is_any_host(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

bool is_this_host(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

ListenAddress read_listen_address(const Section& section) {
  ListenAddress result;
  const auto listen = section.text("listen");
  const auto advertise = section.text("advertise");
  if (listen) {
    const auto parsed = parse_host_port(*listen);
    if (!parsed) {
      section.error("listen", parsed.error().message);
    } else if (is_any_host(parsed->host) && section.find("advertise") == nullptr) {
      section.error("listen", fmt::format("{} is no address that another machine can dial; say in "
                                          "advertise how others know this host: HOST:PORT",
                                          parsed->host));
    }
    result.listen = *listen;
  }
  if (advertise) {
    const auto parsed = parse_host_port(*advertise);
    if (!parsed) {
      section.error("advertise", parsed.error().message);
    } else if (section.find("listen") == nullptr || parsed->port == 0 ||
               is_any_host(parsed->host)) {
      section.error("advertise",
                    "the host and port that others dial; give listen the same port, as in "
                    "listen: 0.0.0.0:7000, advertise: head:7000");
    }
    result.advertise = *advertise;
  }
  return result;
}

}  // namespace attune
