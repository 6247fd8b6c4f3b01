#pragma once
// What an earlier manager of an experiment has left, for the trial runner to go on from.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manager/trials/attempt_time.h"
#include "manager/trials/end_asked.h"
#include "manager/trials/runner_state.h"
#include "manager/trials/trial_record.h"
#include "manager/trials/trial_steps.h"
#include "manager/trials/trial_table.h"
#include "manager/trials/tuning_status.h"

namespace attune {

struct RestoredExperiment {
  struct Trial {
    TrialRecord record;
    std::vector<ParameterId> ids;    // beside record.proposed.parameter_id
    std::uint64_t position = 0;      // of the last report that was kept
    std::string start_from;          // the checkpoint of the attempt that runs, or of the next
    std::optional<EndAsked> asked;   // what was decided, and perhaps not carried out
    std::vector<HeldResult> finals;  // as in LiveTrial,
    std::vector<ParameterId> told;   // and this
    TrialSteps steps;
    std::int64_t steps_saved = 0;
    bool save_first = false;  // its last attempt has ended, and what it saved was not kept yet
    AttemptTime time;
    std::vector<std::string> checkpoints;  // all that it ever had
  };
  struct Checkpoint {
    std::string job_id, id;
    double bytes = 0;
    bool ended = false;  // its trial has
  };
  std::vector<Trial> live;                // not ended, in the order of submission
  std::vector<Checkpoint> checkpoints;    // that are kept, the oldest first
  std::vector<ImportData::Record> ended;  // results, for the decider
  Tally tally;                            // of those that have ended
  std::int64_t next_sequence = 0;
  std::int64_t scored = 0;  // that succeeded with all objectives
  double seconds = 0;       // that earlier sessions took
  TuningStatus status;
  std::optional<RunnerState> state;  // nothing: of an experiment that kept none
};

}  // namespace attune
