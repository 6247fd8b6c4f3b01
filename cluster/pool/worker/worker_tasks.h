#pragma once
// The tasks of a worker: starts and adopts what it is leased, says what happens to it, and keeps
// what it has said until that was acknowledged. It outlives its connections: after another hello
// everything that was not acknowledged is said again. Nothing of it needs to outlive the process:
// trials run under shims, and what they reported is in their spools.
//
// One thread; `io` is its own.
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
  // What runs the trials of one experiment, or of one role, which the file `experiment` describes.
  // An error: this machine cannot; it is refused with that text.
  using MakeBackend = std::function<Result<std::unique_ptr<TrialBackend>>(
      const std::string& experiment, std::function<void()> wake)>;
  // To the coordinator. Not called while there is no connection.
  using Say = std::function<void(const json& message)>;

  // `first_seq`: infos count from there. Drawn at random, so that no number is one of an earlier
  // process of this worker: what is acknowledged of those is nothing to this one.
  WorkerTasks(boost::asio::io_context& io, MakeBackend make_backend, std::uint64_t first_seq);
  ~WorkerTasks();

  std::vector<HeldLease> running() const;  // for the hello
  void connected(Say say);                 // after the welcome
  void disconnected() { say_ = nullptr; }
  // Of the coordinator: lease, cancel, tell, say_again, info_ack, finished_ack. An error says what
  // is wrong with it.
  Result<void> handle(const json& message);

  // A trial that ends badly is not told for so long: who ends a job sends SIGTERM to all that is in
  // it, and the trial may die of it before this process has heard of that. See vacate().
  void set_doubt(std::chrono::milliseconds doubt) { doubt_ = doubt; }
  // More than so many bytes of an experiment that are not acknowledged: its trials are not read any
  // more until then.
  void set_most_unacknowledged(std::size_t bytes) { most_unacknowledged_ = bytes; }
  bool idle() const { return tasks_.empty(); }
  bool resting() const;  // nothing runs; ends may wait for somebody who hears them
  std::uint64_t taken() const { return taken_; }  // leases so far
  std::size_t doubts() const;                     // ends that were not told yet
  // All that runs is stopped with grace, and is lost: so is what comes later.
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
  bool all_end(const Program& program) const;  // which were told to
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
  std::string vacated_;  // why; empty: it is not
  std::size_t most_unacknowledged_ = std::size_t{16} << 20;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
