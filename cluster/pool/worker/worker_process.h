#pragma once
// A worker: keeps dialling the coordinator, and runs the tasks that it is leased. It leaves when it
// was told to drain and has no task left. If the process dies its trials run on, and a worker that
// is started under the same name continues them.
//
// All calls come from one thread, that of `io`.
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
  WorkerHello hello;                   // all but `running` and `draining`
  std::uint64_t most_tasks = 0;        // drains after so many tasks; 0: no limit
  std::chrono::milliseconds doubt{0};  // WorkerTasks::set_doubt
  // It leaves after so long without a task, or without a connection while no trial runs; 0: never.
  // The ends of its trials stay in their folders for the next worker of its name.
  std::chrono::milliseconds leave_after{0};
  std::chrono::milliseconds unreachable_after{0};  // without a connection only
};

class WorkerProcess {
 public:
  struct Handlers {
    WorkerTasks::MakeBackend make_backend;
    std::function<void(const std::string& text)> on_state;  // for people: connected, lost, ...
    std::function<void()> on_done;  // it has no task left and gets no more: the process may end
    // Returns the key that proves that it owns its name (name_key.h), always the same one. Called
    // before each hello. Empty: the key in the options.
    std::function<std::string()> key = {};
  };
  WorkerProcess(boost::asio::io_context& io, WorkerOptions options, const Rng& rng, Log log,
                Handlers handlers);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  void begin();
  // Takes no more tasks, and leaves when its tasks have ended and the coordinator knows that.
  void drain();
  // For when the machine will be taken away, or somebody wants it at once. Takes no more tasks, and
  // ends its trials with grace, so that they can save their work. They are lost, with `why` as the
  // cause, and may continue elsewhere.
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
  // Until idleness_ expires.
  enum class Awaits { nothing, task, coordinator } awaits_ = Awaits::nothing;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
