// Connections that come and go, and what their messages do.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/names.h"
#include "cluster/pool/name_key.h"
#include "cluster/pool/server/server_impl.h"

namespace attune {
namespace {

// The longest message whose content fits into another message, which has 1 MiB for the rest.
constexpr std::size_t kMostPassedOn = JsonFrameLimits{}.bytes - (std::size_t{1} << 20);

// Encoded by us a message may be longer than it came. No byte becomes more than six, so a short one
// need not be encoded for this check.
Result<void> check_length(const json& message, const char* what) {
  if (memory_of(message) <= kMostPassedOn / 6) return {};
  const std::size_t bytes = dump_json(message).size();
  if (bytes <= kMostPassedOn) return {};
  return fail(fmt::format("{}: {} bytes are too many to be passed on, {} are not", what, bytes,
                          kMostPassedOn));
}

// Refuses what a viewer, or a client without a key, may not send. From a client with a key every
// type is accepted here; hear_client() refuses those that it does not know.
Result<void> check_right(const PoolSession& session, const json& type) {
  constexpr std::array<std::string_view, 3> kOfOrders = {"status", "end_task", "drain_worker"};
  if (session.role == Role::view && type != "status")
    return fail(
        fmt::format("the role view may ask for the status only, and does not say {}: for "
                    "orders the secret of clients is needed",
                    dump_json(type)));
  const bool is_order =
      std::ranges::any_of(kOfOrders, [&](std::string_view order) { return type == order; });
  if (!session.bound && !is_order)
    return fail(fmt::format("a client that has said no key has no tasks, and does not say {}",
                            dump_json(type)));
  return {};
}

}  // namespace

// ---- who comes and goes

void CoordinatorServer::Impl::hello(std::unique_ptr<Connection> connection, const Identity& who,
                                    const json& message) {
  auto session = meet(who, message);
  if (!session) {
    log_.info("{} is refused: {}", connection->peer(), session.error().message);
    // Final for clients only: the name of a worker may become free, that of a client never.
    return connection->refuse(session.error().message, who.role == kClientRole);
  }
  if (session->role == Role::data && task_of(*session) == nullptr)
    return fence(*session, *connection);
  if (session->role != Role::data)
    log_.info("{} {} is here, from {}", who.role, session->name, connection->peer());
  session->connection = std::move(connection);
  start(sessions_.add(*std::move(session)));
  settle_soon();
}

// Checks a hello, and tells the coordinator which worker or client has come. The messages that this
// causes are held back (when_durable), so the welcome goes out first.
Result<PoolSession> CoordinatorServer::Impl::meet(const Identity& who, const json& message) {
  PoolSession session;
  session.name = who.name;
  TRY(check_name("name", who.name));
  if (who.role == kWorkerRole) {
    const WorkerHello hello = TRY(parse_worker_hello(message));
    if (hello.id != who.name) return fail("worker: it is not the name that was said before");
    TRY(coordinator_.worker_joined(hello, now()));
    seat_.something_happened();
  } else if (who.role == kClientRole) {
    session.role = Role::client;
    session.bound = message.contains("key");
    if (session.bound)
      TRY(coordinator_.client_joined(who.name, TRY(text_at(message, "key")), now()));
  } else if (who.role == kViewRole) {
    session.role = Role::view;
  } else if (who.role == kDataRole) {
    session.role = Role::data;
    const std::int64_t attempt = TRY(integer_at(message, "attempt"));
    session.attempt = static_cast<int>(attempt);
    if (session.attempt != attempt) return fail("attempt: there is none of this number");
    TRY(bind(session, TRY(text_at(message, "key"))));
  } else {
    return fail(fmt::format("role: worker, client, view or data is wanted, not \"{}\"", who.role));
  }
  return session;
}

// All programs know the secret of their role, and ids of other tasks are easy to guess. So a
// program must show the key of its attempt, which the worker has given to that attempt only.
Result<void> CoordinatorServer::Impl::bind(PoolSession& program, const std::string& key) const {
  const Task* task = task_of(program);
  if (task == nullptr) return {};  // hello() fences it
  if (!same_key(program_key(coordinator_.board().secret(), task->spec.id, task->lease), key))
    return fail(fmt::format("key: it is not the one of attempt {} of task {}", program.attempt,
                            program.name));
  program.lease = task->lease;
  return {};
}

// The task of a program, if the program's attempt is the one that runs; else null.
const Task* CoordinatorServer::Impl::task_of(const PoolSession& program) const {
  const auto& tasks = coordinator_.board().tasks();
  const auto found = tasks.find(program.name);
  if (found == tasks.end()) return nullptr;
  const Task& task = found->second;
  const bool runs = task.state != TaskState::queued && !is_end(task.state);
  const bool same = program.lease == 0 || program.lease == task.lease;
  return runs && same && task.attempt == program.attempt ? &task : nullptr;
}

// The program may belong to a lost attempt of the task, and not know that.
void CoordinatorServer::Impl::fence(const PoolSession& program, Connection& connection) {
  connection.refuse(
      fmt::format("attempt {} of task {} does not run", program.attempt, program.name), true,
      "fenced");
}

// Cuts off programs of former attempts: one that waits for a sample must not take what is meant for
// the next attempt.
void CoordinatorServer::Impl::fence_former(const std::string& task) {
  sessions_.for_each([&](SessionId id, const PoolSession& session) {
    if (session.role != Role::data || session.name != task || task_of(session) != nullptr) return;
    buffers_->gone(id);
    when_durable([this, id] {
      if (const PoolSession* former = sessions_.find(id)) fence(*former, *former->connection);
    });
  });
}

void CoordinatorServer::Impl::start(SessionId id) {
  sessions_.say(id, {{"type", "welcome"},
                     {"epoch", coordinator_.board().epoch()},
                     {"ping", std::chrono::duration<double>(options_.ping).count()},
                     {"silence", std::chrono::duration<double>(options_.silence).count()}});
  sessions_.start(id, {[this, id](const json& message) { heard(id, message); },
                       [this, id](const std::string& reason) { closed(id, reason); },
                       [this] { settle_soon(); }});
}

void CoordinatorServer::Impl::closed(SessionId id, const std::string& reason) {
  const auto session = sessions_.take(id);
  if (!session) return;
  if (session->role == Role::worker) {
    log_.info("worker {} is gone: {}", session->name, reason);
    coordinator_.worker_lost(session->name, now());
    seat_.something_happened();
  } else if (session->role == Role::client) {
    log_.info("client {} is gone: {}", session->name, reason);
  } else {
    buffers_->gone(id);
  }
  settle_soon();
}

// ---- what they say

void CoordinatorServer::Impl::heard(SessionId id, const json& message) {
  const PoolSession* session = sessions_.find(id);
  if (session == nullptr) return;
  if (session->role == Role::data && task_of(*session) == nullptr)
    return fence(*session, *session->connection);
  if (const auto done = hear(id, *session, message); !done) {
    log_.warning("{} {} is cut off: {}", session->name, session->connection->peer(),
                 done.error().message);
    session->connection->refuse(done.error().message);
  }
  settle_soon();
}

Result<void> CoordinatorServer::Impl::check_task(const TaskSpec& task) const {
  TRY(check_length(to_json(task), "task"));
  return buffers_->check(task);
}

Result<void> CoordinatorServer::Impl::hear(SessionId id, const PoolSession& session,
                                           const json& message) {
  const json type = message.value("type", json());
  if (session.role == Role::worker) {
    if (type == "drain") seat_.something_happened();
    if (type == "info") TRY(check_length(message, "info"));
    return hear_worker(coordinator_, session.name, message, now());
  }
  if (session.role == Role::data) return buffers_->hear(id, *task_of(session), message);
  TRY(check_right(session, type));
  if (type == "status" || session.role == Role::client) {
    if (type == "tell") TRY(check_length(message, "tell"));
    if (type == "drain_worker") seat_.something_happened();
    const auto check = [&](const TaskSpec& task) { return check_task(task); };
    json answer = TRY(hear_client(coordinator_, session.name, message, check, now()));
    if (answer.is_null()) return {};
    if (answer["type"] == "status") answer["buffers"] = buffers_->status();
    say(id, std::move(answer));
  }
  return {};
}

}  // namespace attune
