#include "manager/control/control_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "manager/control/control_address.h"
#include "manager/store/experiment_lock.h"
#include "os/trust.h"

namespace attune {
namespace {

// The error for a failure of the socket. The experiment's lock says whether a manager runs: the
// socket's file remains when a manager is killed, and a manager that runs may not answer.
std::unexpected<ControlError> failed(const std::filesystem::path& directory,
                                     const std::string& what) {
  if (!ExperimentLock::is_held(directory))
    return std::unexpected(
        ControlError{true, fmt::format("{}: no manager runs; attune resume {} starts one",
                                       directory.string(), directory.filename().string())});
  return std::unexpected(ControlError{false, fmt::format("{}: {}", directory.string(), what)});
}

// Whether the process at the other end of the socket runs as the owner of the folder: root may
// control the experiments of all users.
bool is_of_owner(int fd, int folder) {
  ucred peer{};
  socklen_t size = sizeof peer;
  struct stat status{};
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         ::fstat(folder, &status) == 0 && peer.uid == status.st_uid;
}

constexpr std::size_t kLongest = std::size_t{64} << 20;  // bytes of an answer

// The time until which a manager may take to answer, in all.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  // Waits until the socket is ready for `events` of poll(2). False: errno says why, ETIMEDOUT if it
  // is too late.
  bool wait(int fd, short events) const {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
      if (left <= 0) {
        errno = ETIMEDOUT;
        return false;
      }
      pollfd poll = {fd, events, 0};
      const int ready = ::poll(&poll, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

bool send_all(int fd, const std::string& bytes, const Deadline& deadline) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    if (!deadline.wait(fd, POLLOUT)) return false;
    const ssize_t n =
        ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

// Up to the line end, without it; empty when there is none.
std::string receive_line(int fd, const Deadline& deadline) {
  std::string line;
  char buffer[4096];
  while (line.empty() || line.back() != '\n') {
    if (line.size() > kLongest || !deadline.wait(fd, POLLIN)) return "";
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return "";
    line.append(buffer, static_cast<std::size_t>(n));
  }
  line.pop_back();
  return line;
}

}  // namespace

std::expected<json, ControlError> ask_manager(const std::filesystem::path& directory,
                                              const ControlRequest& request,
                                              double timeout_seconds) {
  const auto address = control_address(directory);
  if (!address) return std::unexpected(ControlError{false, address.error().message});
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed(directory, strerror(errno));
  // connect() waits while too many clients of a manager that does not answer are in the queue.
  const Deadline deadline(timeout_seconds);
  timeval timeout = {};
  timeout.tv_sec = static_cast<time_t>(timeout_seconds);
  timeout.tv_usec =
      static_cast<suseconds_t>((timeout_seconds - static_cast<double>(timeout.tv_sec)) * 1e6);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  sockaddr_un socket_address = {};
  socket_address.sun_family = AF_UNIX;
  address->path.copy(socket_address.sun_path, sizeof socket_address.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&socket_address),
                sizeof socket_address) != 0)
    return failed(directory, fmt::format("its manager does not listen: {}; it begins or ends just "
                                         "now, try again",
                                         strerror(errno)));
  // Who listens there may be somebody else, if others may write in the folder.
  const auto peer = check_peer(fd.get());
  if (!peer && !is_of_owner(fd.get(), address->folder.get()))
    return std::unexpected(
        ControlError{false, fmt::format("{}: {}", directory.string(), peer.error().message)});
  errno = 0;
  if (!send_all(fd.get(), dump_json(to_json(request)) + "\n", deadline))
    return failed(directory, fmt::format("cannot send to its manager: {}", strerror(errno)));
  const std::string line = receive_line(fd.get(), deadline);
  if (line.empty()) return failed(directory, "its manager gave no answer");
  auto answer = parse_json(line);
  if (!answer || !answer->is_object() || !answer->contains("ok"))
    return failed(directory, "its manager's answer is not understood: " + line.substr(0, 100));
  if ((*answer)["ok"] != true)
    return std::unexpected(ControlError{false, answer->value("error", std::string("refused"))});
  answer->erase("ok");
  return *std::move(answer);
}

}  // namespace attune
