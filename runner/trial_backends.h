#pragma once
// From an experiment to what runs its trials: on this machine, or on the workers of a coordinator.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/local_options.h"
#include "backends/trial_backend.h"
#include "base/result.h"
#include "runner/experiment.h"

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
  std::function<void()> at_end;  // all trials have ended; may run the io_context. May be empty
};

LocalBackendOptions local_backend_options(const BackendSetup& setup);

// set_path() was called. Errors: what LocalBackend::create says; a directory or program of its own
// coordinator that cannot be used.
Result<ChosenBackend> make_backend(boost::asio::io_context& io, const BackendSetup& setup,
                                   std::function<void()> wake);

// What workers need to know of an experiment: a file in its directory, which they share with the
// manager. Its name tells its content, so that what changes is another file.
Result<std::filesystem::path> write_worker_file(const BackendSetup& setup);
// What a worker makes of it. An error: this machine cannot, and why.
Result<std::unique_ptr<TrialBackend>> backend_of_worker_file(
    boost::asio::io_context& io, const std::filesystem::path& file,
    const std::filesystem::path& shim, const std::vector<std::string>& environment,
    std::function<void()> wake);

}  // namespace attune
