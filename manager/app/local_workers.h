#pragma once
// Keeps the workers of a coordinator on this machine running: local-0, local-1, ... Each is a
// process that outlives the coordinator. A worker that dies or cannot be started is started again,
// and resumes its trials. If a worker of an earlier coordinator still runs, it holds its lock, so
// that the new process of that name ends, and is started again later. A worker that runs nothing
// ends when it has not reached a coordinator for ten minutes.
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
  double cpu = 0;                        // of each worker; 0: all cores of the machine
  std::vector<std::string> environment;  // that the workers inherit
};

class LocalWorkers {
 public:
  LocalWorkers(boost::asio::io_context& io, LocalWorkersOptions options, Log log);
  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers();  // the workers run on

  void begin();
  void stop_starting();  // workers that end from now on are not started again
  void dismiss();        // the same, and sends SIGTERM: each worker ends when its trials have

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
