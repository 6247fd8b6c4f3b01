#pragma once
// Trials as processes of this machine, by NNI's trial file protocol: an unmodified NNI trial runs.
//
// Each trial has a folder <directory>/<job id>/: parameter.cfg (what the tuner proposed), stdout,
// stderr, .nni/metrics (what the trial reports). The command runs as `/bin/bash -c COMMAND` in the
// code directory, in a process group of its own, with stdin from /dev/null.
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/file_watch.h"
#include "backends/process.h"
#include "backends/trial_backend.h"

namespace attune {

struct LocalBackendOptions {
  std::string experiment_id;
  std::filesystem::path directory;             // absolute; made when missing
  std::string command;                         // a shell command
  std::filesystem::path code_directory;        // absolute; where the command runs
  std::vector<std::string> environment;        // "NAME=value": what trials inherit
  bool hide_gpus = false;                      // trialGpuNumber: 0
  std::chrono::milliseconds stop_grace{5000};  // between SIGTERM and SIGKILL
};

class LocalBackend final : public TrialBackend {
 public:
  // `wake` as in TrialBackend, on `io`, whose thread owns the backend.
  static Result<std::unique_ptr<LocalBackend>> create(boost::asio::io_context& io,
                                                      LocalBackendOptions options,
                                                      std::function<void()> wake);
  ~LocalBackend() override;  // kills what still runs

  Result<void> start(const TrialStart& trial) override;
  void stop(const std::string& job_id) override;
  void stop_all() override;
  void kill_all() override;
  std::vector<TrialEvent> fetch_status_results() override;
  std::vector<std::string> busy_trial_ids() const override;
  std::filesystem::path stdout_path(const std::string& job_id) const override;
  std::filesystem::path stderr_path(const std::string& job_id) const override;

 private:
  struct Trial;

  LocalBackend(boost::asio::io_context& io, LocalBackendOptions options,
               std::function<void()> wake);
  std::filesystem::path folder(const std::string& job_id) const {
    return options_.directory / job_id;
  }
  Result<void> make_files(const TrialStart& start, Trial& trial);
  ProcessSpec process_spec(const TrialStart& start, const Trial& trial) const;
  void changed(int watch_key);
  void wake();
  void read_metrics(const std::string& job_id, Trial& trial, std::vector<TrialEvent>& events);

  boost::asio::io_context& io_;
  LocalBackendOptions options_;
  std::string shell_;
  std::function<void()> wake_;
  bool wake_posted_ = false;
  std::unique_ptr<FileWatch> watch_;
  std::map<std::int64_t, std::unique_ptr<Trial>> trials_;       // by sequence: the starting order
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
