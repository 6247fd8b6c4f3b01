#pragma once
// The messages between the io thread and the two workers. All are values that are moved.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/trial.h"
#include "dispatcher/session.h"
#include "protocol/command.h"

namespace attune {

// ---- io -> tune worker (the default queue)

struct SetSpace {
  json search_space;
  bool initial = false;    // from Initialize: answered by SpaceSet; a bad space is fatal
  json earlier = nullptr;  // of Initialize
};
struct AskTrials {      // a large one is handled in pieces: request_pieces.h
  TrialId request = 0;  // first id of the whole request
  TrialId first = 0;
  std::int64_t count = 0;
};
struct AskForJob {  // REQUEST_PARAMETER
  TrialId id = 0;
  std::string trial_job_id;
  std::int64_t parameter_index = 0;
};
struct ParameterForJob {  // answers AskForJob; parameters are null when there are no more
  TrialId id = 0;
  std::string trial_job_id;
  std::int64_t parameter_index = 0;
  json parameters;
};
struct FinalResult {
  TrialId trial = 0;
  json value;
};
struct StoppedEarly {  // by the assessor: see Session::stopped_early
  TrialId trial = 0;
  json last, expected;  // as FinalResult::value
};
struct IntermediateResult {
  TrialId trial = 0;
  std::int64_t step = 0;
  json value;
};
struct TrialsEnded {
  std::vector<TrialId> trials;
  End end = End::completed;
  bool declined = false;  // the manager canceled a proposal of which nothing had been heard
};
struct TrialsPaused {
  std::vector<TrialId> trials;
  bool failed = false;   // they could not be paused: they run on
  bool decided = false;  // the tuner or the assessor had decided the pause
};
struct CheckpointAnswered {  // the manager has answered Action::checkpoint
  TrialId trial = 0;
  bool saved = false;
};
struct ImportResults {
  std::vector<Session::Imported> records;
};
struct AdoptTrial {
  TrialId trial = 0;
  json parameters;
  bool paused = false;
  bool unknown = false;  // we never gave out this id: the record that we did was lost
};
struct ReviveTrial {  // it did not end: the TrialEnd that named it meant another trial
  TrialId trial = 0;
};
struct Refuse {  // a request beyond the limits: gets this answer in its turn, without the tuner
  std::variant<NoMore, ParameterForJob> answer;
};
// Answered by TunerState or AssessorState. Overtakes what waits in the queue.
struct SaveState {
  std::uint64_t number = 0;
};
struct Barrier {
  std::uint64_t number = 0;  // the worker answers Passed once everything before it is handled
};
using TuneMessage =
    std::variant<SetSpace, AskTrials, AskForJob, FinalResult, StoppedEarly, IntermediateResult,
                 TrialsEnded, TrialsPaused, CheckpointAnswered, ImportResults, AdoptTrial,
                 ReviveTrial, Refuse, SaveState, Barrier>;

// ---- io -> assess worker (the assessor queue)

using AssessMessage = std::variant<IntermediateResult, TrialsEnded, SaveState, Barrier>;

// ---- workers -> io

struct SpaceSet {};  // answers SetSpace{initial}
struct Decided {
  Decision decision;
  // What may become the final result of the trial, see Dispatcher::end_early(): its last report if
  // the decision is `complete`, else the report that the assessor judged. Null: nothing may.
  json last_value;
  // What expected_end() makes of the reports of a trial that the assessor has stopped. Null:
  // nothing.
  json expected = nullptr;
};
struct TunerState {  // what TuneWorker::load takes
  std::uint64_t number = 0;
  json state;
};
struct AssessorState {  // what AssessWorker::load takes; null without an assessor
  std::uint64_t number = 0;
  json state;
};
struct Passed {
  std::uint64_t number = 0;
};
// The worker cannot go on. exit_code as in dispatcher/sink.h.
struct Failed {
  int exit_code = 1;
  std::string message;
  bool algorithm = false;  // a plug-in failed (base/algorithm_failure.h): attuned did nothing wrong
};
// Comes before everything else that the worker says of a message: what an algorithm has answered to
// it, if that does not follow from the messages (Tuner::take_notes).
struct Noted {
  std::string notes;
};
struct Finished {};  // the worker's last message: its queue is closed and empty
using WorkerMessage = std::variant<SpaceSet, Offer, NoMore, ParameterForJob, Decided, TunerState,
                                   AssessorState, Passed, Failed, Noted, Finished>;
using WorkerMessages = std::vector<WorkerMessage>;

enum class WorkerName { tune, assess };

}  // namespace attune
