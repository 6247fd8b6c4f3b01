#pragma once
// A study without threads and files: the session, the assessor, the records of the trials, and the
// events that led here. The same calls give the same answers. One owner at a time.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/evidence.h"
#include "assessors/registry.h"
#include "base/leaders.h"
#include "base/result.h"
#include "dispatcher/session.h"
#include "study/event.h"
#include "study/study_options.h"
#include "study/study_trial.h"
#include "tuners/registry.h"

namespace attune {

class StudyCore {
 public:
  // Errors: an unknown algorithm, bad arguments, a space that cannot be searched, a bad initial
  // point; each says where.
  static Result<std::unique_ptr<StudyCore>> make(const json& space, const StudyOptions& options,
                                                 const TunerRegistry& tuners,
                                                 const AssessorRegistry& assessors);

  // As in study.h; values as they are given, NaN as NaN. Each call that succeeds and changes
  // something adds an event with this slot.
  Result<Asked> ask(std::int64_t count, int slot);
  Result<void> tell(TrialId id, const json& value, int slot);
  Result<void> check_tell(TrialId id, const json& value);  // the error of tell(); changes nothing
  Result<void> fail_trial(TrialId id, const std::string& reason, int slot);
  Result<void> stop(TrialId id, int slot);
  Result<Verdict> report(TrialId id, const json& value, std::optional<std::int64_t> step, int slot);
  Result<json> suggest(TrialId id, const std::string& name, const json& declared);
  Result<void> give(TrialId id, const std::string& name, const json& declared, const json& value);
  Result<void> declare(const json& space);
  Result<void> enqueue(const json& parameters);
  Result<void> import(const std::vector<std::pair<json, json>>& results);

  // For a trial that runs again: the verdict that this report got in an earlier run, if the value
  // was the same. Nothing: the report or its value is new.
  std::optional<Verdict> known_report(TrialId id, std::int64_t step, const json& value) const;

  // Repeats an ask of a study file, but gives out the trials that the file names. For files with an
  // ask that this version answers differently.
  Result<void> adopt(const Event& ask);
  // Repeats a suggestion of a study file, with the value that the file has.
  Result<void> repeat_suggestion(const Event& suggestion);
  void skip_ahead() { session_.skip_ahead(); }

  const std::vector<Event>& events() const { return events_; }
  const Leaders& leaders() const { return leaders_; }  // of the completed trials
  const StudyTrial* record(TrialId id) const;
  std::vector<StudyTrial> records() const;
  std::vector<std::pair<Suggestion, int>> running() const;  // with their slots
  // What fanova() needs of the completed trials; "": the first objective. Errors as in
  // study.h.
  Result<Evidence> evidence(const std::string& metric) const;
  std::int64_t trial_count() const { return std::ssize(trials_); }
  std::int64_t count(TrialState state) const { return counts_[static_cast<std::size_t>(state)]; }
  int last_slot() const { return last_slot_; }  // of the last event that is no ask; -1: none

 private:
  struct Trial {
    StudyTrial record;
    // Only without a search space: a value for each parameter that is known, and what enqueue()
    // wants.
    json proposed = json::object(), wished = json::object();
    int slot = -1;
    std::string stop_reason = {};                    // not empty: it is to stop
    bool to_pause = false;                           // the stop is a pause
    std::optional<std::int64_t> stop_heard_at = {};  // the step whose report was answered so
  };

  StudyCore(MadeTuner made, std::vector<Objective> objectives, std::unique_ptr<Assessor> assessor,
            Space space, std::optional<int> max_trials, std::uint64_t seed);
  Result<Trial*> live(TrialId id);
  // A value: what is stored of it, and its metrics.
  struct Read {
    json stored = {};
    Metrics metrics = {};
  };
  Result<Read> read(const json& value) const;
  Result<Read> read(TrialId id, const json& value) const;  // errors name the trial
  std::optional<Standing> rank_of(const Metrics& metrics) const;
  Suggestion give(Suggestion suggestion, int slot);
  bool grows() const { return declared_.is_object(); }
  Suggestion give_wished(const json& wished, int slot);
  void take_value(TrialId id, Trial& trial, const std::string& name, const json& value);
  json completed(TrialId id, const json& parameters, const json& declared,
                 const Space& space) const;
  Result<Point> point_of(const StudyTrial& trial) const;
  json event_of(const Suggestion& given) const;
  void set_state(Trial& trial, TrialState state);
  void end(Trial& trial, TrialState state, End end, Replies replies);
  void take(Replies replies);
  void carry_out(const std::vector<Decision>& decisions);
  void add_event(Event event);

  const Tuner& tuner_;  // the session's
  Session session_;
  std::unique_ptr<Assessor> assessor_;
  Space space_;
  // Without a search space (define by run): what has been declared so far, a search space; and the
  // seed of values that no tuner has proposed. Else null.
  json declared_;
  const std::uint64_t seed_;
  const bool tuner_wants_reports_;
  const std::optional<int> max_trials_;

  std::map<TrialId, Trial> trials_;
  std::vector<Event> events_;
  std::vector<std::int64_t> counts_;  // of each state
  const std::vector<Objective> objectives_;
  Leaders leaders_;
  TrialId next_id_ = 0;
  std::int64_t waiting_ = 0;  // asks that the session has not answered
  std::deque<json> enqueued_;
  std::deque<Suggestion> ready_;        // answered by the session, and not given out yet
  std::optional<std::string> no_more_;  // why; until an end, report or import may change it
  int last_slot_ = -1;
};

}  // namespace attune
