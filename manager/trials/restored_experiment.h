#pragma once
// The state of an experiment that an earlier manager ran, as read from the store. The trial runner
// continues from it.
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
    std::vector<ParameterId> ids;    // as LiveTrial::ids; record.proposed.parameter_id is added
    std::uint64_t position = 0;      // TrialReport::position of the last stored report; 0: none
    std::string start_from;          // as LiveTrial::start_from
    std::optional<EndAsked> asked;   // an end that was decided, and may not have been carried out
    std::vector<HeldResult> finals;  // as LiveTrial::finals
    std::vector<ParameterId> told;   // as LiveTrial::told
    TrialSteps steps;
    std::int64_t steps_saved = 0;
    // The last attempt was paused or stopped, and its files must become a checkpoint before the
    // next one starts.
    bool save_first = false;
    AttemptTime time;
    std::vector<std::string> checkpoints;  // the ids of all that it ever had
  };
  struct Checkpoint {
    std::string job_id, id;
    double bytes = 0;
    bool ended = false;  // the trial has ended
  };
  std::vector<Trial> live;                // trials that have not ended, in the order of submission
  std::vector<Checkpoint> checkpoints;    // that exist, the oldest first
  std::vector<ImportData::Record> ended;  // results of ended trials, for a decider without memory
  Tally tally;                            // of the trials that have ended
  std::int64_t next_sequence = 0;         // of the next new trial
  std::int64_t scored = 0;                // trials that succeeded with all objectives
  double seconds = 0;                     // how long earlier managers ran
  TuningStatus status;
  std::optional<RunnerState> state;  // nothing: the store has none for this experiment
};

}  // namespace attune
