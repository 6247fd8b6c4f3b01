#include "daemon/accept_manager.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>

#include "os/trust.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using Protocol = asio::local::stream_protocol;
using boost::system::error_code;

// The socket is made under the name with this ending, and renamed once it accepts connections.
constexpr std::string_view kUnfinished = ".new";
constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1 - kUnfinished.size();

std::unexpected<Error> refusal(const std::string& path, const std::string& why) {
  return fail(fmt::format("--listen {}: {}", path, why));
}
std::unexpected<Error> failed(const std::string& path, const char* what) {
  return refusal(path, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

// Whether a process has the socket at `path`. A connection of another type than the socket's is
// refused, so that process notices nothing. A daemon would take a real one for its manager.
bool is_in_use(const std::string& path) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Protocol::endpoint endpoint(path);
  return ::connect(probe.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 ||
         errno == EPROTOTYPE;
}

// Removes a socket of ours that nobody uses. Nothing else may be there.
Result<void> clear(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode))
    return refusal(path, "there is a file that is no socket; name another path, or remove it");
  if (status.st_uid != ::geteuid())
    return refusal(path, "there is a socket of another user; name another path");
  if (is_in_use(path))
    return refusal(path, "another program listens there; end it, or name another path");
  if (::unlink(path.c_str()) != 0) return failed(path, "remove the former socket");
  return {};
}

// Makes the socket and its file.
Result<UniqueFd> listen_at(const std::string& path) {
  const std::string unfinished = path + std::string(kUnfinished);
  TRY(clear(path));
  TRY(clear(unfinished));
  // Without Asio, which cannot set the mode before bind() makes the file.
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed(path, "make a socket");
  ::fchmod(fd.get(), 0600);  // on Linux the file gets the mode that the socket has
  const Protocol::endpoint endpoint(unfinished);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
    return failed(path, "make it");
  // Who can put another socket there is the daemon to the manager, and decides what it runs.
  if (auto trusted = check_trusted(unfinished); !trusted) {
    ::unlink(unfinished.c_str());
    return refusal(path, trusted.error().message);
  }
  if (::listen(fd.get(), 1) != 0 || ::rename(unfinished.c_str(), path.c_str()) != 0) {
    auto error = failed(path, "listen");
    ::unlink(unfinished.c_str());
    return error;
  }
  return fd;
}

// Accepts connections until one is of a user who is trusted.
class Waiting {
 public:
  Waiting(const std::string& path, const Log& log)
      : path_(path), log_(log), signals_(io_, SIGTERM, SIGINT), acceptor_(io_) {}

  // The signals are caught before others can see the socket: whoever sees it may send one.
  Result<std::optional<UniqueFd>> run() {
    acceptor_.assign(Protocol(), TRY(listen_at(path_)).release());
    log_.info("waiting for the manager at {} (NNI 2.7: --dispatcher-pipe)", path_);
    signals_.async_wait([this](const error_code&, int signal) {
      log_.info("signal {} received", signal);
      io_.stop();
    });
    accept();
    io_.run();
    ::unlink(path_.c_str());
    return std::move(accepted_);
  }

 private:
  void accept() {
    acceptor_.async_accept([this](const error_code& error, Protocol::socket socket) {
      if (!error) {
        const auto trusted = check_peer(socket.native_handle());
        if (!trusted) {
          log_.warning("a connection to {} is refused: {}", path_, trusted.error().message);
          return accept();
        }
        accepted_ = UniqueFd(socket.release());
      } else {
        accepted_ = refusal(path_, error.message());
      }
      io_.stop();
    });
  }

  const std::string& path_;
  const Log& log_;
  asio::io_context io_{1};
  asio::signal_set signals_;
  Protocol::acceptor acceptor_;
  Result<std::optional<UniqueFd>> accepted_;
};

}  // namespace

Result<std::optional<UniqueFd>> accept_manager(const std::string& path, const Log& log) {
  // The manager has another working directory, so its user is told the whole path.
  std::error_code ignored;
  const std::string whole = fs::absolute(path, ignored).string();
  if (whole.size() > kLongestPath) {
    return refusal(whole, fmt::format("the path has {} bytes, and may have {}; name a shorter one",
                                      whole.size(), kLongestPath));
  }
  Waiting waiting(whole, log);
  auto accepted = waiting.run();
  if (accepted && *accepted) log.info("a manager has connected to {}", whole);
  return accepted;
}

}  // namespace attune
