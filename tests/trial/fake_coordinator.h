#pragma once
// A coordinator whose words the test says, on a socket of this machine. Used by one thread, while
// another one waits in a BufferClient.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>
#include <string>

#include "base/unique_fd.h"
#include "wire/address_file.h"
#include "wire/json_frames.h"

namespace attune::test {

inline void must(bool fine, const char* what) {
  if (!fine) throw std::runtime_error(what);
}

// One connection of a program.
class FakePeer {
 public:
  explicit FakePeer(UniqueFd fd) : fd_(std::move(fd)) {}

  json hear() {
    char piece[4096];
    while (true) {
      auto next = decoder_.next();
      must(next.has_value(), "it speaks no frames");
      if (*next) return **next;
      pollfd ready = {fd_.get(), POLLIN, 0};
      must(::poll(&ready, 1, 600'000) == 1, "it says nothing");
      const ssize_t n = ::recv(fd_.get(), piece, sizeof(piece), 0);
      must(n > 0, "it has closed");
      decoder_.feed({piece, static_cast<std::size_t>(n)});
    }
  }
  void say(const json& message) {
    const std::string frame = encode_json_frame(message).value();
    must(::send(fd_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(frame.size()),
         "cannot say it");
  }
  void pushed(std::int64_t seq) { say({{"type", "pushed"}, {"buffer", "b"}, {"seq", seq}}); }

 private:
  UniqueFd fd_;
  JsonFrameDecoder decoder_;
};

class FakeCoordinator {
 public:
  // At a free port, which the file says.
  explicit FakeCoordinator(const std::string& file, const std::string& token = "secret")
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    auto* address = reinterpret_cast<sockaddr*>(&here);
    must(::bind(fd_.get(), address, size) == 0 && ::listen(fd_.get(), 8) == 0, "cannot listen");
    must(::getsockname(fd_.get(), address, &size) == 0, "no name");
    must(write_address_file(file, {fmt::format("127.0.0.1:{}", ntohs(here.sin_port)), token})
             .has_value(),
         "cannot write the address file");
  }

  FakePeer accept() {
    pollfd ready = {fd_.get(), POLLIN, 0};
    must(::poll(&ready, 1, 600'000) == 1, "nobody connects");
    return FakePeer(UniqueFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  // One that is welcome. No stall of a busy machine is as long as the silence that it may keep.
  FakePeer greet(double ping = 10, double silence = 3600) {
    FakePeer peer = accept();
    hello = peer.hear();
    peer.say({{"type", "welcome"}, {"epoch", 1}, {"ping", ping}, {"silence", silence}});
    return peer;
  }

  json hello;

 private:
  UniqueFd fd_;
};

}  // namespace attune::test
