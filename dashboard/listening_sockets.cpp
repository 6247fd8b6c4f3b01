#include "dashboard/listening_sockets.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <tuple>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "wire/host_port.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::string_view kUnix = "unix:";
constexpr int kPortTries = 16;  // until one is free in IPv4 and IPv6

// Whether the machine has no IPv4, or no IPv6.
bool is_missing(Code error) {
  return error == asio::error::address_family_not_supported ||
         error == boost::system::errc::address_not_available;
}

// Adds a socket at an endpoint.
Code open(asio::io_context& io, const asio::generic::stream_protocol::endpoint& endpoint,
          bool reuse, ListeningSockets& sockets) {
  auto& acceptor = sockets.acceptors.emplace_back(io);
  Code error;
  std::ignore = acceptor.open(endpoint.protocol(), error);
  if (!error && reuse)
    std::ignore = acceptor.set_option(asio::socket_base::reuse_address(true), error);
  // The file of a socket must never be open to others, not even for a moment.
  const mode_t before = ::umask(0177);
  if (!error) std::ignore = acceptor.bind(endpoint, error);
  ::umask(before);
  if (!error) std::ignore = acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) sockets.acceptors.pop_back();
  return error;
}

Result<void> listen_at_file(asio::io_context& io, const std::string& file,
                            ListeningSockets& sockets) {
  if (file.empty() || file.size() > 100)
    return fail(fmt::format("{}{}: the path of a socket has 1 to 100 bytes", kUnix, file));
  const asio::local::stream_protocol::endpoint endpoint(file);
  Code error;
  struct stat status = {};
  if (::lstat(file.c_str(), &status) == 0) {
    asio::local::stream_protocol::socket other(io);
    std::ignore = other.connect(endpoint, error);
    if (!S_ISSOCK(status.st_mode) || error != asio::error::connection_refused)
      return fail(fmt::format("{}{}: {}", kUnix, file,
                              error ? "something else is there" : "another server listens there"));
    ::unlink(file.c_str());
  }
  error = open(io, endpoint, false, sockets);
  if (error) return fail(fmt::format("cannot listen at {}{}: {}", kUnix, file, error.message()));
  sockets.socket_file = file;
  sockets.address = std::string(kUnix) + file;
  return {};
}

Result<void> listen_at_port(asio::io_context& io, const std::string& address,
                            ListeningSockets& sockets) {
  const HostPort wanted = TRY(parse_host_port(address));
  tcp::resolver resolver(io);
  Code error;
  const auto found = resolver.resolve(wanted.host, std::to_string(wanted.port), error);
  if (error || found.empty())
    return fail(fmt::format("cannot listen at {}: {}", address, error.message()));
  const tcp::endpoint first = found.begin()->endpoint();
  sockets.loopback = first.address().is_loopback();
  const asio::ip::address v4 = asio::ip::address_v4::loopback();
  const asio::ip::address v6 = asio::ip::address_v6::loopback();
  const bool is_localhost = first.address() == v4 || first.address() == v6;
  const asio::ip::address twin = first.address() == v4 ? v6 : v4;
  for (int tried = 1;; ++tried) {
    error = open(io, first, true, sockets);
    if (error) return fail(fmt::format("cannot listen at {}: {}", address, error.message()));
    tcp::endpoint bound;
    const auto local = sockets.acceptors.front().local_endpoint(error);
    std::memcpy(bound.data(), local.data(), local.size());
    sockets.address = HostPort{wanted.host, bound.port()}.text();
    if (!is_localhost) return {};
    error = open(io, tcp::endpoint(twin, bound.port()), true, sockets);
    if (!error || is_missing(error)) return {};
    sockets.acceptors.clear();
    if (error != asio::error::address_in_use)
      return fail(fmt::format("cannot listen at {} besides {}: {}", twin.to_string(), address,
                              error.message()));
    if (wanted.port != 0 || tried == kPortTries)
      return fail(
          fmt::format("cannot listen at {}: another program has this port of {}, and clients that "
                      "ask localhost could reach it instead; choose another port",
                      address, twin.to_string()));
  }
}

}  // namespace

Result<ListeningSockets> open_listening_sockets(asio::io_context& io, const std::string& address) {
  ListeningSockets sockets;
  if (address.starts_with(kUnix)) {
    TRY(listen_at_file(io, address.substr(kUnix.size()), sockets));
  } else {
    TRY(listen_at_port(io, address, sockets));
  }
  return sockets;
}

}  // namespace attune
