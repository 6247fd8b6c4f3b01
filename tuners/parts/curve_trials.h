#pragma once
// The configurations that FreezeThaw knows: how far each one is, which trial trains it, and what
// that trial does now.
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"

namespace attune {

// One configuration.
struct Curve {
  // `ended`: its trial ended by itself at its budget, as a program does that reads TRIAL_BUDGET; so
  // its training may go on in another trial, from its checkpoint.
  enum class State { running, paused, ended, over };
  static constexpr TrialId kNoTrial = kImportedTrial;
  // A level that no trial reaches. It is beyond the number of all levels.
  static constexpr std::size_t kToItsEnd = 1'000'000;

  Point point;
  TrialId trial = kNoTrial;  // that trains it, or did so last
  TrialId from = kNoTrial;   // from whose checkpoint this trial started, while it may be needed
  State state = State::running;
  double reached = 0;  // the largest resource that was reported
  // The level at which it pauses next; the last one and those beyond: it does not.
  std::size_t until = 0;
  // The result that was reported with `reached`. Empty: there is none, or it was not
  // finite.
  std::vector<double> last = {};

  bool lives() const { return state == State::running || state == State::paused; }
  bool waits() const { return state == State::paused || state == State::ended; }
};

// They are numbered 0, 1, ... in the order of add(), as in CurveModel. A value.
class CurveTrials {
 public:
  std::size_t size() const { return curves_.size(); }
  const Curve& operator[](std::size_t number) const { return curves_[number]; }

  // Returns its number. If its trial trained another configuration, that one is over.
  std::size_t add(Curve curve);
  // The configuration that the trial trains, or did so last.
  std::optional<std::size_t> find(TrialId trial) const;

  // A report. One below what was reached before, as after an older checkpoint, changes nothing.
  void reach(std::size_t number, double resource, std::vector<double> result);
  void run(std::size_t number, std::size_t until);
  void pause(std::size_t number, std::size_t until);
  // Its trial has ended at its budget, which is `resource`, with this result.
  void end(std::size_t number, double resource, std::vector<double> result, std::size_t until);
  void finish(std::size_t number);
  // Another trial takes the place of the one that has ended.
  void hand_over(std::size_t number, TrialId next);
  TrialId release_origin(std::size_t number);  // returns `from`, which is no longer needed

  const std::set<std::size_t>& running() const { return running_; }
  const std::set<std::size_t>& waiting() const { return waiting_; }  // those that may go on

  // `width`: how many numbers a result has.
  json save(std::size_t width) const;
  // An error if the saved state is damaged.
  static Result<CurveTrials> load(const Space& space, std::size_t width, const json& state);

 private:
  void set_state(std::size_t number, Curve::State state);
  void assign(TrialId trial, std::size_t number);

  std::vector<Curve> curves_;
  std::map<TrialId, std::size_t> numbers_;  // by trial
  std::set<std::size_t> running_, waiting_;
};

}  // namespace attune
