#pragma once
// Several tuners on one experiment. Each hears of every trial: a trial that one of them proposed is
// adopted by the others. The tuner that owns the portfolio decides whose turn it is.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuners/registry.h"
#include "tuners/tuner.h"

namespace attune {

// Not thread safe. The functions are those of Tuner, for all members.
class Portfolio {
 public:
  // Adds a tuner with default arguments. It must not override Tuner::parameters(). Its random
  // numbers depend only on its name and `rng`. All names must differ. An error if it wants reports,
  // or writes parameters of its own.
  Result<void> add(const TunerEntry& entry, const TunerContext& context, const Rng& rng);
  std::size_t size() const { return members_.size(); }
  const std::string& name(std::size_t i) const { return members_[i].name; }

  // If one member fails, the error names it, and all members are as before.
  Result<void> set_space(const Space& space);

  bool set_priors(const Space& space);  // false: of some members
  bool learns_from_earlier() const;     // a member does
  // Returns the starts of the first member that has some.
  std::vector<Point> learn_from(std::span<const EarlierTask> tasks);

  // Asks member number `who`, then the ones after it, until one has a proposal. Sets `who` to the
  // member that proposed; the others adopt the trial. Without any proposal the answer is NotYet if
  // a member said so, else Exhausted.
  Answer ask(TrialId id, std::size_t& who);

  void withdraw(TrialId id);
  void tell(std::span<const Outcome> outcomes);
  void adopt(TrialId id, const Point& point);
  void skip_ahead();
  std::string take_notes();
  void replay_notes(const std::string& notes);
  void end_replay();
  json save() const;  // an object: the state of each member by its name
  Result<void> load(const json& state);

 private:
  struct Member {
    std::string name;
    std::unique_ptr<Tuner> tuner;
  };

  std::vector<Member> members_;
  std::optional<Space> space_;        // empty before the first set_space()
  std::vector<EarlierTask> earlier_;  // in this space
};

}  // namespace attune
