#pragma once
// Between a function in a thread of its own and the host that steps it. After Ray Tune's
// StatusReporter (2020) with the end event of its later versions: a report blocks the function
// until the host wants the next one, or unwinds it when the host wants no more.
//
// The functions of StatusReporter are the function's, the others the host's; each side is one
// thread. Shared by both through a shared_ptr: a function that outlives its host finds it alive.
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "os/clock.h"
#include "trial/status_reporter.h"
#include "trial/trial_function.h"

namespace attune {

struct FunctionIdentity {
  std::string trial_id, trial_name;
  std::filesystem::path log_directory;  // empty: no checkpoints
};

class LockStep final : public StatusReporter {
 public:
  // A report that is a number is a result with it under this key.
  static constexpr const char* kMetric = "_metric";
  // In the result that says: the function has ended, this repeats the one before.
  static constexpr const char* kDuplicate = "__duplicate__";

  LockStep(FunctionIdentity identity, std::shared_ptr<const Clock> clock);

  // ---- the function's side
  void report(const json& metrics) override;
  std::string trial_name() const override { return identity_.trial_name; }
  std::string trial_id() const override { return identity_.trial_id; }
  std::filesystem::path log_directory() const override { return identity_.log_directory; }
  std::filesystem::path make_checkpoint_dir(std::int64_t step) override;
  void set_checkpoint(const std::filesystem::path& path) override;
  // The whole life of the thread.
  void run(const TrialFunction& function, const json& config, const CheckpointDir& from);

  // ---- the host's side
  void go_on();  // the function may pass the report that it is in
  // The next result, or nothing: the function has ended. Waits for one of both.
  std::optional<json> wait();
  // Of a function that threw: what; once.
  std::optional<std::string> take_error();
  bool has_result() const;
  // Every report, and whatever touches checkpoints, unwinds from now on. True: the function has
  // ended within `patience`, a year at most.
  bool end(std::chrono::duration<double> patience);

  // The checkpoint folder that counts: named by the function, or restored.
  std::optional<std::filesystem::path> checkpoint() const;
  bool has_new_checkpoint() const;  // named by the function since seen() was last called
  void checkpoint_seen();
  void restore_checkpoint(std::filesystem::path folder);

 private:
  void hand_over(json metrics, bool await_step);

  const FunctionIdentity identity_;
  const std::shared_ptr<const Clock> clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<json> result_;
  std::optional<std::string> error_;
  std::optional<std::filesystem::path> checkpoint_;
  bool new_checkpoint_ = false;
  bool may_go_on_ = false;  // one report may return
  bool ending_ = false, ended_ = false;
  double last_report_ = 0;  // the function's thread only
};

}  // namespace attune
