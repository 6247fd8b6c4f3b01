#include "daemon/server.h"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <csignal>

#include "protocol/codec.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr int kAnswersAtOnce = 256;
constexpr milliseconds kQuickStop{100};  // a model fit in progress is not waited for longer
constexpr milliseconds kDrainStop{2000};

}  // namespace

Server::Server(asio::io_context& io, std::unique_ptr<Channel> channel,
               const Configuration& configuration, Crew crew, Log log)
    : io_(io),
      channel_(std::move(channel)),
      configuration_(configuration),
      log_(std::move(log)),
      signals_(io, SIGTERM, SIGINT),
      deadline_(io),
      wakeup_(io, [this] { on_wakeup(); }),
      workers_(
          std::move(crew.tune), std::move(crew.assess),
          {configuration.queue_bytes, configuration.queue_bytes}, [this] { wakeup_.ring(); },
          [this] { wakeup_.ring(); }),
      dispatcher_(crew.options, std::move(crew.jobs), workers_, *this, journal_, log_),
      autosave_(io, configuration.checkpoint_directory, std::move(crew.identity),
                {.collect = [this] { collect_state(); }, .idle = [this] { take_output(); }}, log_) {
}

int Server::run() {
  await_signal();
  channel_->start(*this);
  channel_->receive();
  io_.run();
  workers_.join();
  log_.info("exiting with code {}", exit_code_);
  return exit_code_;
}

// ---- commands in

// Also called when what a full queue held back may be passed on; reading goes on only when nothing
// is.
void Server::handle_frames() {
  if (stopping_) return;
  const bool all = !dispatcher_.blocked() || dispatcher_.resume();
  held_ = !all || !pass_on_frames();
  if (!held_) channel_->receive();
  workers_.wake();
  if (!stopping_ && dispatcher_.changed()) autosave_.changed();
}

// False: a queue is full, or this was the end.
bool Server::pass_on_frames() {
  while (!stopping_) {
    auto frame = channel_->next();
    if (!frame) {
      break_off(frame.error().message);
      return false;
    }
    if (!*frame) return true;
    if (!dispatcher_.accept(**std::move(frame))) return false;
  }
  return false;
}

// Without a manager the answers go nowhere, but what it sent is handled: a state that is saved at
// the end must know of it.
void Server::on_end(ExitCode code) {
  if (!stopping_) exit_code_ = code;
  stop(Stop::drain, kDrainStop);
}

void Server::terminate() {
  log_.info("Terminate received");
  if (configuration_.drain) {
    stop(Stop::drain, std::nullopt);
  } else {
    stop(Stop::discard, kQuickStop);
  }
}

// A worker has said something, or a queue that was full has room.
void Server::on_wakeup() {
  if (held_) handle_frames();
  take_output();
}

void Server::collect_state() {
  dispatcher_.save();
  if (held_) handle_frames();
}

// ---- answers out

void Server::take_output() {
  // The workers wait when the manager does not read; when it has gone, nothing piles up. At the end
  // they need not wait: what is queued is all that comes.
  for (int taken = 0; stopping_ || channel_->backlog() < configuration_.queue_bytes; ++taken) {
    if (taken == kAnswersAtOnce) {  // let commands, signals and timers have their turn
      asio::post(io_, [this] { take_output(); });
      break;
    }
    auto output = workers_.take();
    if (!output) break;
    if (std::holds_alternative<Finished>(output->message)) on_finished(output->from);
    dispatcher_.on_worker(output->from, std::move(output->message));
  }
  if (stopping_) {
    finish_if_done();
  } else {
    if (held_ && !dispatcher_.blocked()) handle_frames();
    if (dispatcher_.changed()) autosave_.changed();
  }
}

// The assessor's worker is the first; what it decided last is on the tuner's queue by now.
void Server::on_finished(WorkerName worker) {
  ++finished_workers_;
  if (worker != WorkerName::assess || !stopping_) return;
  if (final_save_) dispatcher_.end_save();
  workers_.close_tune();
}

void Server::send(Frame frame) {
  if (auto sent = channel_->send(frame); !sent) break_off(sent.error().message);
}

// ---- the end

void Server::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signalled_) {  // somebody is in a hurry
      log_.flush();
      ::_exit(128 + signal);
    }
    signalled_ = true;
    log_.info("signal {} received", signal);
    await_signal();
    if (stopping_) return set_deadline(kQuickStop);
    // NNI 3.0 would take a mere good-bye for a reason to wait for ever.
    if (!configuration_.websocket_url.empty()) {
      send(encode(DaemonError{"attuned was ended by signal " + std::to_string(signal)}));
    }
    stop(Stop::discard, kQuickStop);
  });
}

void Server::fatal(ExitCode code, const std::string& message) {
  log_.error("{}", message);
  if (exit_code_ == kExitOk) exit_code_ = code;
  if (stopping_) return;
  // What came before a break in the stream was a command like any other.
  if (code == kExitProtocol) {
    stop(Stop::drain, kDrainStop);
  } else {
    stop(Stop::discard, kQuickStop);
  }
}

// For failures of the channel; those of a worker are told to the manager by the dispatcher.
void Server::break_off(const std::string& message) {
  if (configuration_.capabilities.error) send(encode(DaemonError{message}));
  fatal(kExitProtocol, message);
}

// Stop reading, close the queues, let each worker post its end, flush, exit: the loop runs on until
// finish_if_done or the deadline.
void Server::stop(Stop how, std::optional<milliseconds> deadline) {
  if (stopping_) return;
  stopping_ = true;
  channel_->stop_receiving();
  if (how == Stop::discard) workers_.drop_requests();
  // After a failure of ours the state may be wrong: then the last one that was saved stays.
  final_save_ = !configuration_.checkpoint_directory.empty() &&
                (exit_code_ == kExitOk || exit_code_ == kExitProtocol);
  if (final_save_) {
    autosave_.last();
    dispatcher_.begin_save();
  }
  workers_.close_assess();
  if (deadline) set_deadline(*deadline);
  asio::post(io_, [this] { take_output(); });  // what waited for the manager to read
}

void Server::set_deadline(milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_deadline();
  });
}

void Server::on_deadline() {
  const bool saving = workers_.saving() || autosave_.writing();
  if (saving && !extended_) {  // a large state on a slow disk is worth it
    extended_ = true;
    return set_deadline(kDrainStop);
  }
  log_.warning("not everything was handled, saved or written in time");
  log_.flush();
  // Threads that are still at it cannot be waited for.
  if (saving || finished_workers_ < 2) ::_exit(exit_code_);
  io_.stop();
}

void Server::finish_if_done() {
  if (stopping_ && finished_workers_ == 2 && !autosave_.writing() && channel_->close()) io_.stop();
}

}  // namespace attune
