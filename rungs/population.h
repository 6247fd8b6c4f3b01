#pragma once
// Population based training: some trials train at the same time, and now and then one of the worst
// goes on from the state of one of the best, with a changed configuration. This is the rule, in
// numbers; what a configuration is and how it changes is the caller's business.
//
// Source: Jaderberg et al., "Population Based Training of Neural Networks" (2017), section 3. The
// decisions are those of Ray Tune's PopulationBasedTraining, but for these:
//
// * With a fraction of 0 nobody is copied, and nobody saved. In Ray all are saved then.
// * A loss that is not finite is the worst there is, and nobody copies its trial.
// * Synchronous rounds: Ray waits for ever if a trial that others wait for ends. Here the round
//   takes place among the others.
// * Ray waits for ever, too, if all have come as far as the next round while they were on the way
//   to this one (a trial that reports seldom, and is copied). Here the next round is an interval
//   later.
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rungs/population_ranks.h"

namespace attune {

struct PopulationRule {
  double interval = 60;      // resource between two judgements of a trial, > 0
  double burn_in = 0;        // no judgement before
  double fraction = 0.25;    // of the trials in each quantile, in [0, 0.5]
  bool synchronous = false;  // judge all at once, when the last one has got as far
};

// Members are numbers from 0, in the order of add(). Losses are minimised. Not thread safe.
class Population {
 public:
  using Member = std::size_t;
  enum class Status { waiting, running, paused, ended };  // waiting: for its start
  enum class Verdict {
    keep_going,
    pause,     // until next() names it
    exploited  // it is one of Step::exploits, and pauses, too
  };
  struct Exploit {
    Member loser, donor;
  };
  struct Step {
    Verdict verdict = Verdict::keep_going;  // on the member that reported
    bool recorded = false;                  // the loss counts; else the report came too early
    bool judged = false;                    // the quantiles were compared
    std::vector<Member> saved;      // donors from now on: their present states are to be saved
    std::vector<Exploit> exploits;  // the losers are paused from now on
  };
  // Draws the donor for a loser: an index in best() of that moment, below `donors`. Nothing: the
  // caller has no state that it could copy. Nobody is copied then, nor if the donor's state was not
  // saved at its own last judgement.
  using Draw = std::function<std::optional<std::size_t>(Member loser, std::size_t donors)>;

  explicit Population(PopulationRule rule);

  Member add();  // waiting
  std::size_t size() const { return members_.size(); }
  std::size_t live() const { return live_.size(); }     // those that have not ended
  std::size_t ranked() const { return ranks_.size(); }  // of those, which have a loss
  Status status(Member member) const { return members_[member].status; }
  double loss(Member member) const { return members_[member].loss; }  // at its last judgement
  double resource(Member member) const { return members_[member].trained; }  // the same
  std::size_t rank(Member member) const { return ranks_.rank(member); }  // of those ranked; from 1
  bool may_be_copied(Member member) const { return members_[member].saved; }
  // What the caller does with a member. Not to `ended`: see end().
  void set_status(Member member, Status status);

  // A report of a running member; others are ignored. `resource` is finite and not negative.
  Step report(Member member, double resource, double loss, const Draw& draw);
  // The member is over. In a synchronous population this may complete a round: then the verdict is
  // without meaning.
  Step end(Member member, const Draw& draw);

  // The member that is to start or to go on next: of those that are behind, the first. Nothing:
  // none waits, or (synchronous) the round is not complete.
  std::optional<Member> next() const;

  std::size_t ready() const { return ready_.size(); }  // that are waiting or paused
  // Synchronous: how many live members have yet to get as far as the round.
  std::size_t behind() const;

  // How many are in each quantile, and who, from the worst to the best.
  std::size_t quantile() const { return ranks_.count(rule_.fraction); }
  std::vector<Member> worst() const { return ranks_.worst(quantile()); }
  std::vector<Member> best() const { return ranks_.best(quantile()); }

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct State {
    Status status = Status::waiting;
    bool has_loss = false;
    bool saved = false;  // among the best at its last judgement, so that others may copy it
    double loss = 0;
    double trained = 0;    // resource at the last judgement; that of the donor after an exploit
    double perturbed = 0;  // resource at which its present interval began
  };
  // Behind are those with less resource, and of equal ones those that were added first.
  using Queue = std::set<std::pair<double, Member>>;

  void place(Member member, Status status, double trained);
  void checkpoint_or_exploit(Member member, std::size_t count, const Draw& draw, Step& step);
  bool others_are_behind(Member member) const;
  void round(double resource, const Draw& draw, Step& step);

  PopulationRule rule_;
  double next_sync_;
  std::vector<State> members_;
  PopulationRanks ranks_;
  Queue live_, ready_;  // ready: waiting or paused
};

}  // namespace attune
