#pragma once
// A Slurm for tests: started when first asked for, one for the whole program.
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/batch/command_batch_system.h"
#include "os/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace attune {

// Why there can be no Slurm here; nothing if there can.
std::optional<std::string> slurm_is_missing();

class SlurmWorld {
 public:
  SlurmWorld();   // throws what slurm_up.sh says when it does not succeed
  ~SlurmWorld();  // everything of it ends; also when this process dies

  // Each waits for the answer.
  BatchSubmission submit(const BatchJob& job);
  Result<BatchStates> list();
  Result<void> cancel(const std::string& name);
  // Lists until the job is as wanted; its last state, also when that takes too long. Throws when
  // there is no such job.
  BatchState wait_for(const std::string& name,
                      const std::function<bool(const BatchState&)>& wanted);
  BatchState wait_for_phase(const std::string& name, BatchPhase phase);

  // A program of Slurm, such as scontrol.
  CommandEnd run(const std::string& program, const std::vector<std::string>& arguments);
  void kill_controller();                          // kill -9
  void start_controller();                         // and it answers
  void kill_node_daemon(const std::string& node);  // kill -9; what it has started runs on
  void start_node_daemon(const std::string& node);
  void await_idle_nodes();
  void await_saved(const std::string& name);  // the job is in the controller's saved state

  // Of the private folder of this Slurm.
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  void kill_by_file(const std::string& name);
  void start_daemon(const std::string& program, const std::vector<std::string>& more);
  void pause();
  boost::asio::io_context io_;
  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path / "slurm";
  std::vector<std::string> environment_;
  UniqueFd life_;  // the guard of slurm_up.sh waits for its end
  std::unique_ptr<CommandRunner> runner_;
  std::unique_ptr<CommandBatchSystem> system_;
};

SlurmWorld& slurm_world();

// Throws its output away. Names are unique in the program: the tests share the world.
BatchJob slurm_job(std::string name, const std::string& commands);

}  // namespace attune
