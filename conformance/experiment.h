#pragma once
// An experiment with one tuner: asks, and ends trials in all the ways there are.
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "conformance/tuner_subject.h"

namespace attune::conformance {

// What happens in a turn is a function of the turn's number and of what is outstanding. Each answer
// is checked. An answer as a text: the parameters, "not yet" or "exhausted".
class Experiment {
 public:
  // All must outlive the experiment.
  Experiment(const TunerSubject& subject, const Space& space, Findings& findings,
             std::uint64_t seed = 1);

  // What earlier experiments found. Call it before any turn. The first trials that the tuner wants
  // for it begin at once. `tasks` must outlive the experiment. Returns their parameters.
  std::vector<std::string> learn_from(std::span<const EarlierTask> tasks);

  // A new tuner with the saved state of this one, in the same situation.
  Experiment restored() const;

  std::vector<std::string> ask(std::size_t n);
  std::vector<std::string> turn();
  // The answers, then what was decided about trials meanwhile.
  std::vector<std::string> turns(int count);

  // So many trials with random points run that were not proposed.
  void adopt(int count, int seed = 0);
  // Now the oldest, now the newest one ends.
  void end_all_but(std::size_t count);

  Tuner& tuner() { return *tuner_; }
  bool exhausted() const { return exhausted_; }

 private:
  std::string checked(TrialId id, const Answer& answer);
  std::string checked(TrialId id, const Proposal& proposal);
  void report(Rng& rng);
  void obey(const Decision& decision, Rng& rng);
  Outcome imported(Rng& rng) const;
  void forget(TrialId id);

  const TunerSubject* subject_;
  const Space* space_;
  Findings* findings_;
  std::unique_ptr<Tuner> tuner_;
  std::span<const EarlierTask> earlier_;
  bool wants_reports_;
  std::map<TrialId, Point> running_;  // paused ones included
  std::map<TrialId, std::int64_t> steps_;
  std::set<TrialId> paused_;
  std::vector<std::string> decided_;
  TrialId next_id_ = 0;
  int turn_ = 0;
  bool exhausted_ = false;
};

// The state in a text, as a snapshot has it.
inline std::string saved(const Tuner& tuner) { return dump_json(tuner.save()); }

}  // namespace attune::conformance
