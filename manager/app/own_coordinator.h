#pragma once
// The coordinator that an experiment starts for itself, as a process of its own: it outlives a
// manager that is killed, and the next one finds it.
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
  std::filesystem::path directory;  // its own
  PoolSettings settings;
  double worker_cpu = 1;                 // of each worker
  std::optional<SlurmSettings> slurm;    // it gets workers from there
  std::vector<std::string> environment;  // that it and its workers, and so their trials, inherit
};

// The process. Io thread only; it is not ended with this object.
class OwnCoordinatorProcess {
 public:
  // `say`: to the user, a sentence each time it has ended and was not dismissed.
  OwnCoordinatorProcess(boost::asio::io_context& io, OwnCoordinator own, const Rng& rng,
                        std::function<void(const std::string& text)> say);
  OwnCoordinatorProcess(const OwnCoordinatorProcess&) = delete;
  OwnCoordinatorProcess& operator=(const OwnCoordinatorProcess&) = delete;
  ~OwnCoordinatorProcess();

  // Nothing when one runs there. It says its address in its folder a moment later.
  Result<void> start();
  // How the one that was started has ended, with its last words; empty: it runs.
  const std::string& end() const { return end_; }

  // Nobody answers: when it has ended it is started again, after pauses that grow until
  // somebody does.
  void unreachable();
  void reached() { pauses_.reset(); }
  void dismiss() { dismissed_ = true; }  // it is about to be told to end

 private:
  void ended(ExitStatus status);

  boost::asio::io_context& io_;
  const OwnCoordinator own_;
  const std::function<void(const std::string& text)> say_;
  Backoff pauses_;
  boost::asio::steady_timer pause_;
  std::unique_ptr<ChildProcess> process_;  // of this manager; one of an earlier manager is unknown
  std::string end_;
  bool paused_ = false, dismissed_ = false;
};

}  // namespace attune
