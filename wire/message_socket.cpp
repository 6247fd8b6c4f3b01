#include "wire/message_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "wire/host_port.h"

namespace attune {
namespace {

using std::chrono::milliseconds;

std::string text_of(int error) { return std::strerror(error); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> look_up(const HostPort& where) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (code != 0) {
    const char* why = code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code);
    return fail(fmt::format("cannot find {}: {}", where.host, why));
  }
  return Addresses(found);
}

// Connects by `deadline`, as clock.now(). Returns 0 or an errno.
int connect_to(const addrinfo& address, double deadline, const Clock& clock, UniqueFd& fd) {
  fd.reset(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  // After an interruption by a signal the system goes on connecting, too.
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  pollfd waiting = {fd.get(), POLLOUT, 0};
  while (true) {
    const double rest = deadline - clock.now();
    if (rest <= 0) return ETIMEDOUT;
    const int ready = ::poll(&waiting, 1, static_cast<int>(rest * 1000) + 1);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return errno;
  }
  int error = 0;
  socklen_t size = sizeof(error);
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

}  // namespace

MessageSocket::MessageSocket(UniqueFd fd, const WireAddress& where, const std::string& name)
    : fd_(std::move(fd)),
      decoder_(kHandshakeLimits),
      handshake_({where.role, name}, where.secret, draw_bytes()) {}

Result<MessageSocket> MessageSocket::connect(const WireAddress& where, const std::string& name,
                                             milliseconds limit, const Clock& clock) {
  const double deadline = clock.now() + std::chrono::duration<double>(limit).count();
  const Addresses addresses = TRY(look_up(TRY(parse_host_port(where.address))));
  int error = 0;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    UniqueFd fd;
    error = connect_to(*each, deadline, clock, fd);
    if (error != 0) continue;
    // Requests are small, and the caller waits for the answer to each: they must leave at once.
    const int yes = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    MessageSocket made(std::move(fd), where, name);
    made.outgoing_ = TRY(encode_json_frame(made.handshake_.hello()));
    return made;
  }
  return fail(fmt::format("cannot connect to {}: {}", where.address, text_of(error)));
}

Result<void> MessageSocket::say(const json& message) {
  waiting_ += TRY(encode_json_frame(message));
  return {};
}

Result<std::optional<json>> MessageSocket::next() {
  if (!tls_) return std::nullopt;  // the decoder has only frames of the handshake
  return decoder_.next();
}

Result<bool> MessageSocket::turn(milliseconds wait) {
  // If writing fails, still reads what has come, before it returns that error.
  const bool had_outgoing = has_outgoing();
  const Result<void> written = write();
  if (!written || (had_outgoing && !has_outgoing())) wait = milliseconds(0);
  // Only `outgoing_` waits for room in the socket; `waiting_` waits for the handshake.
  const short events = written && !outgoing_.empty() ? POLLIN | POLLOUT : POLLIN;
  pollfd ready = {fd_.get(), events, 0};
  const int count = ::poll(&ready, 1, static_cast<int>(wait.count()));
  if (count < 0 && errno != EINTR) return fail(text_of(errno));
  bool any = false;
  if (count > 0 && (ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0) any = TRY(read());
  if (!written) return std::unexpected(written.error());
  TRY(write());
  return any;
}

// Moves the waiting messages to `outgoing_`, encrypted, once the TLS handshake is complete; and the
// bytes of that handshake.
Result<void> MessageSocket::encrypt() {
  if (!tls_) return {};
  if (tls_->established() && !waiting_.empty()) {
    TRY(tls_->write(waiting_));
    waiting_.clear();
  }
  outgoing_ += tls_->take_ciphertext();
  return {};
}

Result<void> MessageSocket::write() {
  TRY(encrypt());
  while (!outgoing_.empty()) {
    const ssize_t n = ::send(fd_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (n < 0) return fail(text_of(errno));
    outgoing_.erase(0, static_cast<std::size_t>(n));
  }
  return {};
}

// Reads one piece only, so that the caller can take its messages before the next piece comes.
Result<bool> MessageSocket::read() {
  char piece[1 << 16];
  while (true) {
    const ssize_t n = ::recv(fd_.get(), piece, sizeof(piece), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (n < 0) return fail(text_of(errno));
    if (n == 0) {
      const bool said = !tls_ || tls_->finished();
      return fail(said ? "the other side has closed the connection" : "the connection was cut");
    }
    TRY(take_in({piece, static_cast<std::size_t>(n)}));
    return true;
  }
}

Result<void> MessageSocket::take_in(std::string_view bytes) {
  if (!tls_) {
    decoder_.feed(bytes);
    return meet();
  }
  const auto fed = tls_->feed(bytes);
  decoder_.feed(tls_->take_plaintext());
  return fed;
}

Result<void> MessageSocket::meet() {
  const auto challenge = TRY(decoder_.next());
  if (!challenge) return {};
  const auto proof = handshake_.answer(*challenge);
  if (!proof) {
    refused_ = proof.error().final;
    return fail("it " + proof.error().message);
  }
  outgoing_ += TRY(encode_json_frame(*proof));
  tls_.emplace(TlsSession::Side::client, handshake_.key());
  decoder_.set_limits({});
  return take_in(decoder_.take_rest());
}

}  // namespace attune
