#pragma once
// Workers on this machine that a coordinator keeps running: local-0, local-1, ... Each is a process
// of its own that outlives the coordinator; one that dies, or could not be started, is started
// again, and resumes its trials. A worker that an earlier coordinator has left is still there: the
// new process finds its lock taken, and ends. One that cannot reach any coordinator, and runs
// nothing, goes.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/result.h"
#include "os/log.h"

namespace attune {

struct LocalWorkersOptions {
  std::filesystem::path program;    // attune
  std::filesystem::path directory;  // of the coordinator
  int count = 0;
  double cpu = 0;  // of each; 0: what the machine has
  std::vector<std::string> environment;
};

class LocalWorkers {
 public:
  LocalWorkers(boost::asio::io_context& io, LocalWorkersOptions options, Log log);
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers();  // they run on

  void begin();
  void stop_starting();  // those that end from now on stay ended
  void dismiss();        // the same, and those that have nothing to do end

 private:
  struct Slot;
  void start(Slot& slot);
  Result<void> try_start(Slot& slot);
  void start_later(Slot& slot);

  boost::asio::io_context& io_;
  const LocalWorkersOptions options_;
  const Log log_;
  bool starting_ = true;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace attune
