#include "coordinator/server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <utility>

#include "base/address_file.h"
#include "base/saved_numbers.h"
#include "coordinator/messages.h"
#include "coordinator/server/buffer_board.h"
#include "coordinator/server/held_back.h"
#include "coordinator/server/ledger.h"
#include "coordinator/server/task_event.h"
#include "coordinator/trial_event.h"
#include "coordinator/wire/connection.h"
#include "coordinator/wire/listener.h"

namespace attune {
namespace {

// So much waits for the disk at most, before nobody is listened to any more.
constexpr std::size_t kMostHeldBack = 100'000;

enum class Role { worker, client, data };

struct Session {
  Role role = Role::worker;
  std::string name;  // of the worker or client; the task of a program
  int attempt = 0;   // of the task
  std::unique_ptr<Connection> connection;
};

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kFarewell{3};

Result<void> check_buffers(const TaskSpec& task) {
  for (const OwnedBuffer& each : task.owns) TRY(BufferBoard::check(each));
  return {};
}

}  // namespace

class CoordinatorServer::Impl final : public Effects, public OperatorPort {
 public:
  using SessionId = BufferBoard::SessionId;

  Impl(boost::asio::io_context& io, const Clock& clock, ServerOptions options,
       std::unique_ptr<Commander> commander, Log log, std::function<void()> on_finished)
      : io_(io),
        clock_(clock),
        options_(std::move(options)),
        log_(std::move(log)),
        on_finished_(std::move(on_finished)),
        buffers_(options_.seed,
                 {[this](const json& record) { ledger_->append(dump_json(record)); },
                  [this](SessionId session, const json& message) { say(session, message); }}),
        coordinator_(options_.coordinator, std::move(commander), *this),
        alarm_(io),
        second_(io),
        patience_(io) {}

  Result<void> begin(FileSystem& files, const MakeOperator& make_operator);
  ~Impl() override { *alive_ = false; }

  // ---- Effects
  void append(const Record& record) override {
    ledger_->append(encode_record(record));
    unseen_ |= record.edge != Edge::info;
  }
  void applied(const Record& record, const Task* task) override {
    buffers_.hear(record, task);
    if (record.edge == Edge::requeued || record.edge == Edge::ended) fence_former(record.task);
    if (live_ && task != nullptr && task->spec.client.empty() && options_.on_task_event) {
      const std::string text = task_event(record, *task);
      if (!text.empty()) options_.on_task_event(text);
    }
  }
  void lease(const Task& task, bool again) override {
    log_.debug("task {} attempt {} goes to worker {} (lease {}{})", task.spec.id, task.attempt,
               task.worker, task.lease, again ? ", again" : "");
    to(workers_, task.worker, lease_message(task, again));
  }
  void cancel(const std::string& worker, const HeldLease& held, const std::string& how) override {
    to(workers_, worker, cancel_message(held, how));
  }
  void tell(const Task& task, const json& message) override {
    to(workers_, task.worker, tell_message(task, message));
  }
  void say_again(const Task& task) override { to(workers_, task.worker, say_again_message(task)); }
  void acknowledge_info(const Task& task, std::uint64_t seq) override {
    to(workers_, task.worker, info_ack_message(task, seq));
  }
  void acknowledge_end(const std::string& worker, const HeldLease& held) override {
    to(workers_, worker, finished_ack_message(held));
  }
  void dismiss(const std::string& worker) override { to(workers_, worker, {{"type", "drain"}}); }
  void state_changed(const Task& task) override {
    log_.debug("task {} attempt {} {}{}", task.spec.id, task.attempt, to_text(task.state),
               task.cause.empty() ? "" : ": " + task.cause);
    if (!task.spec.client.empty()) to(clients_, task.spec.client, state_message(task));
  }
  void info(const Task& task, std::uint64_t seq, const json& event) override {
    to(clients_, task.spec.client, info_message(task, seq, event));
  }

  // ---- OperatorPort
  double now() const override { return began_wall_ + (clock_.now() - began_); }
  std::string address() const override {
    return options_.advertise.empty() ? listener_->address() : options_.advertise;
  }
  void worker_unavailable(const std::string& worker, const std::string& cause) override {
    log_.info("worker {} is given up: {}", worker, cause);
    coordinator_.worker_unavailable(worker, cause, now());
    settle_soon();
  }
  void refuse(const std::string& task, const std::string& cause) override {
    coordinator_.refuse_waiting(task, cause, now());
    settle_soon();
  }
  void explain(const std::string& task, const std::string& why) override {
    coordinator_.explain(task, why);
    settle_soon();
  }
  void changed() override { settle_soon(); }

  const std::string& listens_on() const { return listener_->address(); }
  bool went_on() const { return ledger_->had_records(); }
  const Coordinator& coordinator() const { return coordinator_; }
  void finish(const std::string& cause) {
    coordinator_.finish_all(cause, now());
    settle();
  }
  bool idle() const {
    return clients_.empty() &&
           std::ranges::all_of(coordinator_.board().tasks(),
                               [](const auto& each) { return is_end(each.second.state); });
  }
  Result<void> close() { return ledger_->close(); }

 private:
  using Names = std::map<std::string, SessionId>;

  Result<void> replay(const json& record);
  json save() const;

  void hello(std::unique_ptr<Connection> connection, const json& message);
  Result<Session> meet(const json& message);
  const Task* task_of(const Session& program) const;
  static void fence(const Session& program, Connection& connection);
  void fence_former(const std::string& task);
  void take_place(Names& names, const std::string& name, SessionId id);
  void start(SessionId id);
  void heard(SessionId id, const json& message);
  Result<void> hear(SessionId id, const Session& session, const json& message);
  void closed(SessionId id, const std::string& reason);

  void to(const Names& names, const std::string& name, json message);
  // What is too large for a frame reaches nobody.
  void send(Connection& connection, const json& message) const {
    if (const auto sent = connection.send(message); !sent)
      log_.error("to {}: {}", connection.peer(), sent.error().message);
  }
  void say(SessionId id, json message);
  void settle();
  void settle_soon();
  void show_operator();
  bool operator_needs_time() const;
  void say_goodbye();
  void await_farewell(int more);
  void slow_down();
  void await_deadline();
  void await_second();

  boost::asio::io_context& io_;
  const Clock& clock_;
  const ServerOptions options_;
  const Log log_;
  std::function<void()> on_finished_;
  std::unique_ptr<Ledger> ledger_;
  BufferBoard buffers_;
  Coordinator coordinator_;
  std::unique_ptr<Operator> operator_;    // may be null
  bool unseen_ = true, showing_ = false;  // what the operator has not seen; is about to see
  HeldBack held_back_;
  std::unique_ptr<Listener> listener_;
  std::map<SessionId, Session> sessions_;
  Names workers_, clients_;  // of those who are here
  SessionId next_session_ = 1;
  boost::asio::steady_timer alarm_, second_, patience_;
  const double began_ = clock_.now(), began_wall_ = clock_.wall();
  std::optional<double> armed_;
  bool live_ = false;  // what happens is not replayed
  bool settling_ = false, ticking_ = false, slowed_ = false, parting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// ---- beginning

Result<void> CoordinatorServer::Impl::begin(FileSystem& files, const MakeOperator& make_operator) {
  const std::string address_path = (options_.directory / kAddressFile).string();
  const auto former = read_address_file(address_path);
  Ledger::Options ledger;
  ledger.path = (options_.directory / kCoordinatorJournal).string();
  ledger.durability = options_.durability;
  const Ledger::Readers readers{
      [this](const json& state) -> Result<void> {
        TRY(coordinator_.load(state));
        return buffers_.load(state.contains("buffers") ? state["buffers"] : json::object());
      },
      [this](const json& record) { return replay(record); }};
  ledger_ = TRY(Ledger::open(
      files, ledger, readers,
      [this, alive = std::weak_ptr(alive_)] {  // from a helper thread
        boost::asio::post(io_, [this, alive] {
          if (!alive.expired()) settle();
        });
      },
      log_));
  ListenerOptions listening;
  listening.address = options_.listen;
  // Those who were there before know the former one.
  listening.token = ledger_->had_records() && former ? former->token : options_.token;
  listening.connection.ping = options_.ping;
  listening.connection.silence = options_.silence;
  listener_ = TRY(Listener::listen(
      io_, listening,
      [this](std::unique_ptr<Connection> connection, const json& message) {
        hello(std::move(connection), message);
      },
      log_));
  live_ = true;
  coordinator_.begin(now());
  TRY(write_address_file(address_path, {address(), listening.token}));
  log_.info("coordinator {} listens on {}", coordinator_.board().epoch(), listens_on());
  if (make_operator) operator_ = make_operator(*this);
  settle();
  return {};
}

Result<void> CoordinatorServer::Impl::replay(const json& record) {
  if (record.is_object() && record.contains("buffer")) return buffers_.replay(record);
  const Record edge = TRY(record_from_json(record));
  return coordinator_.replay(edge);
}

json CoordinatorServer::Impl::save() const {
  json state = coordinator_.save();
  state["buffers"] = buffers_.save();
  return state;
}

// ---- who comes and goes

void CoordinatorServer::Impl::hello(std::unique_ptr<Connection> connection, const json& message) {
  auto session = meet(message);
  if (!session) {
    log_.info("{} is refused: {}", connection->peer(), session.error().message);
    return connection->refuse(session.error().message);
  }
  if (session->role == Role::data && task_of(*session) == nullptr)
    return fence(*session, *connection);
  const SessionId id = next_session_++;
  if (session->role != Role::data)
    log_.info("{} {} is here, from {}", session->role == Role::worker ? "worker" : "client",
              session->name, connection->peer());
  session->connection = std::move(connection);
  const Role role = session->role;
  const std::string name = session->name;
  sessions_[id] = *std::move(session);
  if (role == Role::worker) take_place(workers_, name, id);
  if (role == Role::client) take_place(clients_, name, id);
  start(id);
  if (role == Role::client) coordinator_.client_joined(name);
  settle_soon();
}

// What it causes waits behind the welcome.
Result<Session> CoordinatorServer::Impl::meet(const json& message) {
  const std::string role = TRY(text_at(message, "role"));
  Session session;
  if (role == "worker") {
    const WorkerHello hello = TRY(parse_worker_hello(message));
    TRY(coordinator_.worker_joined(hello, now()));
    unseen_ = true;
    session.name = hello.id;
  } else if (role == "client") {
    session.role = Role::client;
    session.name = TRY(text_at(message, "client"));
    if (session.name.empty()) return fail("a client needs a name");
  } else if (role == "data") {
    session.role = Role::data;
    session.name = TRY(text_at(message, "task"));
    const std::int64_t attempt = TRY(integer_at(message, "attempt"));
    session.attempt = static_cast<int>(attempt);
    if (session.attempt != attempt) return fail("attempt: there is none of this number");
  } else {
    return fail(fmt::format("role: worker, client or data is wanted, not \"{}\"", role));
  }
  return session;
}

// Of a program whose attempt runs; else nullptr.
const Task* CoordinatorServer::Impl::task_of(const Session& program) const {
  const auto& tasks = coordinator_.board().tasks();
  const auto found = tasks.find(program.name);
  if (found == tasks.end()) return nullptr;
  const Task& task = found->second;
  const bool runs = task.state != TaskState::queued && !is_end(task.state);
  return runs && task.attempt == program.attempt ? &task : nullptr;
}

// It may be the former attempt of a task that was lost, and does not know it.
void CoordinatorServer::Impl::fence(const Session& program, Connection& connection) {
  connection.refuse(
      fmt::format("attempt {} of task {} does not run", program.attempt, program.name), true,
      "fenced");
}

// Whoever waits in a former attempt is not to take what is for the next one.
void CoordinatorServer::Impl::fence_former(const std::string& task) {
  for (const auto& [id, session] : sessions_) {
    if (session.role != Role::data || session.name != task || task_of(session) != nullptr) continue;
    buffers_.gone(id);
    held_back_.add(ledger_->position(), [this, id] {
      if (const auto found = sessions_.find(id); found != sessions_.end())
        fence(found->second, *found->second.connection);
    });
  }
}

// The newest connection of a name counts.
void CoordinatorServer::Impl::take_place(Names& names, const std::string& name, SessionId id) {
  if (const auto former = names.find(name); former != names.end()) {
    sessions_.at(former->second).connection->drop("another connection has taken its place");
    sessions_.erase(former->second);
  }
  names[name] = id;
}

void CoordinatorServer::Impl::start(SessionId id) {
  Connection& connection = *sessions_.at(id).connection;
  send(connection, {{"type", "welcome"},
                    {"epoch", coordinator_.board().epoch()},
                    {"ping", std::chrono::duration<double>(options_.ping).count()},
                    {"silence", std::chrono::duration<double>(options_.silence).count()}});
  connection.start({[this, id](const json& message) { heard(id, message); },
                    [this, id](const std::string& reason) { closed(id, reason); },
                    [this] { settle_soon(); }});
  if (slowed_) connection.pause_reading();
}

void CoordinatorServer::Impl::closed(SessionId id, const std::string& reason) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const Session session = std::move(found->second);
  sessions_.erase(found);
  if (session.role == Role::worker) {
    log_.info("worker {} is gone: {}", session.name, reason);
    workers_.erase(session.name);
    coordinator_.worker_lost(session.name, now());
    unseen_ = true;
  } else if (session.role == Role::client) {
    log_.info("client {} is gone: {}", session.name, reason);
    clients_.erase(session.name);
  } else {
    buffers_.gone(id);
  }
  settle_soon();
}

// ---- what they say

void CoordinatorServer::Impl::heard(SessionId id, const json& message) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const Session& session = found->second;
  if (session.role == Role::data && task_of(session) == nullptr)
    return fence(session, *session.connection);
  if (const auto done = hear(id, found->second, message); !done) {
    log_.warning("{} {} is cut off: {}", found->second.name, found->second.connection->peer(),
                 done.error().message);
    found->second.connection->refuse(done.error().message);
  }
  settle_soon();
}

Result<void> CoordinatorServer::Impl::hear(SessionId id, const Session& session,
                                           const json& message) {
  if (session.role == Role::worker) {
    unseen_ |= message.value("type", json()) == "drain";
    return hear_worker(coordinator_, session.name, message, now());
  }
  if (session.role == Role::client) {
    json answer = TRY(hear_client(coordinator_, session.name, message, check_buffers, now()));
    if (answer.is_null()) return {};
    if (answer["type"] == "status") answer["buffers"] = buffers_.status();
    say(id, std::move(answer));
    return {};
  }
  return buffers_.hear(id, *task_of(session), message);
}

// ---- what is said to them

void CoordinatorServer::Impl::to(const Names& names, const std::string& name, json message) {
  held_back_.add(ledger_->position(), [this, &names, name, message = std::move(message)] {
    if (const auto found = names.find(name); found != names.end())
      send(*sessions_.at(found->second).connection, message);
  });
}

void CoordinatorServer::Impl::say(SessionId id, json message) {
  held_back_.add(ledger_->position(), [this, id, message = std::move(message)] {
    if (const auto found = sessions_.find(id); found != sessions_.end())
      send(*found->second.connection, message);
  });
}

// What it sees is durable, and no earlier than that: one view at a time, for all that happened.
void CoordinatorServer::Impl::show_operator() {
  if (!operator_ || !unseen_ || showing_) return;
  unseen_ = false;
  showing_ = true;
  held_back_.add(ledger_->position(), [this, view = view_of(coordinator_)] {
    showing_ = false;
    operator_->look(view, now());
    settle_soon();
  });
}

bool CoordinatorServer::Impl::operator_needs_time() const {
  return operator_ && (unseen_ || showing_ || operator_->busy());
}

void CoordinatorServer::Impl::await_farewell(int more) {
  patience_.expires_after(kFarewell);
  patience_.async_wait([this, more](const boost::system::error_code& error) {
    if (error || !on_finished_) return;
    if (more > 0 && operator_needs_time()) return await_farewell(more - 1);
    std::exchange(on_finished_, nullptr)();
  });
}

// Workers that hear it go; those that do not have nothing to do here any more either.
void CoordinatorServer::Impl::say_goodbye() {
  if (!std::exchange(parting_, true)) {
    for (const auto& [name, id] : workers_) send(*sessions_.at(id).connection, {{"type", "drain"}});
    await_farewell(2);
  }
  if (workers_.empty() && !operator_needs_time())
    boost::asio::post(io_, std::exchange(on_finished_, nullptr));
}

// After all that one turn of the event loop brings: one write for all.
void CoordinatorServer::Impl::settle_soon() {
  if (std::exchange(settling_, true)) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) settle();
  });
}

void CoordinatorServer::Impl::settle() {
  settling_ = false;
  show_operator();
  ledger_->poll();
  ledger_->snapshot_if_due([this] { return save(); });
  ledger_->flush();
  held_back_.release(ledger_->durable());
  slow_down();
  await_deadline();
  if (ledger_->needs_tick()) await_second();
  if (coordinator_.finished() && on_finished_) say_goodbye();
}

// While the disk does not take what was said, or a client not what is for it, nobody is listened to
// who would say more. A client that does not read may speak: its acknowledgements make room.
void CoordinatorServer::Impl::slow_down() {
  const bool disk = ledger_->full() || held_back_.size() > kMostHeldBack;
  const bool slow = disk || std::ranges::any_of(clients_, [&](const auto& client) {
                      return sessions_.at(client.second).connection->congested();
                    });
  if (slow == slowed_) return;
  slowed_ = slow;
  for (const auto& [id, session] : sessions_) {
    if (session.role == Role::client && !disk) continue;
    slow ? session.connection->pause_reading() : session.connection->resume_reading();
  }
}

// ---- time

void CoordinatorServer::Impl::await_deadline() {
  auto next = coordinator_.next_time();
  if (const auto also = operator_ ? operator_->next_time() : std::nullopt)
    next = std::min(next.value_or(*also), *also);
  if (next == armed_) return;
  armed_ = next;
  alarm_.cancel();
  if (!next) return;
  constexpr double kLongest = 86'400;  // limits may be centuries, which are too many nanoseconds
  alarm_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(*next - now(), 0.0, kLongest))));
  alarm_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_.reset();
    coordinator_.tick(now());
    if (operator_) operator_->tick(now());
    settle();
  });
}

void CoordinatorServer::Impl::await_second() {
  if (std::exchange(ticking_, true)) return;
  second_.expires_after(kTick);
  second_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    ticking_ = false;
    const bool trouble = !ledger_->trouble().empty();
    ledger_->tick();
    if (!ledger_->trouble().empty() && !trouble)
      log_.error("nothing new is remembered, and nothing begins: {}", ledger_->trouble());
    settle();
  });
}

// ---- the class that others see

CoordinatorServer::CoordinatorServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoordinatorServer::~CoordinatorServer() = default;

Result<std::unique_ptr<CoordinatorServer>> CoordinatorServer::create(
    boost::asio::io_context& io, FileSystem& files, const Clock& clock, ServerOptions options,
    std::unique_ptr<Commander> commander, Log log, std::function<void()> on_finished,
    const MakeOperator& make_operator) {
  auto impl = std::make_unique<Impl>(io, clock, std::move(options), std::move(commander),
                                     std::move(log), std::move(on_finished));
  TRY(impl->begin(files, make_operator));
  return std::unique_ptr<CoordinatorServer>(new CoordinatorServer(std::move(impl)));
}

const std::string& CoordinatorServer::address() const { return impl_->listens_on(); }
bool CoordinatorServer::idle() const { return impl_->idle(); }
bool CoordinatorServer::went_on() const { return impl_->went_on(); }
const Coordinator& CoordinatorServer::coordinator() const { return impl_->coordinator(); }
void CoordinatorServer::finish(const std::string& cause) { impl_->finish(cause); }
Result<void> CoordinatorServer::close() { return impl_->close(); }

}  // namespace attune
