#pragma once
// A client of an HTTP server in the same thread: it sends bytes, and turns the io_context until an
// answer has come.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include <boost/asio/io_context.hpp>

#include "os/unique_fd.h"
#include "tests/support/run_until.h"

namespace attune::test {

class HttpClient {
 public:
  // `address`: 127.0.0.1:PORT.
  HttpClient(boost::asio::io_context& io, const std::string& address)
      : io_(io), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::uint16_t port = 0;
    std::from_chars(address.data() + address.rfind(':') + 1, address.data() + address.size(), port);
    to.sin_port = htons(port);
    connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }

  bool connected() const { return connected_; }
  void send(std::string_view bytes) {
    std::ignore = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // What has come and was not taken yet, once it contains `end`, or the server has hung up.
  std::string await(std::string_view end) {
    run_until(io_, [&] {
      read();
      return closed_ || got_.find(end) != std::string::npos;
    });
    return got_;
  }
  // A whole response: its head and as much of a body as it announces.
  std::string response() {
    std::string whole;
    run_until(io_, [&] {
      read();
      const std::size_t head = got_.find("\r\n\r\n");
      if (head == std::string::npos) return closed_;
      const std::size_t field = got_.find("Content-Length: ");
      std::size_t size = 0;
      if (field < head) std::from_chars(got_.data() + field + 16, got_.data() + got_.size(), size);
      if (got_.size() < head + 4 + size) return closed_;
      whole = got_.substr(0, head + 4 + size);
      got_.erase(0, whole.size());
      return true;
    });
    return whole;
  }
  std::string ask(std::string_view bytes) {
    send(bytes);
    return response();
  }
  bool hangs_up() {
    return run_until(io_, [&] {
      read();
      return closed_;
    });
  }

 private:
  void read() {
    char buffer[65536];
    while (true) {
      const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) closed_ = true;
      if (count <= 0) return;
      got_.append(buffer, static_cast<std::size_t>(count));
    }
  }

  boost::asio::io_context& io_;
  UniqueFd socket_;
  std::string got_;
  bool connected_ = false, closed_ = false;
};

}  // namespace attune::test
