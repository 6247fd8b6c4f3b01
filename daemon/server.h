#pragma once
// attuned's io thread: channel, signals, timers, and the one orderly way to stop.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "daemon/autosave.h"
#include "daemon/channel.h"
#include "daemon/configuration.h"
#include "daemon/crew.h"
#include "daemon/wakeup.h"
#include "dispatcher/threads.h"

namespace attune {

class Server : private Sink, private ChannelEvents {
 public:
  Server(boost::asio::io_context& io, std::unique_ptr<Channel> channel,
         const Configuration& configuration, Crew crew, Log log);

  // Until Terminate, end of input, a signal, or a failure. Returns the exit code, with the workers
  // joined; leaves by _exit when one of them is stuck beyond the deadline.
  int run();

 private:
  enum class Stop { drain, discard };

  void send(Frame frame) override;
  void fatal(ExitCode code, const std::string& message) override;
  void save(json state) override { autosave_.save(std::move(state)); }
  void terminate() override;

  void on_input() override { handle_frames(); }
  void on_end(ExitCode code) override;
  void on_output() override { take_output(); }

  void handle_frames();
  bool pass_on_frames();
  void on_wakeup();
  void on_finished(WorkerName worker);
  void collect_state();
  void break_off(const std::string& message);
  void take_output();
  void await_signal();

  void stop(Stop how, std::optional<std::chrono::milliseconds> deadline);
  void set_deadline(std::chrono::milliseconds time);
  void on_deadline();
  void finish_if_done();

  boost::asio::io_context& io_;
  const std::unique_ptr<Channel> channel_;
  const Configuration& configuration_;
  Log log_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_;
  Wakeup wakeup_;
  bool held_ = false;  // not reading: a queue is full
  bool stopping_ = false, signalled_ = false;
  bool final_save_ = false;
  bool extended_ = false;  // the deadline, for saving
  int finished_workers_ = 0;
  int exit_code_ = kExitOk;
  struct NoJournal : Journal {
    void append(JournalRecord) override {}
    void begin_snapshot() override {}
  } journal_;
  WorkerThreads workers_;
  Dispatcher dispatcher_;
  Autosave autosave_;
};

}  // namespace attune
