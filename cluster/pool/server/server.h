#pragma once
// The coordinator as a server: connections in, the state machine and the buffers in the middle, the
// journal below. What is said to others leaves when the records before it are durable.
//
// One thread, that of `io`.
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

// What a coordinator keeps in its folder, beside a file for each role (cluster/pool/roles.h).
inline constexpr char kCoordinatorJournal[] = "coordinator.journal";

struct ServerOptions {
  std::filesystem::path directory;     // made when missing, for its user alone
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0: a free one
  std::string advertise;               // what others dial, when that is another HOST:PORT
  // Of the commander and of all draws from buffers. It is in the journal: an earlier coordinator's
  // stays in force, and to ask for another one is an error.
  std::optional<std::uint64_t> seed;
  std::uint64_t entropy = 0;  // the seed of a new coordinator for which none is asked for
  Durability durability = Durability::each_second;
  CoordinatorOptions coordinator;
  // Of the commander's tasks, for people: what an evaluation has found, what has failed. May be
  // empty. `record` is why.
  std::function<void(const std::string& text, const Record& record)> on_task_event;
  std::chrono::milliseconds ping{2'000}, silence{10'000};  // of connections
  std::chrono::milliseconds look{5'000};  // after so long the file of the address is looked for
};

// `seed`: of all lives of the coordinator. An error: it does not begin.
using MakeCommander = std::function<Result<std::unique_ptr<Commander>>(std::uint64_t seed)>;

struct ServerParts {
  MakeTaskBuffers make_buffers;  // always needed
  MakeCommander make_commander;  // empty: there are only the tasks of clients
  MakeOperator make_operator;    // empty: workers come by themselves
};

class CoordinatorServer {
 public:
  // `on_finished`: nothing new begins, and all has ended; called once, by the event loop. Errors
  // name the file or the address. `files` and `clock` live longer.
  static Result<std::unique_ptr<CoordinatorServer>> create(boost::asio::io_context& io,
                                                           FileSystem& files, const Clock& clock,
                                                           ServerOptions options,
                                                           const ServerParts& parts, Log log,
                                                           std::function<void()> on_finished);
  CoordinatorServer(const CoordinatorServer&) = delete;
  CoordinatorServer& operator=(const CoordinatorServer&) = delete;
  ~CoordinatorServer();  // cuts all connections; tasks run on

  const std::string& address() const;  // HOST:PORT
  bool went_on() const;                // an earlier one had left a journal
  const Coordinator& coordinator() const;
  bool idle() const;                      // no client is here, and no task that has not ended
  void finish(const std::string& cause);  // nothing new begins, what runs is stopped
  // All that was said is on the disk. For the end.
  Result<void> close();

 private:
  class Impl;
  explicit CoordinatorServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune
