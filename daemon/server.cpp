#include "daemon/server.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cmath>
#include <csignal>

#include "daemon/deadlines.h"
#include "protocol/codec.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

// Messages of workers that are handled before the event loop has its turn.
constexpr int kAnswersAtOnce = 256;
constexpr milliseconds kTick{1000};

}  // namespace

Result<std::unique_ptr<Server>> Server::make(asio::io_context& io, asio::signal_set& signals,
                                             Channel& channel, const Configuration& configuration,
                                             FileSystem& files, const Clock& clock,
                                             Beginning beginning, Log log) {
  std::optional<Beginning::Old> old = std::move(beginning.old);
  json header = beginning.crew.header;
  std::unique_ptr<Server> server(
      new Server(io, signals, channel, configuration, clock, std::move(beginning), log));
  std::unique_ptr<JournalFile> file;
  if (!configuration.checkpoint_directory.empty()) {
    const JournalFile::Options options{journal_path(configuration.checkpoint_directory),
                                       configuration.durability};
    auto ready = [&wakeup = server->wakeup_] { wakeup.ring(); };
    file = old ? TRY(JournalFile::open(files, options, std::move(old->existing), old->good,
                                       old->after_snapshot, std::move(ready), std::move(log)))
               : TRY(JournalFile::create(files, options, std::move(ready), std::move(log)));
  }
  server->recorder_ =
      std::make_unique<Recorder>(std::move(file), std::move(header), old.has_value(),
                                 SnapshotRule(clock, configuration.snapshot_bytes));
  return server;
}

Server::Server(asio::io_context& io, asio::signal_set& signals, Channel& channel,
               const Configuration& configuration, const Clock& clock, Beginning beginning, Log log)
    : io_(io),
      signals_(signals),
      channel_(channel),
      configuration_(configuration),
      clock_(clock),
      log_(std::move(log)),
      deadline_(io),
      tick_(io),
      wakeup_(io, [this] { on_wakeup(); }),
      end_seen_(beginning.end_seen),
      beginning_(std::move(beginning)),
      dispatcher_(std::move(beginning_.crew.dispatcher)),
      workers_(std::move(beginning_.crew.workers)) {}

int Server::run() {
  await_signal();
  dispatcher_->attach(*this, *recorder_);
  workers_->start([this] { wakeup_.ring(); });
  channel_.attach(*this);
  channel_.receive();
  io_.restart();
  io_.run();
  workers_->join();
  log_.info("exiting with code {}", exit_code_);
  return exit_code_;
}

// ---- commands in

// Passes commands to the dispatcher. Also called when a command that was held back may be passed
// on; reads on only when no command is held back.
void Server::handle_frames() {
  if (stopping_) return;
  const bool all = !dispatcher_->blocked() || dispatcher_->resume();
  held_ = !all || !pass_on_frames();
  if (!held_) channel_.receive();
  // Once for all commands of this turn: to wake a worker for each command would cost more.
  workers_->wake();
  commit();
  // If only the journal's memory was full, no event tells that commit() has made room.
  const bool room =
      !dispatcher_->blocked() && !output_full() && !recorder_->full(configuration_.limits.queue);
  if (held_ && room && !stopping_) asio::post(io_, [this] { on_wakeup(); });
}

// False: a queue, the unsent answers or the journal's memory is full, the stream is broken, or the
// daemon is stopping.
bool Server::pass_on_frames() {
  while (!stopping_) {
    if (recorder_->full(configuration_.limits.queue) || output_full()) return false;
    auto frame = channel_.next();
    if (!frame) {
      break_off(frame.error().message);
      return false;
    }
    if (!*frame) return true;
    if (!greeted_ && greet(**frame)) continue;
    if ((*frame)->code == "GE") ++asked_;
    if (!dispatcher_->accept(**std::move(frame))) return false;
  }
  return false;
}

// Handles what must come with the first frame: the former daemon's records, answers and leftovers.
// True: the frame was the IN of a manager that resumes exactly, and has been answered.
bool Server::greet(const Frame& frame) {
  greeted_ = true;
  // These records still belong to the former daemon: they stand before this daemon's `begin`.
  for (JournalRecord& record : beginning_.fresh) recorder_->append(std::move(record));
  recorder_->begin(beginning_.begin, frame);
  const bool exact = beginning_.begin.how == BeginHow::exact;
  const bool answered = exact && frame.code == "IN";
  if (answered) send(encode(Initialized{beginning_.through}));
  if (exact && !answered) log_.error("{} came before IN", printable(frame.code));
  for (Frame& answer : beginning_.answers) send(std::move(answer));
  for (Replay::Leftover& left : beginning_.leftovers) {
    dispatcher_->on_worker(left.from, std::move(left.message));
  }
  const auto through = beginning_.begin.how == BeginHow::fresh ? beginning_.through : std::nullopt;
  std::string refused = std::move(beginning_.refused);
  beginning_ = Beginning();
  // The workers may have gone on with what was queued: nobody has taken that yet.
  asio::post(io_, [this] { take_output(); });
  beginning_.through = through;
  beginning_.refused = std::move(refused);
  return answered;
}

// Answers the requests that came since the last call with a NO, if the journal cannot be written.
// They stay queued: their answers follow when it can be written again.
void Server::refuse() {
  const int asked = std::exchange(asked_, 0);
  if (asked == 0 || recorder_->trouble().empty()) return;
  const Capabilities& can = configuration_.capabilities;
  NoMoreTrialJobs no;
  if (can.reason) no.reason = recorder_->trouble();
  no.transient = can.sync;
  for (int i = 0; i < asked; ++i) transmit(encode(no));
}

// Without a manager the answers go nowhere, but what it sent is handled and remembered.
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

// A worker has said something, a full queue has room, or a helper thread of the journal is done.
void Server::on_wakeup() {
  if (auto* file = recorder_->file()) file->poll();
  if (held_) handle_frames();
  take_output();
}

// ---- answers out

bool Server::output_full() const {
  return channel_.backlog() + unsent_bytes_ >= configuration_.limits.queue;
}

void Server::take_output() {
  // greet() must first send what the former daemon left: what the workers say follows from that.
  if (!greeted_ && !stopping_) return;
  // If the manager does not read, this takes nothing, and so the workers have to wait. When
  // stopping it takes all: only what is queued can still come.
  for (int taken = 0; stopping_ || !output_full(); ++taken) {
    if (taken == kAnswersAtOnce) {  // let commands, signals and timers have their turn
      asio::post(io_, [this] { take_output(); });
      break;
    }
    auto output = workers_->take();
    if (!output) break;
    if (std::holds_alternative<Finished>(output->message)) on_finished(output->from);
    // After drop_requests() or drop_reports() a worker says what does not follow from the journal.
    // The next daemon replays the journal, without such a hole, and does this work again.
    if (discarding_ || closed_) continue;
    dispatcher_->on_worker(output->from, std::move(output->message));
  }
  commit();
  if (stopping_) {
    finish_if_done();
  } else if (held_ && !dispatcher_->blocked()) {
    handle_frames();
  }
}

// The assess worker finishes first, because stop() closes only its queue. Its last decisions have
// been handled by now, so no message for the tuner's queue can follow from them.
void Server::on_finished(WorkerName worker) {
  ++finished_workers_;
  if (worker == WorkerName::assess && stopping_) workers_->close_tune();
}

void Server::send(Frame frame) {
  // The dispatcher's ID, which is in the journal, is empty, so that a replay gives the same one.
  // What this manager needs to know is added here.
  if (frame.code == "ID") {
    ready_ = true;
    frame = encode(
        Initialized{std::exchange(beginning_.through, {}), std::exchange(beginning_.refused, {})});
  }
  unsent_bytes_ += frame.payload.size();
  unsent_.push_back({recorder_->position(), std::move(frame)});
}

// Writes the records, and sends the answers whose records are safe.
void Server::commit() {
  auto* file = recorder_->file();
  if (file && !closed_) file->flush();
  refuse();
  while (!unsent_.empty() && recorder_->has(unsent_.front().position)) {
    const Frame frame = std::move(unsent_.front().frame);
    unsent_.pop_front();
    unsent_bytes_ -= frame.payload.size();
    transmit(frame);
  }
  if (!stopping_ && ready_ && !dispatcher_->saving() &&
      recorder_->snapshot_due(workers_->unsaved_seconds(), workers_->saving_seconds())) {
    dispatcher_->save();
  }
  if (!file || ticking_ || stopping_ || !file->needs_tick()) return;
  ticking_ = true;
  tick_.expires_after(kTick);
  tick_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) tick();
  });
}

void Server::tick() {
  ticking_ = false;
  if (closed_) return;
  recorder_->file()->tick();
  if (held_) handle_frames();
  take_output();
}

void Server::save(json state) {
  if (stopping_) return;
  const std::uint64_t answers = state["answers"].get<std::uint64_t>();
  recorder_->write_snapshot(std::move(state), answers, dispatcher_->acknowledged());
}

void Server::transmit(const Frame& frame) {
  if (auto sent = channel_.send(frame); !sent) break_off(sent.error().message);
}

// ---- the end

void Server::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (!error) on_signal(signal);
  });
}

void Server::on_signal(int signal) {
  if (signalled_) {  // the second one ends the daemon at once
    log_.flush();
    ::_exit(128 + signal);
  }
  signalled_ = true;
  log_.info("signal {} received", signal);
  await_signal();
  if (stopping_) {
    parting_ = Parting::agreed;
    return set_deadline(kQuickStop);
  }
  // After a mere good-bye NNI 3.0 would wait for ever.
  if (!configuration_.websocket_url.empty()) {
    transmit(encode(DaemonError{"attuned was ended by signal " + std::to_string(signal)}));
  }
  parting_ = Parting::failed;  // the manager did not ask for this end
  stop(Stop::discard, kQuickStop);
}

void Server::fatal(ExitCode code, const std::string& message) {
  log_.error("{}", message);
  if (exit_code_ == kExitOk) exit_code_ = code;
  if (stopping_) return;
  parting_ = Parting::failed;
  // The commands before a break in the stream are good, so they are handled.
  if (code == kExitProtocol) {
    stop(Stop::drain, kDrainStop);
  } else {
    stop(Stop::discard, kQuickStop);
  }
}

// For failures of the channel. The dispatcher tells the manager of the failures of workers.
void Server::break_off(const std::string& message) {
  if (configuration_.capabilities.error && !stopping_) {
    // If this fails, too, nothing changes: the daemon ends anyway.
    if (auto sent = channel_.send(encode(DaemonError{message})); !sent) {
      log_.debug("{}", sent.error().message);
    }
  }
  fatal(kExitProtocol, message);
}

// Begins the end: stops reading, and closes the assessor's queue; on_finished() then closes the
// tuner's. The loop runs on until finish_if_done() or the deadline. What is not handled by then is
// in the journal.
void Server::stop(Stop how, std::optional<milliseconds> deadline) {
  if (stopping_) return;
  stopping_ = true;
  channel_.stop_receiving();
  discarding_ = how == Stop::discard || !greeted_;
  if (discarding_) {
    workers_->drop_requests();
    workers_->drop_reports();
  }
  workers_->close_assess();
  if (deadline && end_seen_) {  // a part of the time passed before the server ran
    const milliseconds since(std::llround(1000 * (clock_.now() - *end_seen_)));
    *deadline -= std::min(*deadline, since);
  }
  if (deadline) set_deadline(*deadline);
  asio::post(io_, [this] { take_output(); });  // takes what waited for the manager to read
}

void Server::set_deadline(milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) on_deadline();
  });
}

void Server::on_deadline() {
  if (!closed_ || finished_workers_ < 2) {
    log_.warning("not everything was handled or written in time");
  }
  late_ = true;
  close_journal();
  if (parting_ == Parting::agreed) return leave();
  finish_if_done();
}

// Closes the journal, once. What it cannot write is lost with this process. Also releases the lock,
// because this process may stay for long (Channel::close), and the next daemon needs the journal.
void Server::close_journal() {
  if (closed_) return;
  auto* file = recorder_->file();
  closed_ = true;
  if (file) {
    if (auto closed = file->close(); !closed) {
      log_.error("{}; {} answers have not left", closed.error().message, unsent_.size());
    }
  }
  commit();
  unsent_.clear();
  recorder_->release();
}

void Server::finish_if_done() {
  if (!stopping_ || (finished_workers_ < 2 && !late_)) return;
  close_journal();
  if (channel_.close(parting_)) leave();
}

void Server::leave() {
  log_.flush();
  // A worker that still computes can be neither interrupted nor waited for.
  if (finished_workers_ < 2) ::_exit(exit_code_);
  io_.stop();
}

}  // namespace attune
