#include "cluster/pool/worker/worker_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/pool/messages.h"
#include "cluster/pool/roles.h"

namespace attune {

WorkerProcess::WorkerProcess(boost::asio::io_context& io, WorkerOptions options, const Rng& rng,
                             Log log, Handlers handlers)
    : options_(std::move(options)),
      log_(std::move(log)),
      handlers_(std::move(handlers)),
      tasks_(io, handlers_.make_backend,
             rng.fork("infos")() >> 12),  // 52 bits, which JSON readers with doubles keep
      dialer_(io, options_.dial, {kWorkerRole, options_.hello.id}, rng,
              {[this] {
                 WorkerHello hello = options_.hello;
                 hello.running = tasks_.running();
                 hello.draining = draining_;
                 if (handlers_.key) hello.key = handlers_.key();
                 return to_json(hello);
               },
               [this](std::unique_ptr<Connection> connection, const json&) {
                 connected(std::move(connection));
               },
               [this](DialState state, const std::string& reason) {
                 log_.debug("{}", reason);
                 const bool failed = state == DialState::waiting || state == DialState::refused;
                 if (failed && reason != std::exchange(last_failure_, reason))
                   handlers_.on_state(reason + "; " + retry_text());
               }}),
      idleness_(io) {
  tasks_.set_doubt(options_.doubt);
}

WorkerProcess::~WorkerProcess() = default;

void WorkerProcess::begin() {
  dialer_.dial();
  await_idleness();
}

void WorkerProcess::connected(std::unique_ptr<Connection> connection) {
  connection_ = std::move(connection);
  last_failure_.clear();
  handlers_.on_state(fmt::format("connected to {}", connection_->peer()));
  connection_->start({[this](const json& message) { heard(message); },
                      [this](const std::string& reason) { lost(reason); },
                      {}});
  // Sends even if the connection is congested: WorkerTasks bounds what is not acknowledged.
  tasks_.connected([this](const json& message) { send(message); });
  if (draining_) drain();
  await_idleness();
}

// A message that is too large for a frame is dropped.
void WorkerProcess::send(const json& message) const {
  if (const auto sent = connection_->send(message); !sent) log_.error("{}", sent.error().message);
}

void WorkerProcess::heard(const json& message) {
  const json type = message.value("type", json());
  if (type == "drain") {
    draining_ = dismissed_ = true;
  } else if (type == "error") {
    log_.warning("the coordinator says: {}", dump_json(message));
  } else if (const auto handled = tasks_.handle(message); !handled) {
    log_.error("the coordinator says what cannot be understood: {}", handled.error().message);
    connection_->refuse(handled.error().message);
  }
  if (!draining_ && options_.most_tasks > 0 && tasks_.taken() >= options_.most_tasks) drain();
  leave_if_over();
  await_idleness();
}

// While connected it leaves only when the coordinator dismisses it, which may have leased it
// something meanwhile.
void WorkerProcess::leave_if_over() {
  const bool free = connection_ ? dismissed_ : draining_;
  if (done_ || !free || !tasks_.idle()) return;
  done_ = true;
  tasks_.disconnected();
  if (connection_) connection_->close("it has nothing left to do");
  handlers_.on_done();
}

std::string WorkerProcess::retry_text() const {
  const DialerOptions& dial = options_.dial;
  const auto bound = patience();
  return fmt::format(
      "it goes on trying {} {}", dial.file.empty() ? dial.address : dial.file,
      bound.count() == 0
          ? "until it is stopped: ^C, or kill " + std::to_string(options_.hello.pid)
          : fmt::format("for {:g} s, and goes then", static_cast<double>(bound.count()) / 1000));
}

// How long it stays without work or connection; 0: without a bound.
std::chrono::milliseconds WorkerProcess::patience() const {
  const auto leave = options_.leave_after, unreachable = options_.unreachable_after;
  if (connection_ || unreachable.count() == 0) return leave;
  return leave.count() == 0 ? unreachable : std::min(leave, unreachable);
}

// Starts the timer anew when what the idle worker waits for changes: a task, or the coordinator.
void WorkerProcess::await_idleness() {
  const bool idle = !connection_ || tasks_.idle();
  const Awaits awaits = patience().count() == 0 || done_ || !idle ? Awaits::nothing
                        : connection_                             ? Awaits::task
                                                                  : Awaits::coordinator;
  if (std::exchange(awaits_, awaits) == awaits) return;
  idleness_.cancel();
  if (awaits_ != Awaits::nothing) go_if_idle();
}

// Leaves if it is still idle after patience().
void WorkerProcess::go_if_idle() {
  idleness_.expires_after(patience());
  idleness_.async_wait([this, alive = std::weak_ptr(alive_)](const auto& error) {
    if (error || alive.expired() || done_ || awaits_ == Awaits::nothing) return;
    if (connection_) {
      awaits_ = Awaits::nothing;
      return drain();
    }
    if (!tasks_.resting()) return go_if_idle();
    done_ = true;
    handlers_.on_state("it has had nothing to do for long enough, and goes");
    handlers_.on_done();
  });
}

void WorkerProcess::lost(const std::string& reason) {
  handlers_.on_state("the connection is lost: " + reason);
  tasks_.disconnected();
  connection_.reset();
  dismissed_ = false;
  leave_if_over();
  if (done_) return;
  dialer_.dial();
  await_idleness();
}

void WorkerProcess::drain() {
  draining_ = true;
  if (connection_) send({{"type", "drain"}});
  leave_if_over();
}

void WorkerProcess::vacate(const std::string& why) {
  drain();
  tasks_.vacate(why);
}

}  // namespace attune
