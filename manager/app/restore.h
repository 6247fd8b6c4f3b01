#pragma once
// What a new manager of an experiment starts from: the store's last word.
#include "base/result.h"
#include "manager/experiment/experiment.h"
#include "manager/store/store_reader.h"
#include "manager/trials/trial_runner.h"

namespace attune {

// `state`: of StoreReader::conversation(), if there is one.
Result<RestoredExperiment> restored_state(StoreReader& reader, const StoredExperiment& stored,
                                          const Experiment& experiment,
                                          std::optional<RunnerState> state);

// The results of all trials that have ended, and those that were imported: what a decider is told
// that knows nothing.
Result<std::vector<ImportData::Record>> ended_results(StoreReader& reader,
                                                      const StoredExperiment& stored);

// `attune resume --retry failed=restart`: what trials that ended so had tried, to be tried again by
// new trials. (The old ones stay what they are: the tuner has been told of their end.)
struct Again {
  std::string job_id;  // of the old trial
  json parameters;
  std::string checkpoint;  // to start from; empty: from scratch
};
Result<std::vector<Again>> to_try_again(StoreReader& reader, const StoredExperiment& stored,
                                        FailureClass failure, RetryHow how);

}  // namespace attune
