#pragma once
// The implementation of CoordinatorServer. Only for its sources.
#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/saved_numbers.h"
#include "cluster/pool/messages.h"
#include "cluster/pool/name_key.h"
#include "cluster/pool/roles.h"
#include "cluster/pool/server/held_back.h"
#include "cluster/pool/server/ledger.h"
#include "cluster/pool/server/operator_seat.h"
#include "cluster/pool/server/server.h"
#include "cluster/pool/server/sessions.h"
#include "cluster/pool/server/task_event.h"
#include "cluster/pool/trial_event.h"
#include "wire/address_file.h"
#include "wire/listener.h"

namespace attune {

class CoordinatorServer::Impl final : public CoordinatorEffects {
 public:
  using SessionId = Sessions::Id;

  Impl(boost::asio::io_context& io, const Clock& clock, ServerOptions options, std::uint64_t seed,
       std::unique_ptr<Commander> commander, const MakeTaskBuffers& make_buffers, Log log,
       std::function<void()> on_finished)
      : io_(io),
        clock_(clock),
        options_(std::move(options)),
        seed_(seed),
        log_(std::move(log)),
        on_finished_(std::move(on_finished)),
        buffers_(make_buffers(
            seed_, {[this](const json& record) { ledger_->append(dump_json(record)); },
                    [this](SessionId session, const json& message) { say(session, message); }})),
        coordinator_(with_secret(options_.coordinator), std::move(commander), *this),
        seat_(coordinator_,
              {[this] { return now(); }, [this] { return address(); }, [this] { settle_soon(); },
               [this](std::function<void()> call) { when_durable(std::move(call)); }},
              log_),
        sessions_(log_),
        alarm_(io),
        second_(io),
        patience_(io),
        look_(io) {}

  // Only the first coordinator of a folder uses it; its successors find that one in the journal.
  static CoordinatorOptions with_secret(CoordinatorOptions options) {
    options.secret = Secret::draw().hex();
    return options;
  }
  static Ledger::Options ledger_options(const ServerOptions& options) {
    Ledger::Options ledger;
    ledger.path = (options.directory / kCoordinatorJournal).string();
    ledger.durability = options.durability;
    return ledger;
  }
  Result<void> begin(FileSystem& files, Ledger::Former former, const MakeOperator& make_operator);

  // ---- CoordinatorEffects
  void append(const Record& record) override {
    ledger_->append(encode_record(record));
    if (record.edge != Edge::info) seat_.something_happened();
  }
  void applied(const Record& record, const Task* task) override {
    buffers_->hear(record, task);
    if (record.edge == Edge::requeued || record.edge == Edge::ended) fence_former(record.task);
    if (live_ && task != nullptr && task->spec.client.empty() && options_.on_task_event) {
      const std::string text = task_event(record, *task);
      if (!text.empty()) options_.on_task_event(text, record);
    }
  }
  void lease(const Task& task, bool again) override {
    log_.debug("task {} attempt {} goes to worker {} (lease {}{})", task.spec.id, task.attempt,
               task.worker, task.lease, again ? ", again" : "");
    const std::string key = program_key(coordinator_.board().secret(), task.spec.id, task.lease);
    to(Role::worker, task.worker, lease_message(task, again, key));
  }
  void cancel(const std::string& worker, const HeldLease& held, const std::string& how) override {
    to(Role::worker, worker, cancel_message(held, how));
  }
  void tell(const Task& task, const json& message) override {
    to(Role::worker, task.worker, tell_message(task, message));
  }
  void say_again(const Task& task) override {
    to(Role::worker, task.worker, say_again_message(task));
  }
  void acknowledge_info(const std::string& worker, const HeldLease& held,
                        std::uint64_t seq) override {
    to(Role::worker, worker, info_ack_message(held, seq));
  }
  void acknowledge_end(const std::string& worker, const HeldLease& held) override {
    to(Role::worker, worker, finished_ack_message(held));
  }
  void dismiss(const std::string& worker) override {
    to(Role::worker, worker, {{"type", "drain"}});
  }
  void state_changed(const Task& task) override {
    log_.debug("task {} attempt {} {}{}", task.spec.id, task.attempt, to_text(task.state),
               task.cause.empty() ? "" : ": " + task.cause);
    if (task.spec.client.empty()) return tell_waiting(task);
    json message = state_message(task, now());
    const auto& workers = coordinator_.workers().workers();
    if (const auto worker = workers.find(task.worker); worker != workers.end())
      message["host"] = worker->second.hello.host;
    to(Role::client, task.spec.client, message);
  }
  void info(const Task& task, std::uint64_t seq, const json& event) override {
    if (misses(task)) return;
    to(Role::client, task.spec.client, info_message(task, seq, event));
  }

  const std::string& listens_on() const { return listener_->address(); }
  bool went_on() const { return ledger_->had_records(); }
  const Coordinator& coordinator() const { return coordinator_; }
  void finish(const std::string& cause) {
    coordinator_.finish_all(cause, now());
    settle();
  }
  bool idle() const {
    return sessions_.none_are(Role::client) &&
           std::ranges::all_of(coordinator_.board().tasks(),
                               [](const auto& each) { return is_end(each.second.state); });
  }
  Result<void> close() { return ledger_->close(); }

 private:
  double now() const { return began_time_ + (clock_.now() - began_); }
  std::string address() const {
    return options_.advertise.empty() ? listener_->address() : options_.advertise;
  }
  Result<void> replay(const json& record);
  json save() const;

  void hello(std::unique_ptr<Connection> connection, const Identity& who, const json& message);
  Result<PoolSession> meet(const Identity& who, const json& message);
  Result<void> check_task(const TaskSpec& task) const;
  Result<void> bind(PoolSession& program, const std::string& key) const;
  const Task* task_of(const PoolSession& program) const;
  static void fence(const PoolSession& program, Connection& connection);
  void fence_former(const std::string& task);
  void tell_waiting(const Task& task);
  void start(SessionId id);
  void heard(SessionId id, const json& message);
  Result<void> hear(SessionId id, const PoolSession& session, const json& message);
  void closed(SessionId id, const std::string& reason);

  void when_durable(std::function<void()> call) {
    held_back_.add(ledger_->position(), std::move(call));
  }
  void to(Role role, const std::string& name, json message);
  void say(SessionId id, json message);
  bool misses(const Task& task);
  void catch_up();
  // Wraps `call` so that it does nothing once this object is gone. For handlers of `io_`.
  template <class Call>
  auto while_alive(Call call) {
    return [call = std::move(call), alive = std::weak_ptr(alive_)](auto&&... arguments) {
      if (!alive.expired()) call(std::forward<decltype(arguments)>(arguments)...);
    };
  }
  void settle();
  void settle_soon();
  void say_goodbye();
  void await_farewell(int more);
  void await_deadline();
  void await_second();
  Result<void> write_role_file(const RoleFile& file) const;
  void keep_address();

  boost::asio::io_context& io_;
  const Clock& clock_;
  const ServerOptions options_;
  const std::uint64_t seed_;
  const Log log_;
  std::function<void()> on_finished_;
  std::unique_ptr<Ledger> ledger_;
  const std::unique_ptr<TaskBuffers> buffers_;
  Coordinator coordinator_;
  OperatorSeat seat_;
  HeldBack held_back_;
  std::unique_ptr<Listener> listener_;
  Secrets secrets_;  // of the roles; drawn by begin()
  Sessions sessions_;
  boost::asio::steady_timer alarm_, second_, patience_, look_;
  double began_ = clock_.now(), began_time_ = clock_.wall();  // corrected by begin()
  std::optional<double> armed_;
  // Clients that were behind, and those of their tasks of which an info was withheld.
  std::map<std::string, std::set<std::string>> missed_;
  std::string told_waiting_;  // the last reason that was told, of any task of the commander
  bool live_ = false;         // false while records are replayed
  bool settling_ = false, ticking_ = false, parting_ = false;
  // Handlers check whether this object still exists: cancelling a timer does not recall a handler
  // that is queued already.
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace attune
