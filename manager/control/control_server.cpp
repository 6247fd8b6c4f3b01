#include "manager/control/control_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <list>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "manager/control/control_address.h"
#include "manager/control/json_format.h"

namespace attune {

namespace asio = boost::asio;
using Protocol = asio::local::stream_protocol;
using boost::system::error_code;

namespace {
// The pause after a failed accept(). If the process has no free descriptors, the client stays in
// the queue, and accept() without a pause would fail again at once.
constexpr std::chrono::milliseconds kAcceptAgain{100};
// The largest array in a request. The manager does nothing else until it has handled all elements,
// and the answer may name each. attune import sends at most 1,000 records at once.
constexpr std::size_t kMostElements = 10'000;
}  // namespace

Result<ControlAddress> control_address(const std::filesystem::path& directory) {
  UniqueFd folder(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail(fmt::format("cannot open {}: {}", directory.string(), strerror(errno)));
  std::string path = fmt::format("/proc/self/fd/{}/control", folder.get());
  return ControlAddress{std::move(folder), std::move(path)};
}

struct ControlServer::State {
  State(asio::io_context& io, ControlAddress where, Handler answer, ControlLimits bounds)
      : acceptor(io),
        again(io),
        address(std::move(where)),
        handler(std::move(answer)),
        limits(bounds) {}

  Protocol::acceptor acceptor;
  asio::steady_timer again;
  ControlAddress address;
  Handler handler;
  ControlLimits limits;
  bool closed = false;
  std::list<std::shared_ptr<Connection>> connections;  // first the one that was silent longest
};

// Reads a line, answers it, reads the next. It never reads and writes at once: from a client that
// does not read its answers, nothing more is read.
class ControlServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Protocol::socket socket, std::shared_ptr<State> state)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        state_(std::move(state)),
        input_(state_->limits.line_bytes) {}

  void read() {
    await_silence();
    asio::async_read_until(socket_, input_, '\n',
                           [self = shared_from_this()](const error_code& error, std::size_t size) {
                             self->on_line(error, size);
                           });
  }

  void close() {
    error_code ignored;
    std::ignore = socket_.close(ignored);
    timer_.cancel(ignored);
  }

 private:
  void leave() {
    close();
    std::erase(state_->connections, shared_from_this());
  }

  void await_silence() {
    timer_.expires_after(state_->limits.silence);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (!error) self->leave();
    });
    auto& all = state_->connections;
    const auto here = std::find(all.begin(), all.end(), shared_from_this());
    if (here != all.end()) all.splice(all.end(), all, here);
  }

  void on_line(const error_code& error, std::size_t size) {
    if (state_->closed) return;
    if (error == asio::error::not_found)  // the buffer is full, and has no line end
      return reply({{"format", kJsonFormat},
                    {"ok", false},
                    {"error", fmt::format("a request is a line of at most {} bytes",
                                          state_->limits.line_bytes)}},
                   false);
    if (error) return leave();
    const auto* begin = static_cast<const char*>(input_.data().data());
    const std::string line(begin, size - 1);
    input_.consume(size);
    reply(answer(line), true);
  }

  static json refusal(const Error& error) {
    return {{"format", kJsonFormat}, {"ok", false}, {"error", error.message}};
  }

  json answer(const std::string& line) const {
    const auto request = parse_json(line, {.elements = kMostElements});
    if (!request) return refusal(request.error());
    Result<json> result = state_->handler(*request);
    if (!result) return refusal(result.error());
    json reply = {{"format", kJsonFormat}, {"ok", true}};
    if (result->is_object()) reply.update(*result);
    return reply;
  }

  void reply(const json& message, bool go_on) {
    output_ = dump_json(message) + "\n";
    await_silence();
    asio::async_write(socket_, asio::buffer(output_),
                      [self = shared_from_this(), go_on](const error_code& error, std::size_t) {
                        if (self->state_->closed) return;
                        if (error || !go_on) return self->leave();
                        self->read();
                      });
  }

  Protocol::socket socket_;
  asio::steady_timer timer_;
  std::shared_ptr<State> state_;
  asio::streambuf input_;
  std::string output_;
};

namespace {

std::unexpected<Error> failed(const std::filesystem::path& directory, const char* what) {
  return fail(
      fmt::format("{}: cannot {}: {}", (directory / "control").string(), what, strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::listen(asio::io_context& io,
                                                             const std::filesystem::path& directory,
                                                             Handler handler,
                                                             ControlLimits limits) {
  ControlAddress address = TRY(control_address(directory));
  // Without Asio, which cannot set the mode before bind() makes the file.
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failed(directory, "make a socket");
  ::fchmod(fd.get(), 0600);  // on Linux the file gets the mode that the socket has
  ::unlink(address.path.c_str());
  const Protocol::endpoint endpoint(address.path);
  if (::bind(fd.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
    return failed(directory, "bind");
  if (::listen(fd.get(), 16) != 0) return failed(directory, "listen");
  auto state = std::make_shared<State>(io, std::move(address), std::move(handler), limits);
  error_code error;
  std::ignore = state->acceptor.assign(Protocol(), fd.get(), error);
  if (error) return fail(fmt::format("{}: {}", (directory / "control").string(), error.message()));
  fd.release();
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(state)));
}

ControlServer::ControlServer(std::shared_ptr<State> state) : state_(std::move(state)) {
  accept(state_);
}

void ControlServer::accept(const std::shared_ptr<State>& state) {
  state->acceptor.async_accept([state](const error_code& error, Protocol::socket socket) {
    if (state->closed) return;
    if (error) {
      state->again.expires_after(kAcceptAgain);
      state->again.async_wait([state](const error_code& cancelled) {
        if (!cancelled && !state->closed) accept(state);
      });
      return;
    }
    auto connection = std::make_shared<Connection>(std::move(socket), state);
    if (state->connections.size() >= state->limits.clients) {
      state->connections.front()->close();
      state->connections.pop_front();
    }
    state->connections.push_back(connection);
    connection->read();
    accept(state);
  });
}

ControlServer::~ControlServer() {
  state_->closed = true;
  error_code ignored;
  std::ignore = state_->acceptor.close(ignored);
  state_->again.cancel(ignored);
  for (const auto& connection : state_->connections) connection->close();
  state_->connections.clear();
  ::unlink(state_->address.path.c_str());
}

}  // namespace attune
