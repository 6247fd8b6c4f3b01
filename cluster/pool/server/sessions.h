#pragma once
// Who is connected: workers and clients by their names, and whoever only looks, or gives an order,
// or is the program of a task. One thread.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "cluster/pool/task.h"
#include "os/log.h"
#include "wire/connection.h"

namespace attune {

enum class Role { worker, client, view, data };

struct Session {
  Role role = Role::worker;
  std::string name;   // of the worker, the client or the view; the task of a program
  bool bound = true;  // of a client: the name is its own. Else it has no tasks, and gives orders
  int attempt = 0;    // of the task
  LeaseId lease = 0;  // of the attempt, whose key the program has shown
  std::unique_ptr<Connection> connection;
};

class Sessions {
 public:
  using Id = std::uint64_t;
  explicit Sessions(Log log) : log_(std::move(log)) {}

  // The newest connection of a worker's or client's own name counts: the former one is dropped.
  Id add(Session session);
  void start(Id id, Connection::Handlers handlers);  // to listen to it
  std::optional<Session> take(Id id);                // whose connection has closed
  Session* find(Id id);
  bool none_are(Role role) const { return names(role).empty(); }
  void for_each(const std::function<void(Id id, Session& session)>& visit);

  // Nothing when it is not here. Who cannot be told, because the message is too large for a frame,
  // is cut off, and knows why.
  void say(Id id, const json& message);
  void say(Role role, const std::string& name, const json& message);
  void say_to_all(Role role, const json& message);

  // Nobody is listened to any more while the disk does not take what was said.
  void slow_down(bool disk);
  // A client that is here does not take what is for it as quickly as it comes.
  bool is_behind(const std::string& client) const;

 private:
  using Names = std::map<std::string, Id>;

  static bool is_found_by_name(const Session& session) {
    return session.role == Role::worker || (session.role == Role::client && session.bound);
  }
  const Names& names(Role role) const { return role == Role::worker ? workers_ : clients_; }
  Names& names(Role role) { return role == Role::worker ? workers_ : clients_; }

  const Log log_;
  std::map<Id, Session> sessions_;
  Names workers_, clients_;
  Id next_ = 1;
  bool disk_ = false;
};

}  // namespace attune
