#pragma once
#include <memory>
#include <set>

#include "cluster/batch/batch_commands.h"
#include "cluster/batch/batch_system.h"

namespace attune {

// A batch system that is used through programs, which a table of commands names.
class CommandBatchSystem final : public BatchSystem {
 public:
  // The programs get `environment`; those that submit jobs get `submitting`.
  CommandBatchSystem(boost::asio::io_context& io, std::unique_ptr<BatchCommands> commands,
                     const std::vector<std::string>& environment,
                     const std::vector<std::string>& submitting);

  void submit(BatchJob job, OnSubmitted done) override;
  void list(OnListed done) override;
  void cancel(std::vector<std::string> names, OnDone done) override;

 private:
  struct Waiting {
    BatchJob job;
    CommandLine command;
    OnSubmitted done;
  };

  void refuse(OnSubmitted done, BatchRefusal refusal);
  void look();
  void on_look(std::vector<Waiting> looked, const Result<BatchStates>& states);
  void answer(const Waiting& waiting, BatchSubmission submission);

  boost::asio::io_context& io_;
  std::unique_ptr<BatchCommands> commands_;
  std::vector<Waiting> waiting_;     // submissions for the next look
  std::set<std::string> answering_;  // names whose submission is not answered yet
  bool looking_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // see ChildProcess
  // Two runners, because a list must not wait for a row of submissions.
  CommandRunner submissions_, others_;
};

}  // namespace attune
