#pragma once
// The tasks of a worker: starts and adopts those that it is leased, tells the coordinator what
// happens to them, and keeps each message until it is acknowledged. This object outlives
// connections: after each hello it repeats everything that was not acknowledged. It need not
// outlive the process: trials run under shims, and their reports are in their spools.
//
// All calls come from one thread, that of `io`.
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backends/trial_backend.h"
#include "base/json.h"
#include "cluster/pool/worker_table.h"

namespace attune {

class WorkerTasks {
 public:
  // Makes the backend that runs the trials of one experiment, or of one role of a workload, which
  // the file `experiment` describes. An error: this machine cannot run them. The task is then
  // refused with that text.
  using MakeBackend = std::function<Result<std::unique_ptr<TrialBackend>>(
      const std::string& experiment, std::function<void()> wake)>;
  // Sends to the coordinator. Called only while there is a connection.
  using Say = std::function<void(const json& message)>;

  // `first_seq`: infos are numbered from here. It must be random, so that an acknowledgement for an
  // earlier process of this worker matches no info of this one.
  WorkerTasks(boost::asio::io_context& io, MakeBackend make_backend, std::uint64_t first_seq);
  ~WorkerTasks();

  std::vector<HeldLease> running() const;  // for the hello
  void connected(Say say);                 // after the welcome
  void disconnected() { say_ = nullptr; }
  // Takes a message of the coordinator: lease, cancel, tell, say_again, info_ack, finished_ack. An
  // error says what is wrong with the message.
  Result<void> handle(const json& message);

  // The end of a trial that ended badly (failed, killed by a signal, stopped unasked) is not told
  // for so long. Whoever ends a job sends SIGTERM to all its processes, and the trial may die of it
  // before this process hears of it. If vacate() is called meanwhile, the trial counts as lost.
  void set_doubt(std::chrono::milliseconds doubt) { doubt_ = doubt; }
  // If more bytes of an experiment are not acknowledged, its trials are not read any more until
  // they are; their reports stay in the spools.
  void set_most_unacknowledged(std::size_t bytes) { most_unacknowledged_ = bytes; }
  bool idle() const { return tasks_.empty(); }
  bool resting() const;  // nothing runs; ends may still wait to be acknowledged
  std::uint64_t taken() const { return taken_; }  // leases so far
  std::size_t doubts() const;                     // ends that set_doubt() holds back
  // Stops all trials with grace. They are lost, and so is every task that is leased later.
  void vacate(const std::string& why);

 private:
  struct Program;
  struct Task;

  Result<void> lease(const json& message);
  Result<Program*> program(const std::string& experiment);
  void begin(Task& task);
  void start(Task& task, int try_number);
  void began(Task& task);
  void never_ran(Task& task, Ending how, const std::string& detail);
  void refuse(Task& task, const std::string& why);
  Result<void> cancel(Task& task, const std::string& how);
  Result<void> tell(Task& task, const json& message);
  void fetch();
  void take(Program& program, const TrialEvent& event);
  void info(Task& task, const TrialEvent& event);
  void acknowledge(Task& task, std::uint64_t seq);
  void fetch_soon();
  bool all_end(const Program& program) const;  // all running trials were told to end
  void ended(Task& task, const TrialFinished& end);
  void finish(Task& task, TrialFinished end);
  void forget(Task& task);
  Task* find(const std::string& id, LeaseId lease);
  void say(const json& message) const {
    if (say_) say_(message);
  }

  boost::asio::io_context& io_;
  MakeBackend make_backend_;
  Say say_;
  std::map<std::string, std::unique_ptr<Program>> programs_;  // by experiment
  std::map<LeaseId, std::unique_ptr<Task>> tasks_;
  const std::uint64_t first_seq_;
  std::uint64_t seq_, uses_ = 0, taken_ = 0;
  std::chrono::milliseconds doubt_{0};
  std::string vacated_;  // why vacate() was called; empty: it was not
  std::size_t most_unacknowledged_ = std::size_t{16} << 20;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
