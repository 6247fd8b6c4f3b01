#pragma once
// What a new manager of an experiment starts from: the store's last word.
#include "base/result.h"
#include "runner/experiment.h"
#include "runner/store/store_reader.h"
#include "runner/trial_runner.h"

namespace attune {

Result<TrialRunner::Restored> restored_state(StoreReader& reader, const StoredExperiment& stored,
                                             const Experiment& experiment);

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
