#pragma once
// Makes the backend that runs the trials of an experiment: on this machine, or on the workers of a
// coordinator.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/local/gpu_rotation.h"
#include "backends/trial_backend.h"
#include "base/result.h"
#include "manager/experiment/experiment.h"

namespace attune {

struct BackendSetup {
  const Experiment& experiment;
  std::string experiment_id;
  std::filesystem::path directory;       // of the experiment
  std::filesystem::path program;         // attune itself
  std::filesystem::path shim;            // attune-shim
  std::vector<std::string> environment;  // what trials inherit on this machine
  std::uint64_t entropy = 0;
  std::function<void(const std::string& text)> say;  // shows the user one line
};

struct ChosenBackend {
  std::unique_ptr<TrialBackend> backend;
  // Returns why the trials cannot be told to end, or an empty text if they can. No function: they
  // always can.
  std::function<std::string()> unreachable = {};
  // Call it when all trials have ended: says goodbye to the coordinator, for which it may run the
  // io_context. `hurry`: do not wait for a coordinator that is not connected. May be no function.
  std::function<void(bool hurry)> at_end = {};
};

// Checks without starting anything that this machine has what the experiment needs: the programs of
// Slurm, or the folder of another coordinator.
Result<void> check_backend(const Experiment& experiment,
                           const std::vector<std::string>& environment);

// Makes the backend, and calls its set_path(). May run the io_context for up to 20 seconds, to wait
// for the coordinator. Errors: those of LocalBackend::create; the experiment's own coordinator does
// not start; another coordinator refuses the experiment.
Result<ChosenBackend> make_backend(boost::asio::io_context& io, const BackendSetup& setup,
                                   std::function<void()> wake);

// What a worker needs to run trials of any experiment.
struct WorkerMachine {
  std::filesystem::path shim;
  std::vector<std::string> environment;
  std::shared_ptr<GpuRotation> gpus;
};
// Makes the backend of a worker from a file of write_worker_file(). Error: why this machine cannot
// run these trials.
Result<std::unique_ptr<TrialBackend>> backend_of_worker_file(boost::asio::io_context& io,
                                                             const std::filesystem::path& file,
                                                             const WorkerMachine& machine,
                                                             std::function<void()> wake);

}  // namespace attune
