#pragma once
// Simulates trials in virtual time; their reports come from learning curves. After the simulator of
// Syne Tune, except that no call here lets time pass.
//
// Nothing happens by itself. advance() moves the clock to the next event, and everything that is
// due then can be fetched. Calls take effect at the present time of the clock. So there is no wake
// function: the owner asks ready(). Everything follows from the options, the curves and the calls.
//
// A trial runs epochs. After each epoch it reports its metric, and at the end a FINAL one. After
// each epoch whose report was not late it saves its state, so a checkpoint is the number of
// finished epochs. An attempt that starts from a checkpoint continues with the next epoch of its
// own configuration's curve. A parameter TRIAL_BUDGET is the number of epochs after which the trial
// ends.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "backends/simulated/event_queue.h"
#include "backends/simulated/learning_curve.h"
#include "backends/trial_backend.h"
#include "base/rng.h"
#include "os/clock.h"

namespace attune {

struct SimulatedBackendOptions {
  std::string metric = "default";  // the name of the result
  Resources capacity;

  // Virtual seconds, >= 0: from start() to the first epoch; from an epoch's end to its report; from
  // the last report to the end; from stop() or pause() to the end.
  struct Delays {
    double start = 0.05, report = 0.05, end = 0.05, stop = 0.05;
  } delays;

  // Shares of attempts that fail, or are lost, by themselves. The fate of each attempt is drawn
  // separately, so a retry may succeed. The same attempt of the same trial has the same fate in
  // each run with this seed.
  struct Failures {
    double fail_rate = 0, lost_rate = 0;  // their sum is at most 1
    std::optional<int> epoch;             // the epoch that it does not finish; none: drawn
  } failures;
  std::uint64_t seed = 0;

  bool checkpoints = true;     // false: trials save nothing, every attempt starts from scratch
  bool plain_metrics = false;  // 0.5 instead of {metric: 0.5, "training_iteration": 3, ...}
  enum class Final { last, best } final_metric = Final::last;
  bool maximize = false;  // which of the attempt's results is the best
};

class SimulatedBackend final : public TrialBackend {
 public:
  // Only advance() and the clock's owner move the clock. The clock must outlive the backend.
  SimulatedBackend(SimulatedBackendOptions options, std::unique_ptr<CurveSource> curves,
                   ManualClock& clock);
  ~SimulatedBackend() override;

  bool ready() const { return !fetchable_.empty(); }  // there is something to fetch
  // The time of the next event, on the clock's now(); nothing if no trial runs.
  std::optional<double> next_time() const { return queue_.next_time(); }
  // Moves the clock to next_time(), and handles all that is due then. Returns false, and changes
  // nothing, if there is no event.
  bool advance();

  void set_path(const std::filesystem::path& directory) override { directory_ = directory; }
  Resources capacity() const override { return options_.capacity; }
  Result<void> start(const TrialStart& trial) override;
  // Always lost: a simulated trial dies with the process that simulates it.
  Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) override;
  // The attempt ends after delays.stop. What it still reports is late, and not part of its state.
  void stop(const std::string& job_id) override;
  void pause(const std::string& job_id) override;
  void kill_all() override;
  Result<void> give_parameter(const std::string& job_id, std::int64_t index,
                              const std::string& text) override;
  void save_checkpoint(const std::string& job_id, const std::string& checkpoint) override;
  void copy_checkpoint(const std::string& from, const std::string& to) override;
  void delete_checkpoint(const std::string& checkpoint) override;
  void release(const std::string& job_id) override;
  std::vector<TrialEvent> fetch_status_results() override;
  // The path that a real trial's file would have. There is no such file.
  std::filesystem::path stderr_path(const std::string& job_id) const override;

 private:
  struct Trial;

  Trial* running(const std::string& job_id);
  Trial& busy_trial(const TrialStart& start);
  void draw_fate(const TrialStart& start, Trial& trial) const;
  void end_soon(Trial& trial, Ending how, double delay);
  void handle(const SimulatedEvent& event);
  void begin(Trial& trial);
  double final_value(const Trial& trial, std::size_t last) const;
  void report(Trial& trial, TrialReport report);
  void finish(Trial& trial, Ending how, std::string detail);

  SimulatedBackendOptions options_;
  std::unique_ptr<CurveSource> curves_;
  ManualClock& clock_;
  std::filesystem::path directory_;
  EventQueue queue_;
  std::unordered_map<std::string, std::int64_t> sequences_;          // by job id
  std::unordered_map<std::int64_t, std::unique_ptr<Trial>> trials_;  // by sequence
  // By the number of the start: in the order of starting.
  std::map<std::uint64_t, std::int64_t> busy_;
  std::uint64_t starts_ = 0;
  std::map<std::string, int> checkpoints_;  // finished epochs
  std::vector<TrialEvent> fetchable_;
};

}  // namespace attune
