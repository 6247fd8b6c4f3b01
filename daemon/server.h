#pragma once
// Runs attuned's io thread: the channel, signals, timers, and the one orderly way to stop.
//
// An answer is sent only when its record is as durable as the configuration asks. While the journal
// cannot be written, records and answers wait in memory, requests for trials are answered by a NO
// with the reason, and work continues when the journal can be written again.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>

#include "daemon/channel.h"
#include "daemon/configuration.h"
#include "daemon/recorder.h"
#include "daemon/resume.h"
#include "daemon/wakeup.h"

namespace attune {

class Server : private Sink, private ChannelEvents {
 public:
  // Errors: the journal cannot be opened. `signals` are those that end the daemon; `channel` must
  // be open. All references must outlive the server.
  static Result<std::unique_ptr<Server>> make(boost::asio::io_context& io,
                                              boost::asio::signal_set& signals, Channel& channel,
                                              const Configuration& configuration, FileSystem& files,
                                              const Clock& clock, Beginning beginning, Log log);

  // Runs until Terminate, end of input, a signal, or a failure; after a signal or a failure also
  // until the manager has noticed (Channel::close). Joins the workers and returns the exit code. If
  // a worker is stuck beyond the deadline, leaves by _exit instead.
  int run();

 private:
  enum class Stop { drain, discard };  // handles what is queued; drops queued requests and reports

  Server(boost::asio::io_context& io, boost::asio::signal_set& signals, Channel& channel,
         const Configuration& configuration, const Clock& clock, Beginning beginning, Log log);

  void send(Frame frame) override;
  void fatal(ExitCode code, const std::string& message) override;
  void save(json state) override;
  void terminate() override;

  void on_input() override { handle_frames(); }
  void on_end(ExitCode code) override;
  void on_output() override { take_output(); }

  void handle_frames();
  bool pass_on_frames();
  bool greet(const Frame& frame);
  void refuse();
  void on_wakeup();
  void on_finished(WorkerName worker);
  void break_off(const std::string& message);
  void take_output();
  bool output_full() const;
  void commit();
  void tick();
  void transmit(const Frame& frame);
  void await_signal();
  void on_signal(int signal);

  void stop(Stop how, std::optional<std::chrono::milliseconds> deadline);
  void set_deadline(std::chrono::milliseconds time);
  void on_deadline();
  void close_journal();
  void finish_if_done();
  void leave();

  boost::asio::io_context& io_;
  boost::asio::signal_set& signals_;
  Channel& channel_;
  const Configuration& configuration_;
  const Clock& clock_;
  Log log_;
  boost::asio::steady_timer deadline_, tick_;
  Wakeup wakeup_;
  bool held_ = false;  // not reading: a queue, the unsent answers, or the journal's memory is full
  bool ticking_ = false;
  bool greeted_ = false, ready_ = false;  // the first frame has come; a search space is in force
  bool stopping_ = false, signalled_ = false, closed_ = false, discarding_ = false;
  bool late_ = false;  // the deadline is over: no longer waits for the workers
  Parting parting_ = Parting::agreed;
  int finished_workers_ = 0;
  int exit_code_ = kExitOk;
  const std::optional<double> end_seen_;  // Beginning::end_seen
  Beginning beginning_;                   // the parts that the manager has not been told yet
  const std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<Recorder> recorder_;
  struct Unsent {
    std::uint64_t position;  // of the journal behind its record
    Frame frame;
  };
  std::deque<Unsent> unsent_;
  std::size_t unsent_bytes_ = 0;
  int asked_ = 0;                                 // requests since the records were last written
  const std::unique_ptr<WorkerThreads> workers_;  // last: its threads ring the wakeup
};

}  // namespace attune
