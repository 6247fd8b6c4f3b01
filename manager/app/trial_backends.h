#pragma once
// From an experiment to what runs its trials: on this machine, or on the workers of a coordinator.
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
  std::function<void(const std::string& text)> say;  // to the user, one line
};

// A backend and what belongs to it.
struct ChosenBackend {
  std::unique_ptr<TrialBackend> backend;
  // Why nobody can tell its trials to end; empty: one can. May be empty itself.
  std::function<std::string()> unreachable = {};
  // All trials have ended; may run the io_context, `hurry`: no longer than it must. May be empty.
  std::function<void(bool hurry)> at_end = {};
};

// Whether what the experiment wants of this machine is here, without starting anything: the
// programs of Slurm, the folder of another coordinator.
Result<void> check_backend(const Experiment& experiment,
                           const std::vector<std::string>& environment);

// set_path() was called. May run the io_context for some seconds, to see whether the coordinator is
// there. Errors: what LocalBackend::create says; a coordinator of its own that does not start;
// another one that will not have us.
Result<ChosenBackend> make_backend(boost::asio::io_context& io, const BackendSetup& setup,
                                   std::function<void()> wake);

// What a worker gives to its trials.
struct WorkerMachine {
  std::filesystem::path shim;
  std::vector<std::string> environment;
  std::shared_ptr<GpuRotation> gpus;
};
// What a worker makes of a file of write_worker_file(). An error: this machine cannot, and why.
Result<std::unique_ptr<TrialBackend>> backend_of_worker_file(boost::asio::io_context& io,
                                                             const std::filesystem::path& file,
                                                             const WorkerMachine& machine,
                                                             std::function<void()> wake);

}  // namespace attune
