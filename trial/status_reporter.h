#pragma once
// What a tuned function gets to report, to save checkpoints, and to learn the name of its trial.
// After Ray Tune's StatusReporter. The hosts: FunctionRunner (trial/function_runner.h), a process
// under a manager (trial/trial_main.h), Study::minimize (study/study.h).
//
// Used by the thread that runs the function, and by no other at the same time.
#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>

#include "base/json.h"

namespace attune {

// Thrown by StatusReporter when the trial is to end now: it unwinds the function. Code that catches
// everything must let it pass.
class TrialStopped final : public std::exception {
 public:
  const char* what() const noexcept override { return "the trial was stopped"; }
};

class StatusReporter {
 public:
  virtual ~StatusReporter() = default;

  // One intermediate result: a number, or an object of named values of which those that are numbers
  // count. Returns when the host wants to hear more. Throws TrialStopped, and
  // std::invalid_argument when `metrics` is neither a number nor an object.
  virtual void report(const json& metrics) = 0;
  void operator()(const json& metrics) { report(metrics); }

  virtual std::string trial_name() const = 0;
  virtual std::string trial_id() const = 0;
  virtual std::filesystem::path log_directory() const = 0;  // empty: there is none

  // An empty folder for the checkpoint of `step`, which is not negative; made anew when it was
  // there. It counts once set_checkpoint() names it, or something inside of it.
  // Both throw TrialStopped as report() does, and std::runtime_error: when the host keeps no
  // checkpoints (the default), the disk refuses, or the path lies in no checkpoint folder.
  virtual std::filesystem::path make_checkpoint_dir(std::int64_t step);
  virtual void set_checkpoint(const std::filesystem::path& path);

 protected:
  // For hosts. Throws what report() promises for anything but a number or an object.
  static void check_metrics(const json& metrics);
  // For hosts whose checkpoint folders are checkpoint_<step> in one folder. The name of that of
  // `step`, and of the one that `path` is or lies in; throw std::runtime_error as promised above.
  static std::string checkpoint_name(std::int64_t step);
  static std::string checkpoint_name(const std::filesystem::path& path,
                                     const std::filesystem::path& folder);
};

}  // namespace attune
