#include "cluster/pool/server/sessions.h"

#include <utility>

namespace attune {

Sessions::Id Sessions::add(PoolSession session) {
  const Id id = next_++;
  if (is_found_by_name(session)) {
    const auto [at, is_new] = names(session.role).try_emplace(session.name, id);
    if (!is_new) {
      sessions_.at(at->second).connection->drop("another connection has taken its place");
      sessions_.erase(at->second);
      at->second = id;
    }
  }
  sessions_.emplace(id, std::move(session));
  return id;
}

void Sessions::start(Id id, Connection::Handlers handlers) {
  const PoolSession& session = sessions_.at(id);
  session.connection->start(std::move(handlers));
  // A new connection must wait for the disk, too, like those that slow_down() has paused.
  if (disk_) session.connection->pause_reading();
}

std::optional<PoolSession> Sessions::take(Id id) {
  auto node = sessions_.extract(id);
  if (node.empty()) return std::nullopt;
  PoolSession session = std::move(node.mapped());
  if (is_found_by_name(session)) names(session.role).erase(session.name);
  return session;
}

PoolSession* Sessions::find(Id id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

void Sessions::for_each(const std::function<void(Id, PoolSession&)>& visit) {
  for (auto& [id, session] : sessions_) visit(id, session);
}

void Sessions::say(Id id, const json& message) {
  PoolSession* session = find(id);
  if (session == nullptr) return;
  const auto sent = session->connection->send(message);
  if (sent) return;
  const std::string why = "what is to be said does not fit into a message: " + sent.error().message;
  log_.error("{} {} is cut off: {}", session->name, session->connection->peer(), why);
  session->connection->refuse(why);
}

void Sessions::say(Role role, const std::string& name, const json& message) {
  if (const auto found = names(role).find(name); found != names(role).end())
    say(found->second, message);
}

void Sessions::say_to_all(Role role, const json& message) {
  for (const auto& [name, id] : names(role)) say(id, message);
}

void Sessions::slow_down(bool disk) {
  if (std::exchange(disk_, disk) == disk) return;
  for (auto& [id, session] : sessions_)
    disk_ ? session.connection->pause_reading() : session.connection->resume_reading();
}

bool Sessions::is_behind(const std::string& client) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && sessions_.at(found->second).connection->congested();
}

}  // namespace attune
