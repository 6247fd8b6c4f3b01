#pragma once
// Trials on the workers of a coordinator, of which this is a client. An attempt of a trial is a
// task of one attempt: whether a lost one is tried again is the manager's to say.
//
// What the trial has written is in a directory that manager and workers share, at the same path:
// the connection is the quick way for reports, the spool in that directory the sure one. What was
// on its way when a worker or the coordinator died is read there when the task has ended. So no
// report is lost and none comes twice, whoever dies.
//
// While the coordinator cannot be reached trials run on, and what is asked for waits; only an
// attempt that it was never told of ends at once when it is to end.
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
  std::string experiment_id;              // the name of the client, and the beginning of task ids
  std::string key;                        // that the name is bound to
  std::filesystem::path experiment_file;  // what the workers read; in the shared directory
  std::string command;                    // for people
  ReportRules report;                     // of the trials
  Resources capacity;                     // that the manager may count on; infinite: any
  Resources least;                        // of each trial, where it does not ask for more
  std::vector<std::string> labels;        // that a worker must have
  bool worker_per_task = false;           // each task is for a worker of its own, named as the task
  double queue_limit = 0;                 // seconds to wait for a worker; 0: any time
  std::function<void(const std::string& text)> on_state;  // of the connection, for people
  // After each try to connect: connected; waiting: in vain; refused: for good, as far as the
  // coordinator can say.
  std::function<void(DialState state, const std::string& reason)> on_dialled = {};
  int quiet_failures = 0;  // so many tries in vain are not told: it is only just being started
};

class PoolBackend final : public TrialBackend {
 public:
  // `wake` as in TrialBackend, on `io`, whose thread owns the backend.
  PoolBackend(boost::asio::io_context& io, PoolBackendOptions options, const Rng& rng,
              std::function<void()> wake);
  ~PoolBackend() override;

  // All is over, and stored: the coordinator may forget it, and, when it is only for this
  // experiment, is to end. When the connection has ended, which it does then, it knows.
  void finish(bool shut_down);
  bool connected() const { return connection_ != nullptr; }
  // Why it is not connected, a sentence; empty: it is.
  std::string unreachable() const {
    return connection_ ? "" : "the coordinator cannot be reached: " + unreachable_;
  }

  void set_path(const std::filesystem::path& directory) override;
  Resources capacity() const override { return options_.capacity; }
  // Never fails: what the coordinator refuses has failed later.
  Result<void> start(const TrialStart& trial) override;
  // Always taken: the coordinator knows it, or begins it now.
  Result<Adoption> adopt(const TrialStart& trial, std::uint64_t position) override;
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
  std::string not_understood(Attempt& attempt, const Error& error);  // a text of it
  void take_end(Attempt& attempt, const json& message);
  void end(Attempt& attempt, Ending how, const std::string& why);
  void read_spool(Attempt& attempt, TrialFinished* end, bool ended);  // spool_rest.h
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
  bool over_ = false;                                     // shut_down() was called
  int failures_ = 0;                                      // to connect
  std::string last_failure_;                              // that was told
  std::string unreachable_ = "it is being connected to";  // while there is no connection
  std::filesystem::path path_;
  CheckpointFiles checkpoints_;
  Dialer dialer_;
  std::unique_ptr<Connection> connection_;
  std::map<std::uint64_t, std::unique_ptr<Attempt>> attempts_;  // by the order of their start
  std::uint64_t started_ = 0;
  std::unordered_map<std::string, Attempt*> by_job_, by_task_;
  std::vector<TrialEvent> events_;
  std::vector<std::uint64_t> moved_;    // attempts, whose place has changed
  std::vector<std::uint64_t> ended_;    // attempts, whose end is among the events
  std::set<std::string> strangers_;     // tasks that have ended, of which nobody has asked
  std::vector<json> to_say_, fetched_;  // of the events; of those that were fetched last
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace attune
