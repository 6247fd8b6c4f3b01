#pragma once
// attuned's io thread: descriptors, signals, timers, and the one orderly way to stop.
#include <utility>  // Boost 1.74's asio/awaitable.hpp forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>

#include "daemon/configuration.h"
#include "dispatcher/threads.h"

namespace attune {

class Server : private Sink {
 public:
  // The descriptors are open; the server owns them from here on.
  Server(boost::asio::io_context& io, const Configuration& configuration, DispatcherOptions options,
         TuneWorker tune, AssessWorker assess, Log log);

  // Until Terminate, end of input, a signal, or a failure. Returns the exit code, with the workers
  // joined; leaves by _exit when one of them is stuck beyond the deadline.
  int run();

 private:
  enum class Stop { drain, discard };

  void send(Frame frame) override;
  void fatal(ExitCode code, const std::string& message) override;
  void terminate() override;

  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void handle_frames();
  void take_output();
  void write();
  void on_written(const boost::system::error_code& error);
  void await_signal();

  void stop(Stop how, std::optional<std::chrono::milliseconds> deadline);
  void finish_if_done();

  boost::asio::io_context& io_;
  const Configuration& configuration_;
  Log log_;
  boost::asio::posix::stream_descriptor in_, out_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer deadline_;
  FrameDecoder decoder_;
  std::string read_buffer_;
  std::string outgoing_, writing_;  // what waits, and what is being written
  bool write_in_flight_ = false;
  bool manager_gone_ = false;  // nobody reads what we write
  bool stopping_ = false;
  int finished_workers_ = 0;
  int exit_code_ = kExitOk;
  MemoryJournal journal_;
  WorkerThreads workers_;
  Dispatcher dispatcher_;
};

}  // namespace attune
