#pragma once
// Runs trials as processes of this machine, with NNI's trial file protocol: an unmodified NNI trial
// runs.
//
// <path>/trials/<job id>/ is the directory of a trial (backends/trial_folder.h),
// <path>/checkpoints/<id>/ that of a checkpoint. Each attempt runs under a shim of its own
// (backends/shim/), which outlives the manager. A later manager adopts running attempts, by the
// spool that the shim writes (backends/report/spool.h).
//
// An attempt starts with the content of its checkpoint in its checkpoint directory, or with an
// empty one. What an earlier attempt of the same trial left there is used only if it was saved as a
// checkpoint (except with TrialStart::keep_checkpoint).
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "backends/local/checkpoint_files.h"
#include "backends/local/file_watch.h"
#include "backends/local/local_options.h"
#include "backends/report/spool_reader.h"
#include "backends/trial_backend.h"

namespace attune {

class Leftovers;
class TrialFolder;

class LocalBackend final : public TrialBackend {
 public:
  // `wake` as in TrialBackend, called on `io`, whose thread owns the backend. If GPUs are to be
  // assigned, this looks for them, and blocks while nvidia-smi runs, ten seconds at most.
  static Result<std::unique_ptr<LocalBackend>> create(boost::asio::io_context& io,
                                                      LocalBackendOptions options,
                                                      std::function<void()> wake);
  ~LocalBackend() override;

  void set_path(const std::filesystem::path& directory) override;
  Resources capacity() const override { return capacity_; }
  Result<void> start(const TrialStart& trial) override;
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

  LocalBackend(boost::asio::io_context& io, LocalBackendOptions options,
               std::shared_ptr<GpuRotation> gpus, std::function<void()> wake);
  Result<void> end_unknown_attempts(const TrialFolder& files, const std::string& job_id);
  std::filesystem::path folder(const std::string& job_id) const {
    return path_ / "trials" / job_id;
  }
  // The name of a trial for gpus_, which several experiments may share; their job ids may be the
  // same.
  std::string gpu_user(const std::string& job_id) const {
    return options_.experiment_id + "/" + job_id;
  }
  Attempt& keep(std::unique_ptr<Attempt> attempt);
  Adoption adopt_without_spool(const TrialStart& start);
  void attach(Attempt& attempt);
  void learn_gpus(Attempt& attempt, const AttemptFacts& facts);
  void watch_end(Attempt& attempt, UniqueFd pidfd);
  void wait_for_end(Attempt& attempt);
  void tell(Attempt& attempt, int signal);
  void force_end_later(Attempt& attempt);
  bool is_clear(Attempt& attempt);
  void look_again(Leftovers leftovers, std::function<void()> done);
  void hunt(const std::string& job_id, int attempt, AttemptFacts facts);
  void mark(Attempt& attempt);
  void mark_changed(int watch_key);
  void wake();
  TrialFinished finish(Attempt& attempt);
  void forget(Attempt& attempt);

  boost::asio::io_context& io_;
  LocalBackendOptions options_;
  std::filesystem::path path_;
  std::function<void()> wake_;
  bool wake_posted_ = false;
  Resources capacity_;
  std::shared_ptr<GpuRotation> gpus_;  // knows trials by gpu_user()
  std::unique_ptr<FileWatch> watch_;
  CheckpointFiles checkpoints_;
  std::map<std::uint64_t, std::unique_ptr<Attempt>> attempts_;  // by the order of their start
  std::uint64_t started_ = 0;
  std::unordered_map<std::string, Attempt*> by_job_;
  std::unordered_map<int, Attempt*> by_watch_;
  // Attempts whose leftovers are looked for. One of the same number must not start: it would be
  // taken for a leftover.
  std::multiset<std::pair<std::string, int>> hunted_;
  std::vector<Attempt*> ready_;  // attempts that may have something to read, each once
  // That fetch_status_results() returns first: of checkpoints and places.
  std::vector<TrialEvent> events_;
  std::vector<char> buffer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
};

}  // namespace attune
