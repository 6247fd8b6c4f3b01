#pragma once
// Runs trials on the workers of a coordinator, as one of its clients. Each attempt of a trial is a
// task with a single attempt: the manager decides whether a lost one is tried again.
//
// Manager and workers share a directory, at the same path, in which each trial has a spool with its
// reports. Reports also come over the connection: that is the fast way, the spool the safe one.
// When a task has ended, the backend reads from the spool what was in transit when a worker or the
// coordinator died. So no report is lost and none comes twice, whoever dies.
//
// While the coordinator cannot be reached trials run on, and requests wait. Only an attempt that
// the coordinator was never told of ends at once when it is told to end.
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/local/checkpoint_files.h"
#include "backends/report/report_rules.h"
#include "backends/trial_backend.h"
#include "base/rng.h"
#include "cluster/pool/task.h"
#include "wire/dialer.h"

namespace attune {

struct PoolBackendOptions {
  DialerOptions dial;
  std::string experiment_id;              // the client's name, and the prefix of task ids
  std::string key;                        // proves that the name is ours (cluster/pool/name_key.h)
  std::filesystem::path experiment_file;  // read by the workers; in the shared directory
  ReportRules report;                     // of the trials
  Resources capacity;                     // that the manager may assume; infinite: any
  Resources least;                        // each trial gets at least this
  std::vector<std::string> labels;        // that a worker must have
  // Each task has a worker of its own, named after the task.
  bool worker_per_task = false;
  double queue_limit = 0;  // seconds that a task waits for a worker; 0: no limit
  std::function<void(const std::string& text)> on_state;  // news of the connection, for people
  // Called after each try to connect. waiting: it failed. refused: for good, as far as the
  // coordinator can say.
  std::function<void(DialState state, const std::string& reason)> on_dialled = {};
  // So many failures at the beginning are not told: the coordinator may just be starting.
  int quiet_failures = 0;
};

class PoolBackend final : public TrialBackend {
 public:
  // `wake` is that of TrialBackend, and is called on `io`, whose thread owns the backend.
  PoolBackend(boost::asio::io_context& io, PoolBackendOptions options, const Rng& rng,
              std::function<void()> wake);
  ~PoolBackend() override;

  // The experiment is over and its results are stored: lets the coordinator forget its tasks. If
  // `shut_down` is set, also tells the coordinator to end: it serves this experiment only. The
  // connection then closes; once it has, the coordinator knows.
  void finish(bool shut_down);
  bool connected() const { return connection_ != nullptr; }
  // Why it is not connected, a sentence; empty: it is.
  std::string unreachable() const {
    return connection_ ? "" : "the coordinator cannot be reached: " + unreachable_;
  }

  void set_path(const std::filesystem::path& directory) override;
  Resources capacity() const override { return options_.capacity; }
  // Error: the trial runs already. A task that the coordinator refuses fails later, as an event.
  Result<void> start(const TrialStart& trial) override;
  // Taken, or the error of start(): the coordinator knows the task, or begins it now.
  Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) override;
  void stop(const std::string& job_id) override;
  void pause(const std::string& job_id) override;
  void kill_all() override;
  Result<void> give_parameter(const std::string& job_id, std::int64_t index,
                              const std::string& text) override;
  Result<void> answer(const std::string& job_id, std::int64_t reports) override;
  void save_checkpoint(const std::string& job_id, const std::string& checkpoint) override;
  void copy_checkpoint(const std::string& from, const std::string& to) override;
  void delete_checkpoint(const std::string& checkpoint) override;
  void release(const std::string& job_id) override;
  Deletions unfinished_deletions() const override { return checkpoints_.unfinished_deletions(); }
  std::vector<TrialEvent> fetch_status_results() override;
  std::filesystem::path stderr_path(const std::string& job_id) const override {
    return folder(job_id) / "stderr";
  }

 private:
  struct Attempt;

  void connected(std::unique_ptr<Connection> connection);
  void lost(const std::string& reason);
  void failed(const std::string& reason);
  Result<void> take(const TrialStart& start, std::uint64_t position, bool told);
  void say(const json& message);
  void submit(Attempt& attempt);
  void cancel(Attempt& attempt, Ending wanted, const std::string& how);
  Result<void> heard(const json& message);
  Result<void> take_info(Attempt& attempt, const json& message);
  Result<void> take_state(Attempt& attempt, const json& message);
  void place(Attempt& attempt, TrialPlace where);
  std::string not_understood(Attempt& attempt, const Error& error);  // returns what it told
  void take_end(Attempt& attempt, const json& message);
  void end(Attempt& attempt, Ending how, const std::string& why);
  // See read_rest() in spool_rest.h.
  void read_spool(Attempt& attempt, TrialFinished* end, bool ended);
  void add(Attempt& attempt, TrialEvent event);
  void wake();
  Attempt* find(const std::string& task);
  std::filesystem::path folder(const std::string& job_id) const {
    return path_ / "trials" / job_id;
  }

  boost::asio::io_context& io_;
  const PoolBackendOptions options_;
  const std::function<void()> wake_;
  bool wake_posted_ = false;
  bool over_ = false;  // finish() was called
  // Failed tries to connect; see quiet_failures.
  int failures_ = 0;
  std::string last_failure_;                              // the last one that was told to people
  std::string unreachable_ = "it is being connected to";  // while there is no connection
  std::filesystem::path path_;
  CheckpointFiles checkpoints_;
  Dialer dialer_;
  std::unique_ptr<Connection> connection_;
  std::map<std::uint64_t, std::unique_ptr<Attempt>> attempts_;  // by the order of their start
  std::uint64_t started_ = 0;
  std::unordered_map<std::string, Attempt*> by_job_, by_task_;
  std::vector<TrialEvent> events_;
  std::vector<std::uint64_t> moved_;    // orders of attempts whose place has changed
  std::vector<std::uint64_t> ended_;    // orders of attempts whose end is in `events_`
  std::set<std::string> strangers_;     // ended tasks of which no start() or adopt() was called
  std::vector<json> to_say_, fetched_;  // acknowledgements: of `events_`; of the last fetch
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
