#include "daemon/server.h"

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <csignal>

#include "protocol/codec.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr std::size_t kReadSize = 64 << 10;
constexpr std::size_t kJournalBytes = 256 << 10;
constexpr int kAnswersAtOnce = 256;
constexpr milliseconds kQuickStop{100};  // a model fit in progress is not waited for longer
constexpr milliseconds kDrainStop{2000};

}  // namespace

Server::Server(asio::io_context& io, const Configuration& configuration, DispatcherOptions options,
               TuneWorker tune, AssessWorker assess, Log log)
    : io_(io),
      configuration_(configuration),
      log_(std::move(log)),
      in_(io, configuration.in_fd),
      out_(io, configuration.out_fd),
      signals_(io, SIGTERM, SIGINT),
      deadline_(io),
      decoder_(configuration.framing),
      read_buffer_(kReadSize, '\0'),
      journal_(kJournalBytes),
      workers_(
          std::move(tune), std::move(assess),
          {configuration.queue_bytes, configuration.queue_bytes},
          [this] { asio::post(io_, [this] { take_output(); }); },
          [this] { asio::post(io_, [this] { handle_frames(); }); }),
      dispatcher_(options, workers_, *this, journal_, log_) {}

int Server::run() {
  await_signal();
  read();
  io_.run();
  workers_.join();
  log_.info("exiting with code {}", exit_code_);
  return exit_code_;
}

// ---- commands in

void Server::read() {
  in_.async_read_some(
      asio::buffer(read_buffer_),
      [this](const boost::system::error_code& error, std::size_t size) { on_read(error, size); });
}

void Server::on_read(const boost::system::error_code& error, std::size_t size) {
  if (stopping_) return;
  if (error) {
    if (error != asio::error::eof) log_.warning("reading commands: {}", error.message());
    if (decoder_.mid_frame()) {
      log_.error("the command stream ended inside a frame at byte {}: '{}'", decoder_.offset(),
                 decoder_.head());
      exit_code_ = kExitProtocol;
    } else {
      log_.info("end of input: the manager has gone");
    }
    stop(Stop::drain, kDrainStop);
    return;
  }
  decoder_.feed(std::string_view(read_buffer_).substr(0, size));
  handle_frames();
}

// Also called when a full queue has room again; reading goes on only when nothing is held back.
void Server::handle_frames() {
  if (stopping_) return;
  const bool was_blocked = dispatcher_.blocked();
  if (was_blocked && !dispatcher_.resume()) return;
  while (!stopping_) {
    auto frame = decoder_.next();
    if (!frame) {
      fatal(kExitProtocol, frame.error().message);
      return;
    }
    if (!*frame) break;
    if (!dispatcher_.accept(**frame)) return;
  }
  if (!stopping_) read();
}

void Server::terminate() {
  log_.info("Terminate received");
  if (configuration_.drain) {
    stop(Stop::drain, std::nullopt);
  } else {
    stop(Stop::discard, kQuickStop);
  }
}

// ---- answers out

void Server::take_output() {
  // The workers wait when the manager does not read; when it has gone, nobody needs their answers.
  for (int taken = 0; manager_gone_ || outgoing_.size() < configuration_.queue_bytes; ++taken) {
    if (taken == kAnswersAtOnce) {  // let commands, signals and timers have their turn
      asio::post(io_, [this] { take_output(); });
      break;
    }
    auto message = workers_.take();
    if (!message) break;
    if (std::holds_alternative<Finished>(*message)) ++finished_workers_;
    dispatcher_.on_worker(*std::move(message));
  }
  finish_if_done();
}

void Server::send(Frame frame) {
  if (manager_gone_) return;
  if (auto encoded = encode_frame(frame, configuration_.framing, outgoing_); !encoded) {
    fatal(kExitProtocol, encoded.error().message);
    return;
  }
  if (!write_in_flight_) write();
}

void Server::write() {
  write_in_flight_ = true;
  writing_.clear();
  writing_.swap(outgoing_);
  asio::async_write(
      out_, asio::buffer(writing_),
      [this](const boost::system::error_code& error, std::size_t) { on_written(error); });
}

void Server::on_written(const boost::system::error_code& error) {
  write_in_flight_ = false;
  if (error) {
    if (error == asio::error::operation_aborted) return;
    log_.warning("the manager no longer reads: {}", error.message());
    manager_gone_ = true;
    outgoing_.clear();
    stop(Stop::drain, kDrainStop);
  } else if (!outgoing_.empty()) {
    write();
  }
  take_output();
}

// ---- the end

void Server::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (stopping_) {  // somebody is in a hurry
      log_.flush();
      ::_exit(128 + signal);
    }
    log_.info("signal {} received", signal);
    stop(Stop::discard, kQuickStop);
    await_signal();
  });
}

void Server::fatal(ExitCode code, const std::string& message) {
  log_.error("{}", message);
  if (stopping_) return;
  exit_code_ = code;
  for (const JournalRecord& record : journal_.records()) {
    log_.debug("before it: {} {} {}", record.number, record.frame.code,
               printable(record.frame.payload));
  }
  stop(Stop::discard, kQuickStop);
}

// Stop reading, close the queues, let each worker post its end, flush, exit: the loop runs on until
// finish_if_done or the deadline.
void Server::stop(Stop how, std::optional<milliseconds> deadline) {
  if (stopping_) return;
  stopping_ = true;
  boost::system::error_code error;
  if (in_.cancel(error)) log_.debug("cancelling the read: {}", error.message());
  if (how == Stop::drain) {
    workers_.close();
  } else {
    workers_.discard();
  }
  if (!deadline) return;
  deadline_.expires_after(*deadline);
  deadline_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    log_.warning("not everything was handled or written in time");
    if (finished_workers_ < 2) {
      log_.flush();
      ::_exit(exit_code_);
    }
    io_.stop();
  });
}

void Server::finish_if_done() {
  if (stopping_ && finished_workers_ == 2 && !write_in_flight_) io_.stop();
}

}  // namespace attune
