#pragma once
// The coordinator as a server: it accepts connections, feeds the state machine and the buffers with
// what it hears, and keeps the journal. A message leaves only when the records before it are
// durable.
//
// All calls come from one thread, that of `io`.
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cluster/pool/coordinator.h"
#include "cluster/pool/operator.h"
#include "cluster/pool/task_buffers.h"
#include "os/clock.h"
#include "os/durability.h"
#include "os/file_system.h"
#include "os/log.h"

namespace attune {

// The name of the journal in the coordinator's folder, where the files of the roles are too
// (cluster/pool/roles.h).
inline constexpr char kCoordinatorJournal[] = "coordinator.journal";

struct ServerOptions {
  std::filesystem::path directory;     // made when missing, readable by its user only
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0: a free one
  std::string advertise;               // the HOST:PORT that others dial; empty: that of `listen`
  // The seed of the commander and of all draws from buffers. The journal keeps it, and create()
  // fails if another one is asked for. Absent: the journal's seed, or `entropy` for a new journal.
  std::optional<std::uint64_t> seed;
  std::uint64_t entropy = 0;  // random; used as the seed of a new journal if `seed` is absent
  Durability durability = Durability::each_second;
  CoordinatorOptions coordinator;
  // Hears of the commander's tasks, for people: what an evaluation has found, what has failed, why
  // a task waits. May be empty. `record` is the cause; it is empty for a task that waits.
  std::function<void(const std::string& text, const Record& record)> on_task_event;
  std::chrono::milliseconds ping{2'000}, silence{10'000};  // of connections
  std::chrono::milliseconds look{5'000};  // between looks whether the role files still exist
};

// `seed` is the same after each restart. An error: the coordinator does not start.
using MakeCommander = std::function<Result<std::unique_ptr<Commander>>(std::uint64_t seed)>;

struct ServerParts {
  MakeTaskBuffers make_buffers;  // required
  MakeCommander make_commander;  // empty: only clients submit tasks
  MakeOperator make_operator;    // empty: workers come by themselves
};

class CoordinatorServer {
 public:
  // The event loop calls `on_finished` once, when the coordinator was told to finish, or its
  // commander is done, and all tasks have ended. Errors name the file or the address. `files` and
  // `clock` must live longer.
  static Result<std::unique_ptr<CoordinatorServer>> create(boost::asio::io_context& io,
                                                           FileSystem& files, const Clock& clock,
                                                           ServerOptions options,
                                                           const ServerParts& parts, Log log,
                                                           std::function<void()> on_finished);
  CoordinatorServer(const CoordinatorServer&) = delete;
  CoordinatorServer& operator=(const CoordinatorServer&) = delete;
  ~CoordinatorServer();  // cuts all connections; tasks run on

  const std::string& address() const;  // HOST:PORT
  bool went_on() const;                // it continues the journal of an earlier coordinator
  const Coordinator& coordinator() const;
  // No client that may have tasks is connected, and all tasks have ended.
  bool idle() const;
  void finish(const std::string& cause);  // no new task begins; all are told to stop
  // Before the destructor: closes the journal. Afterwards everything that was said is on the disk.
  Result<void> close();

 private:
  class Impl;
  explicit CoordinatorServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
