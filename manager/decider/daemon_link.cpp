#include "manager/decider/daemon_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

#include "os/private_file.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

namespace asio = boost::asio;

// For so long the link waits for the exit status after the end of the stream, or the other way
// round.
constexpr auto kSettleTime = std::chrono::seconds(2);

struct Pipe {
  UniqueFd read, write;
};
Result<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return fail(fmt::format("cannot make a pipe: {}", strerror(errno)));
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Aborts the operations that wait on the pipe. release() and UniqueFd instead of close(), because
// an error of close() would be of no use here.
void hang_up(asio::posix::stream_descriptor& pipe) { const UniqueFd closed(pipe.release()); }

// Whether a new daemon can continue after this end. With exit codes 2 and 3 a daemon refuses what
// it was given or sent (docs/protocol.md, "Exit codes"), and a new one would refuse the same. Code
// 0 means here that somebody else sent SIGTERM: the journal is complete.
bool is_breakdown(const ExitStatus& exit) {
  return exit.signal != 0 || (exit.code != 2 && exit.code != 3);
}

}  // namespace

Result<std::unique_ptr<DaemonLink>> DaemonLink::start(asio::io_context& io, Launch launch,
                                                      Events events, Log log) {
  std::unique_ptr<DaemonLink> link(
      new DaemonLink(io, std::move(launch), std::move(events), std::move(log)));
  TRY(link->spawn());
  return link;
}

DaemonLink::DaemonLink(asio::io_context& io, Launch launch, Events events, Log log)
    : io_(io),
      launch_(std::move(launch)),
      events_(std::move(events)),
      log_(std::move(log)),
      to_(io),
      from_(io),
      patience_(io),
      input_(64 << 10) {}

DaemonLink::~DaemonLink() = default;

Result<void> DaemonLink::spawn() {
  Pipe commands = TRY(make_pipe());
  Pipe answers = TRY(make_pipe());
  const UniqueFd errors = TRY(open_private(stderr_path(), O_WRONLY | O_CREAT | O_TRUNC));
  ProcessSpec spec;
  spec.arguments = launch_.arguments;
  spec.environment = launch_.environment;
  spec.directory = launch_.log_directory;
  spec.descriptors = {
      {1, errors.get()}, {2, errors.get()}, {3, commands.read.get()}, {4, answers.write.get()}};
  process_ = TRY(ChildProcess::spawn(io_, spec, [this](ExitStatus status) {
    exit_ = status;
    lost("");
  }));
  to_.assign(commands.write.release());
  from_.assign(answers.read.release());
  to_.non_blocking(true);
  from_.non_blocking(true);
  read_more();
  return {};
}

void DaemonLink::send(const Frame& frame) {
  if (!lost_.empty() || stream_ended_ || input_closed_ || exit_ || settled_) return;
  log_.trace("> {} {}", frame.code, frame.payload);
  if (auto encoded = encode_frame(frame, Framing{}, queued_); !encoded) {
    lost(encoded.error().message);
    return;
  }
  if (writing_.empty()) write_more();
}

void DaemonLink::write_more() {
  writing_.swap(queued_);
  if (writing_.empty()) return;
  asio::async_write(
      to_, asio::buffer(writing_),
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error, std::size_t) {
        if (alive.expired() || error == asio::error::operation_aborted) return;
        writing_.clear();
        if (error) {  // the daemon is dying, and may still send answers or an error
          input_closed_ = true;
          lost("");
          return;
        }
        write_more();
        if (!settled_) events_.written();
      });
}

void DaemonLink::read_more() {
  from_.async_read_some(
      asio::buffer(input_), [this, alive = std::weak_ptr(alive_)](
                                const boost::system::error_code& error, std::size_t size) {
        if (alive.expired() || error == asio::error::operation_aborted || settled_) return;
        if (error) {
          stream_ended_ = true;
          lost("");
          return;
        }
        decoder_.feed(std::string_view(input_.data(), size));
        while (lost_.empty() && !settled_) {
          auto frame = decoder_.next();
          if (!frame) {
            lost(frame.error().message);
          } else if (!*frame) {
            break;
          } else {
            log_.trace("< {} {}", (*frame)->code, (*frame)->payload);
            events_.frame(**frame);
          }
          if (alive.expired()) return;  // the event may have destroyed this link
        }
        if (!settled_) read_more();
      });
}

void DaemonLink::break_off(std::string what, std::string words) {
  words_ = std::move(words);
  lost(std::move(what));
}

// Something has happened after which no more frames may come: an error (`what`), the end of the
// daemon's output, a failed write, its exit, or end(). They come in any order. When the exit status
// is known, and the output has been read to its end or broken off, the link settles; else it waits
// for the rest for a limited time.
void DaemonLink::lost(std::string what) {
  if (settled_) return;
  if (lost_.empty()) lost_ = std::move(what);
  // The end of its input makes a daemon that still runs end by itself.
  if (!lost_.empty() || stream_ended_ || input_closed_) hang_up(to_);
  if (exit_ && (stream_ended_ || !lost_.empty())) {
    settle();
    return;
  }
  patience_.expires_after(ending_ ? launch_.exit_grace : kSettleTime);
  patience_.async_wait(
      [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
        if (!error && !alive.expired()) settle();
      });
}

void DaemonLink::settle() {
  if (std::exchange(settled_, true)) return;
  hang_up(to_);
  hang_up(from_);
  patience_.cancel();
  process_->kill();
  const std::string program = std::filesystem::path(launch_.arguments[0]).filename().string();
  if (ending_ && !exit_) log_.warning("{} did not end in time and was killed", program);
  DaemonEnd end{ending_, exit_, program};
  if (exit_) {
    end.text += " ended early (" + to_text(*exit_) + ")";
  } else if (lost_.empty()) {
    end.text += " closed its pipe";
  } else {
    end.text += " failed";
  }
  if (!lost_.empty() && words_.empty()) end.text += ": " + lost_;
  const std::string words = words_.empty() ? last_lines(stderr_path(), 5) : words_;
  end.text +=
      words.empty() ? "; it left no message, see " + launch_.log_directory.string() : ": " + words;
  end.died = exit_ && lost_.empty() && is_breakdown(*exit_);
  events_.end(std::move(end));
}

void DaemonLink::end(bool hang_up) {
  if (settled_ || std::exchange(ending_, true)) return;
  input_closed_ = input_closed_ || hang_up;
  lost("");
}

void DaemonLink::kill() {
  settled_ = true;
  process_->kill();
}

}  // namespace attune
