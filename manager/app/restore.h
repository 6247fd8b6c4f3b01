#pragma once
// Reads from the store what a new manager needs to continue an experiment.
#include "base/result.h"
#include "manager/experiment/experiment.h"
#include "manager/store/store_reader.h"
#include "manager/trials/trial_runner.h"

namespace attune {

// `state`: StoredConversation::manager; nothing: the store has no conversation.
Result<RestoredExperiment> restored_state(StoreReader& reader, const StoredExperiment& stored,
                                          const Experiment& experiment,
                                          std::optional<RunnerState> state);

// The results of all succeeded trials, and the imported ones, to tell to a decider without memory.
Result<std::vector<ImportData::Record>> ended_results(StoreReader& reader,
                                                      const StoredExperiment& stored);

// For `attune resume --retry failed=restart`: the configurations of trials that ended with this
// failure, for new trials. The old trials stay as they are, since the tuner knows that they ended.
struct Again {
  std::string job_id;  // of the old trial
  json parameters;
  std::string checkpoint;  // to start from; empty: from scratch
};
Result<std::vector<Again>> to_try_again(StoreReader& reader, const StoredExperiment& stored,
                                        FailureClass failure, RetryHow how);

}  // namespace attune
