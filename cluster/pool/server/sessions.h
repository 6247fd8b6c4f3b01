#pragma once
// The open connections: workers and clients, which are found by their names; and those who only
// look, clients that only give orders, and programs of tasks. All calls come from one thread.
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

struct PoolSession {
  Role role = Role::worker;
  std::string name;  // of the worker, client or viewer; for a program: its task
  // Client: it has shown its key. Otherwise it has no tasks, and only gives orders.
  bool bound = true;
  int attempt = 0;    // of the task
  LeaseId lease = 0;  // of the program's attempt, once it has shown the key
  std::unique_ptr<Connection> connection;
};

class Sessions {
 public:
  using Id = std::uint64_t;
  explicit Sessions(Log log) : log_(std::move(log)) {}

  // A new connection of a worker, or of a client that has shown its key, replaces the former one of
  // that name, which is dropped.
  Id add(PoolSession session);
  void start(Id id, Connection::Handlers handlers);  // begins to read from it
  std::optional<PoolSession> take(Id id);            // removes it: its connection has closed
  PoolSession* find(Id id);
  bool none_are(Role role) const { return names(role).empty(); }
  void for_each(const std::function<void(Id id, PoolSession& session)>& visit);

  // Does nothing if the session does not exist. If the message is too large for a frame, cuts the
  // session off and says why.
  void say(Id id, const json& message);
  void say(Role role, const std::string& name, const json& message);
  void say_to_all(Role role, const json& message);

  // While `disk` is true no connection is read: the disk does not keep up with what was said.
  void slow_down(bool disk);
  // The client is connected, and reads more slowly than messages come for it.
  bool is_behind(const std::string& client) const;

 private:
  using Names = std::map<std::string, Id>;

  static bool is_found_by_name(const PoolSession& session) {
    return session.role == Role::worker || (session.role == Role::client && session.bound);
  }
  const Names& names(Role role) const { return role == Role::worker ? workers_ : clients_; }
  Names& names(Role role) { return role == Role::worker ? workers_ : clients_; }

  const Log log_;
  std::map<Id, PoolSession> sessions_;
  Names workers_, clients_;
  Id next_ = 1;
  bool disk_ = false;
};

}  // namespace attune
