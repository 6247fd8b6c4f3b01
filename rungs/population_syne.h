#pragma once
// Population based training as in Syne Tune: one of the worst is stopped, and a new trial begins
// from the checkpoint of one of the best.
//
// A trial that is not stopped trains until `max_resource`, and a new random one takes its place. So
// the population never ends.
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rungs/population_ranks.h"

namespace attune {

struct SynePopulationRule {
  double interval = 60;                     // > 0
  double fraction = 0.25;                   // in [0, 0.5]
  std::optional<double> max_resource = {};  // at which a trial is complete
};

// Members are numbers from 0, in the order of add(). Losses are minimised. Not thread safe.
class SynePopulation {
 public:
  using Member = std::size_t;
  enum class Verdict { keep_going, complete, exploit };  // of the last two: the member has ended
  struct Step {
    Verdict verdict = Verdict::keep_going;
    Member donor = 0;              // of an exploit
    std::size_t rank = 0, of = 0;  // of an exploit: of the member, before it ended; the best has 1
    std::size_t worst = 0;         // so many were among the worst
    std::size_t donor_rank = 0;
  };
  // An index in best() of that moment, below `donors`.
  using Draw = std::function<std::size_t(std::size_t donors)>;

  explicit SynePopulation(SynePopulationRule rule) : rule_(rule) {}

  // Members begin at resource 0. A copy that counts on from its donor's resource would be judged at
  // its first report: Syne Tune does so, and stops most copies at once. begin_interval() postpones
  // that judgement to one interval after `resource`.
  Member add();
  void begin_interval(Member member, double resource) { members_[member].judged = resource; }
  std::size_t size() const { return members_.size(); }
  bool ended(Member member) const { return members_[member].ended; }
  double loss(Member member) const { return members_[member].loss; }      // at its last judgement
  double judged(Member member) const { return members_[member].judged; }  // resource there

  // A report; those of ended members are ignored. `resource` is finite and not negative.
  Step report(Member member, double resource, double loss, const Draw& draw);
  void end(Member member);

  std::vector<Member> worst() const { return ranks_.worst(ranks_.count(rule_.fraction)); }
  std::vector<Member> best() const { return ranks_.best(ranks_.count(rule_.fraction)); }

  json save() const;
  Result<void> load(const json& state);  // all or nothing

 private:
  struct State {
    bool ended = false, has_loss = false;
    double loss = 0;
    double judged = 0;  // resource at the last judgement
  };

  SynePopulationRule rule_;
  std::vector<State> members_;
  PopulationRanks ranks_;
};

}  // namespace attune
