#pragma once
// A worker: dials the coordinator, again and again, and runs what it is leased. It goes when it was
// told to drain and has nothing left. When the process dies its trials run on, and a worker that is
// started under the same name goes on with them.
//
// One thread, that of `io`.
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "base/rng.h"
#include "cluster/pool/worker/worker_tasks.h"
#include "os/log.h"
#include "wire/dialer.h"

namespace attune {

struct WorkerOptions {
  DialerOptions dial;
  WorkerHello hello;                   // without what runs
  std::uint64_t most_tasks = 0;        // takes no more than so many, and goes; 0: any number
  std::chrono::milliseconds doubt{0};  // WorkerTasks::set_doubt
  // It goes when it has had nothing to do, or nobody to say it to and nothing that runs, for so
  // long; 0: stays. The ends of its trials are in their folders for whoever comes after it.
  std::chrono::milliseconds leave_after{0};
  std::chrono::milliseconds unreachable_after{0};  // the second of these only
};

class WorkerProcess {
 public:
  struct Handlers {
    WorkerTasks::MakeBackend make_backend;
    std::function<void(const std::string& text)> on_state;  // for people: connected, lost, ...
    std::function<void()> on_done;  // it has nothing left, and gets nothing more
    // What its name is bound to (name_key.h): asked before each hello, and the same each time.
    // Empty: that of the options.
    std::function<std::string()> key = {};
  };
  WorkerProcess(boost::asio::io_context& io, WorkerOptions options, const Rng& rng, Log log,
                Handlers handlers);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  void begin();
  // Takes nothing more, and goes when its tasks have ended and the coordinator knows it.
  void drain();
  // The machine is about to be taken away, or somebody wants it at once: takes nothing more, and
  // ends its trials with grace, so that they may save what they have. They are lost, with `why`,
  // and may go on elsewhere.
  void vacate(const std::string& why);

 private:
  void connected(std::unique_ptr<Connection> connection);
  void heard(const json& message);
  void send(const json& message) const;
  void lost(const std::string& reason);
  void leave_if_over();
  std::string retry_text() const;  // where it tries to connect, and for how long
  std::chrono::milliseconds patience() const;
  void await_idleness();
  void go_if_idle();

  const WorkerOptions options_;
  const Log log_;
  const Handlers handlers_;
  WorkerTasks tasks_;
  Dialer dialer_;
  std::unique_ptr<Connection> connection_;
  std::string last_failure_;  // to connect
  bool draining_ = false, dismissed_ = false, done_ = false;
  boost::asio::steady_timer idleness_;
  enum class Awaits { nothing, task, coordinator } awaits_ = Awaits::nothing;  // until idleness_
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
