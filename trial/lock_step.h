#pragma once
// Connects a function in a thread of its own with the host that steps it. After Ray Tune's
// StatusReporter (2020) with the end event of its later versions: a report blocks the function
// until the host wants the next one, or unwinds it when the host wants no more.
//
// The function's thread calls the members of StatusReporter and run(); the host's thread calls all
// others. Both sides hold a shared_ptr, because a function that is left behind outlives its host.
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
  // The key of a report that is a plain number.
  static constexpr const char* kMetric = "_metric";
  // Marks the result that says that the function has ended; it repeats the one before.
  static constexpr const char* kDuplicate = "__duplicate__";

  LockStep(FunctionIdentity identity, std::shared_ptr<const Clock> clock);

  // ---- the function's side
  void report(const json& metrics) override;
  std::string trial_name() const override { return identity_.trial_name; }
  std::string trial_id() const override { return identity_.trial_id; }
  std::filesystem::path log_directory() const override { return identity_.log_directory; }
  std::filesystem::path make_checkpoint_dir(std::int64_t step) override;
  void set_checkpoint(const std::filesystem::path& path) override;
  // The body of the function's thread.
  void run(const TrialFunction& function, const json& config, const CheckpointDir& from);

  // ---- the host's side
  void go_on();  // lets the function's report() return
  // Waits for the next result; nothing: the function has ended.
  std::optional<json> wait();
  // What the function threw, if it threw; only the first call returns it.
  std::optional<std::string> take_error();
  bool has_result() const;
  // From now on reports and calls about checkpoints throw TrialStopped. Waits for the end of the
  // function. True: it has ended within `patience`, a year at most.
  bool end(std::chrono::duration<double> patience);

  // The checkpoint folder that counts: named by the function, or restored.
  std::optional<std::filesystem::path> checkpoint() const;
  bool has_new_checkpoint() const;  // the function named one since checkpoint_seen()
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
