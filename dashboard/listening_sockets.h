#pragma once
// Opens the sockets of a server by the text of its address.
#include <string>
#include <vector>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include "base/result.h"

namespace attune {

struct ListeningSockets {
  std::vector<boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>> acceptors;
  std::string address;      // as given, with the port that was chosen
  std::string socket_file;  // of a Unix socket: its path, to remove at the end
  bool loopback = true;     // only this machine can reach them
};

// `address`: HOST:PORT (port 0: the system chooses one), or unix:PATH of a socket that only its
// user can open. A socket that a dead server has left there is replaced. Errors name the address.
//
// 127.0.0.1 means [::1] as well, and the other way round, if the machine has both: "localhost" may
// mean either, and another user could take the other one.
Result<ListeningSockets> open_listening_sockets(boost::asio::io_context& io,
                                                const std::string& address);

}  // namespace attune
