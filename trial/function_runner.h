#pragma once
// Steps a function that reports, in this process: each train() lets it run to its next report.
// After Ray Tune's FunctionRunner and Trainable (2020), with the unwinding and the reuse of later
// versions.
//
//   FunctionRunner runner([](const json& config, StatusReporter& report) { ... report(loss); ... },
//                         {.config = {{"lr", 0.1}}});
//   while (true) { const Result<json> result = runner.train(); ... }
//
// The function runs in a thread of its own, begun by the first train(), never at the same time as
// the caller reads a result: it waits in report() until the next train(). One thread at a time may
// use a runner. What the function references must live as long as the function runs (below:
// stop()).
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "os/clock.h"
#include "os/log.h"
#include "trial/auto_fields.h"
#include "trial/lock_step.h"
#include "trial/trial_function.h"

namespace attune {

struct FunctionRunnerOptions {
  json config = json::object();
  std::string trial_id = "default", trial_name = "default";
  std::filesystem::path log_directory = {};  // for checkpoints; empty: none can be made
  std::string experiment_id = {};            // of the results; empty: a random one
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  Log log = {};
  // How long to wait for a function that is to end, and neither reports nor returns.
  std::chrono::duration<double> patience = std::chrono::seconds(2);
};

class FunctionRunner {
 public:
  explicit FunctionRunner(TrialFunction function, FunctionRunnerOptions options = {});
  // As stop(); its error goes to the log.
  ~FunctionRunner();
  FunctionRunner(const FunctionRunner&) = delete;
  FunctionRunner& operator=(const FunctionRunner&) = delete;

  // Runs the function to its next report, and returns the result. It contains what was reported (a
  // number is under "_metric"; what the function returned is reported, too), experiment_id, pid,
  // hostname, node_ip, config, and what ResultCounters::complete() adds; also "should_checkpoint":
  // true if the function has named a checkpoint that save() has not seen. When the function has
  // ended, the last report comes once more with "__duplicate__": true, which counts nothing. The
  // function may report "done": true: the caller should stop then.
  //
  // Errors: the function threw (with its message); its thread cannot be made, which may be tried
  // again; the function has ended, and there is nothing left to return; the runner was stopped.
  Result<json> train();

  // Writes the state of the runner into the folder of the newest checkpoint, and returns that
  // folder. Without a checkpoint it makes a null checkpoint, with which a trial begins anew. A
  // checkpoint that was restored from bytes becomes permanent. Only a function that takes a
  // CheckpointDir can continue from one.
  Result<std::filesystem::path> save();
  Result<std::string> save_to_object();  // as bytes

  // Must be called before the first train(), also after reset(): the function begins with this
  // checkpoint. `path` is a folder that save() returned, or lies in it. The folder that bytes are
  // unpacked into lives until stop(), reset() or the next restore that succeeds.
  Result<void> restore(const std::filesystem::path& path);
  Result<void> restore_from_object(std::string_view bytes);

  // Calls `function` with this runner, and returns what it returns. For callers that hold many
  // runners in a container of their own.
  template <class F>
    requires std::invocable<F, FunctionRunner&>
  auto execute(F&& function) -> std::invoke_result_t<F, FunctionRunner&> {
    return std::forward<F>(function)(*this);
  }

  // Ends the function: its report() throws TrialStopped. A function that neither reports nor
  // returns within the patience is left behind: its thread runs on, and keeps alive what it shares,
  // until it reports or the process ends. An error: the function threw, and no train() has returned
  // that; or it was left behind. A second call does nothing.
  Result<void> stop();

  // Ends the function, and begins anew with this configuration, from no checkpoint. Works also
  // after the function has ended, failed, or was stopped. An error: the function would have to be
  // left behind; then the runner is stopped.
  Result<void> reset(json config);

  const json& config() const { return options_.config; }
  const FunctionRunnerOptions& options() const { return options_; }
  std::int64_t iteration() const { return progress_.iteration(); }

 private:
  Result<void> start();
  Result<json> step();
  Result<void> end_function();
  void remove_temporary();

  const TrialFunction function_;
  FunctionRunnerOptions options_;
  const ComputingPlace place_;
  std::shared_ptr<LockStep> lock_step_;
  std::thread thread_;
  ResultCounters progress_;
  json last_result_ = json::object();  // as the function reported it
  std::optional<std::filesystem::path> temporary_;
  std::string experiment_id_;
  bool started_ = false, stopped_ = false;
};

}  // namespace attune
