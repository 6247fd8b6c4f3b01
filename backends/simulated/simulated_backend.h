#pragma once
// Trials that only take virtual time: what they report comes from learning curves. After the
// simulator of Syne Tune, except that no call here lets time pass.
//
// Nothing happens by itself. advance() moves the clock to the next event, and everything that is
// due then becomes fetchable; calls are answered at the time of the call. So there is no wake
// function: whoever calls asks ready(). Everything is a function of options, curves and calls.
//
// A trial runs epochs. After each it reports its metric, at the end a FINAL one. It keeps its state
// in its folder after every epoch whose report counted, so a checkpoint is the number of epochs
// done; an attempt that starts from one goes on with the next epoch of its own configuration's
// curve. A parameter TRIAL_BUDGET is the number of epochs after which the trial ends.
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
  std::string metric = "default";  // what the result is called
  Resources capacity;

  // Virtual seconds from 0: from start() to the first epoch, from an epoch's end to its report,
  // from the last report to the end, from stop() or pause() to the end.
  struct Delays {
    double start = 0.05, report = 0.05, end = 0.05, stop = 0.05;
  } delays;

  // Shares of attempts that die by themselves. Each attempt is drawn for itself, so a retry may
  // succeed; the same attempt of the same trial has the same fate in each run with this seed.
  struct Failures {
    double fail_rate = 0, lost_rate = 0;  // their sum is at most 1
    std::optional<int> epoch;             // which is not finished any more; none: drawn
  } failures;
  std::uint64_t seed = 0;

  bool checkpoints = true;     // false: trials save nothing, every attempt starts from scratch
  bool plain_metrics = false;  // 0.5 instead of {metric: 0.5, "training_iteration": 3, ...}
  enum class Final { last, best } final_metric = Final::last;
  bool maximize = false;  // which of the attempt's results is the best
};

class SimulatedBackend final : public TrialBackend {
 public:
  // The clock stands still but for advance() and what its owner does; it outlives the backend.
  SimulatedBackend(SimulatedBackendOptions options, std::unique_ptr<CurveSource> curves,
                   ManualClock& clock);
  ~SimulatedBackend() override;

  bool ready() const { return !fetchable_.empty(); }  // there is something to fetch
  // When something happens next, on the clock's now(); nothing: no trial runs.
  std::optional<double> next_time() const { return queue_.next_time(); }
  // To next_time(), handling all that is due then; false, and nothing changes, when there is none.
  bool advance();

  void set_path(const std::filesystem::path& directory) override { directory_ = directory; }
  Resources capacity() const override { return options_.capacity; }
  Result<void> start(const TrialStart& trial) override;
  // A simulated trial dies with the process that simulates it: always lost.
  Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) override;
  // From now on it takes delays.stop until the attempt has ended; what it still reports is late
  // and not part of its state.
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
  // Where a real trial would have it: there is no such file.
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
  std::map<std::uint64_t, std::int64_t> busy_;                       // by start: the starting order
  std::uint64_t starts_ = 0;
  std::map<std::string, int> checkpoints_;  // epochs done
  std::vector<TrialEvent> fetchable_;
};

}  // namespace attune
