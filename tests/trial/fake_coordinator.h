#pragma once
// A coordinator whose words the test says, on a socket of this machine. Used by one thread, while
// another one waits in a BufferClient.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "os/unique_fd.h"
#include "wire/address_file.h"
#include "wire/handshake.h"
#include "wire/json_frames.h"
#include "wire/tls_session.h"

namespace attune::test {

inline void must(bool fine, const char* what) {
  if (!fine) throw std::runtime_error(what);
}

// One connection of a program. In clear until they have met.
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
      take_in({piece, static_cast<std::size_t>(n)});
    }
  }
  void say(const json& message) {
    const std::string frame = encode_json_frame(message).value();
    if (!tls_) return send(frame);
    must(tls_->write(frame).has_value(), "it is not encrypted yet");
    send(tls_->take_ciphertext());
  }
  // Both prove that they know the secret. Who it is.
  Identity meet(const Secrets& secrets) {
    ServerHandshake handshake(secrets, draw_bytes());
    while (!handshake.done()) {
      const auto answer = handshake.hear(hear());
      must(answer.has_value(), "it does not know the secret");
      if (!handshake.done()) say(*answer);
    }
    tls_.emplace(TlsSession::Side::server, handshake.key());
    take_in(decoder_.take_rest());
    return handshake.peer();
  }
  void pushed(std::int64_t seq) { say({{"type", "pushed"}, {"buffer", "b"}, {"seq", seq}}); }

 private:
  void take_in(std::string_view bytes) {
    if (!tls_) return decoder_.feed(bytes);
    must(tls_->feed(bytes).has_value(), "it is no encryption");
    decoder_.feed(tls_->take_plaintext());
    send(tls_->take_ciphertext());
  }
  void send(const std::string& bytes) {
    must(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size()),
         "cannot say it");
  }

  UniqueFd fd_;
  JsonFrameDecoder decoder_;
  std::optional<TlsSession> tls_;
};

class FakeCoordinator {
 public:
  // At a free port, which the file says.
  explicit FakeCoordinator(const std::string& file, const Secret& secret = Secret(Bytes32{1}))
      : secrets_{{"data", secret}}, fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here = {};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    auto* address = reinterpret_cast<sockaddr*>(&here);
    must(::bind(fd_.get(), address, size) == 0 && ::listen(fd_.get(), 8) == 0, "cannot listen");
    must(::getsockname(fd_.get(), address, &size) == 0, "no name");
    must(write_address_file(file,
                            {fmt::format("127.0.0.1:{}", ntohs(here.sin_port)), "data", secret})
             .has_value(),
         "cannot write the address file");
  }

  FakePeer accept() {
    pollfd ready = {fd_.get(), POLLIN, 0};
    must(::poll(&ready, 1, 600'000) == 1, "nobody connects");
    return FakePeer(UniqueFd(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
  }
  // One that has proven itself.
  FakePeer meet() {
    FakePeer peer = accept();
    self = peer.meet(secrets_);
    return peer;
  }
  // One that is welcome. No stall of a busy machine is as long as the silence that it may keep.
  FakePeer greet(double ping = 10, double silence = 3600) {
    FakePeer peer = meet();
    hello = peer.hear();
    peer.say({{"type", "welcome"}, {"epoch", 1}, {"ping", ping}, {"silence", silence}});
    return peer;
  }

  Identity self;  // who was greeted
  json hello;

 private:
  const Secrets secrets_;
  UniqueFd fd_;
};

}  // namespace attune::test
