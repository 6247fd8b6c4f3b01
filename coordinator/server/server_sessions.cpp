// Who comes, what they say, and who goes.
#include <fmt/format.h>

#include "coordinator/fields.h"
#include "coordinator/server/server_impl.h"

namespace attune {
namespace {

// What is passed on stands in another message then.
constexpr std::size_t kMostPassedOn = JsonFrameLimits{}.bytes - (std::size_t{1} << 20);

// Written as we do it may be longer than what has come. No byte becomes more than six.
Result<void> check_length(const json& message, const char* what) {
  if (memory_of(message) <= kMostPassedOn / 6) return {};
  const std::size_t bytes = dump_json(message).size();
  if (bytes <= kMostPassedOn) return {};
  return fail(fmt::format("{}: {} bytes are too many to be passed on, {} are not", what, bytes,
                          kMostPassedOn));
}

}  // namespace

// ---- who comes and goes

void CoordinatorServer::Impl::hello(std::unique_ptr<Connection> connection, const Identity& peer,
                                    const json& message) {
  auto session = meet(peer, message);
  if (!session) {
    log_.info("{} is refused: {}", connection->peer(), session.error().message);
    return connection->refuse(session.error().message);
  }
  if (session->role == Role::data && task_of(*session) == nullptr)
    return fence(*session, *connection);
  if (session->role != Role::data)
    log_.info("{} {} is here, from {}", session->role == Role::worker ? "worker" : "client",
              session->name, connection->peer());
  session->connection = std::move(connection);
  const Role role = session->role;
  const std::string name = session->name;
  const SessionId id = sessions_.add(*std::move(session));
  start(id);
  if (role == Role::client) coordinator_.client_joined(name);
  settle_soon();
}

// What it causes waits behind the welcome.
Result<Session> CoordinatorServer::Impl::meet(const Identity& peer, const json& message) {
  const std::string& role = peer.role;
  Session session;
  if (role == "worker") {
    const WorkerHello hello = TRY(parse_worker_hello(message));
    TRY(coordinator_.worker_joined(hello, now()));
    seat_.something_happened();
    session.name = hello.id;
  } else if (role == "client") {
    session.role = Role::client;
    session.name = TRY(name_at(message, "client"));
  } else if (role == "data") {
    session.role = Role::data;
    session.name = TRY(name_at(message, "task"));
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
  sessions_.for_each([&](SessionId id, const Session& session) {
    if (session.role != Role::data || session.name != task || task_of(session) != nullptr) return;
    buffers_.gone(id);
    when_durable([this, id] {
      if (const Session* former = sessions_.find(id)) fence(*former, *former->connection);
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
    buffers_.gone(id);
  }
  settle_soon();
}

// ---- what they say

void CoordinatorServer::Impl::heard(SessionId id, const json& message) {
  const Session* session = sessions_.find(id);
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
  return buffers_.check(task);
}

Result<void> CoordinatorServer::Impl::hear(SessionId id, const Session& session,
                                           const json& message) {
  const json type = message.value("type", json());
  if (session.role == Role::worker) {
    if (type == "drain") seat_.something_happened();
    if (type == "info") TRY(check_length(message, "info"));
    return hear_worker(coordinator_, session.name, message, now());
  }
  if (session.role == Role::client) {
    if (type == "tell") TRY(check_length(message, "tell"));
    if (type == "drain_worker") seat_.something_happened();
    const auto check = [&](const TaskSpec& task) { return check_task(task); };
    json answer = TRY(hear_client(coordinator_, session.name, message, check, now()));
    if (answer.is_null()) return {};
    if (answer["type"] == "status") answer["buffers"] = buffers_.status();
    say(id, std::move(answer));
    return {};
  }
  return buffers_.hear(id, *task_of(session), message);
}

}  // namespace attune
