#pragma once
// The coordinator process that an experiment starts for itself. It outlives a manager that is
// killed, and the next manager uses it.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>  // Boost 1.74's Asio forgets it
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/backoff.h"
#include "base/result.h"
#include "cluster/batch/slurm_settings.h"
#include "manager/experiment/pool_settings.h"
#include "os/process.h"

namespace attune {

struct OwnCoordinator {
  std::filesystem::path program;    // attune
  std::filesystem::path directory;  // of the coordinator
  PoolSettings settings;
  double worker_cpu = 1;                 // cores of each worker
  std::optional<SlurmSettings> slurm;    // nothing: it starts no jobs
  std::vector<std::string> environment;  // for the coordinator, its workers and their trials
};

// Starts the process, and starts it again when it is needed. All calls come from the thread of
// `io`. The process runs on when this object is destroyed.
class OwnCoordinatorProcess {
 public:
  // `say` gets a sentence for the user each time the process ends without dismiss(), or cannot be
  // started again.
  OwnCoordinatorProcess(boost::asio::io_context& io, OwnCoordinator own, const Rng& rng,
                        std::function<void(const std::string& text)> say);
  OwnCoordinatorProcess(const OwnCoordinatorProcess&) = delete;
  OwnCoordinatorProcess& operator=(const OwnCoordinatorProcess&) = delete;
  ~OwnCoordinatorProcess();

  // Starts a coordinator, unless one runs in the folder already. It writes its address into the
  // folder a moment later.
  Result<void> start();
  // How the process that start() made has ended, with its last words; empty: it has not.
  const std::string& end() const { return end_; }

  // The owner cannot connect. Calls start() after a pause, unless the process that start() made
  // still runs. The pauses grow until reached().
  void unreachable();
  void reached() { pauses_.reset(); }    // the owner is connected
  void dismiss() { dismissed_ = true; }  // it will be told to end: do not start it again

 private:
  void ended(ExitStatus status);

  boost::asio::io_context& io_;
  const OwnCoordinator own_;
  const std::function<void(const std::string& text)> say_;
  Backoff pauses_;
  boost::asio::steady_timer pause_;
  std::unique_ptr<ChildProcess> process_;  // null: this manager has not started it
  std::string end_;
  bool paused_ = false, dismissed_ = false;
};

}  // namespace attune
