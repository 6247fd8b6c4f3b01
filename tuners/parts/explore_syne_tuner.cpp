#include "tuners/parts/explore_syne_tuner.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/population_syne.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"
#include "space/saved_point.h"

namespace attune {
namespace explore_syne_tuner {
namespace {

using Verdict = SynePopulation::Verdict;

class SyneTuner final : public Tuner {
 public:
  SyneTuner(PopulationSettings settings, RayExplore explore, const Rng& rng)
      : settings_(std::move(settings)),
        explore_(std::move(explore)),
        rule_{.interval = settings_.rule.interval,
              .fraction = settings_.rule.fraction,
              .max_resource = settings_.max_t},
        rng_(rng),
        population_(rule_) {}

  Result<void> set_space(const Space& space) override {
    which_ = TRY(mutable_in(settings_, space));
    space_ = space;
    population_ = SynePopulation(rule_);
    members_.clear();
    member_of_.clear();
    copies_.clear();
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) -> Answer {
      if (copies_.empty()) {
        Proposal proposal{.point = feasible_sample(space_, rng_)};
        add(id, proposal.point, false);
        return proposal;
      }
      Copy copy = std::move(copies_.back());
      copies_.pop_back();
      add(id, copy.point, true);
      return Proposal{.point = std::move(copy.point),
                      .checkpoint_from = copy.from,
                      .reason = std::move(copy.why)};
    });
  }

  // What stood in for a loser is lost, and a random configuration takes its place.
  void withdraw(TrialId id) override { end(id); }

  void adopt(TrialId id, const Point& point) override {
    if (!member_of_.contains(id)) add(id, point, false);
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) end(outcome.trial);
  }

  std::vector<Decision> on_report(const Report& report) override {
    const auto found = member_of_.find(report.trial);
    if (found == member_of_.end()) return {};
    const SynePopulation::Member member = found->second;
    const auto now = progress_of(report, settings_.time_attr, settings_.objective);
    if (!now) return {};
    if (std::exchange(members_[member].is_new_copy, false)) {
      population_.begin_interval(member, now->resource);
    }
    const auto step = population_.report(member, now->resource, now->loss,
                                         [this](std::size_t n) { return rng_.index(n); });
    if (step.verdict == Verdict::keep_going) return {};
    member_of_.erase(found);  // it is over, whenever it ends
    const std::string result = result_text(settings_.objective, now->loss);
    if (step.verdict == Verdict::complete) {
      return {{report.trial, Action::stop,
               used_up_text(settings_.time_attr, now->resource, *settings_.max_t, result), true}};
    }
    const Member& donor = members_[step.donor];
    Explored explored = explore_as_syne(space_, which_, donor.point, explore_, rng_);
    std::string why =
        copies_text(space_,
                    {.attribute = settings_.time_attr,
                     .resource = population_.judged(step.donor),
                     .result = result_text(settings_.objective, population_.loss(step.donor)),
                     .rank = step.donor_rank,
                     .of = step.of},
                    explored);
    std::string reason =
        rank_text(settings_.time_attr, now->resource, result, step.rank, step.of) +
        fmt::format(", among the worst {}; the trial in its place {}", step.worst, why);
    copies_.push_back({donor.trial, std::move(explored.point), std::move(why)});
    return {{report.trial, Action::stop, std::move(reason)}};
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }

  json save() const override {
    std::vector<double> trials, from;
    std::vector<const Point*> points, copies;
    std::vector<std::string> why;
    for (const Member& member : members_) {
      trials.insert(trials.end(),
                    {static_cast<double>(member.trial), member.is_new_copy ? 1.0 : 0.0});
      points.push_back(&member.point);
    }
    for (const Copy& copy : copies_) {
      from.push_back(static_cast<double>(copy.from));
      copies.push_back(&copy.point);
      why.push_back(copy.why);
    }
    return {{"rng", to_json(rng_)},
            {"population", population_.save()},
            {"trials", save_numbers(trials)},
            {"points", save_points(points)},
            {"from", save_numbers(from)},
            {"copies", save_points(copies)},
            {"why", why}};
  }

  Result<void> load(const json& state) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    SynePopulation population(rule_);
    TRY(population.load(TRY(object_at(state, "population"))));
    const auto trials = TRY(numbers_at(state, "trials"));
    const auto from = TRY(numbers_at(state, "from"));
    const std::size_t count = population.size();
    auto points = TRY(load_points(space_, TRY(value_at(state, "points")), count));
    auto explored = TRY(load_points(space_, TRY(value_at(state, "copies")), from.size()));
    const json why = TRY(array_at(state, "why"));
    if (trials.size() != 2 * count || why.size() != from.size()) {
      return fail("saved state: two numbers a trial, and a reason a copy expected");
    }
    std::vector<Member> members;
    std::map<TrialId, SynePopulation::Member> member_of;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_whole(trials[2 * i]) || !is_index(trials[2 * i + 1], 2)) {
        return fail("saved state: an impossible trial of the population");
      }
      const auto id = static_cast<TrialId>(trials[2 * i]);
      members.push_back({id, std::move(points[i]), trials[2 * i + 1] == 1});
      if (!population.ended(i) && !member_of.emplace(id, i).second) {
        return fail("saved state: a trial is two members of the population");
      }
    }
    std::vector<Copy> copies;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!is_whole(from[i]) || !why[i].is_string()) {
        return fail("saved state: a copy of an impossible trial");
      }
      copies.push_back({static_cast<TrialId>(from[i]), std::move(explored[i]), why[i]});
    }
    rng_ = rng;
    population_ = std::move(population);
    members_ = std::move(members);
    member_of_ = std::move(member_of);
    copies_ = std::move(copies);
    return {};
  }

 private:
  struct Member {
    TrialId trial = 0;
    Point point = {};
    bool is_new_copy = false;  // began from a checkpoint, and has not reported
  };
  struct Copy {
    TrialId from = 0;
    Point point = {};
    std::string why = {};  // for a human
  };

  void add(TrialId id, const Point& point, bool is_copy) {
    member_of_[id] = population_.add();
    members_.push_back({id, point, is_copy});
  }

  void end(TrialId id) {
    const auto found = member_of_.find(id);
    if (found == member_of_.end()) return;
    population_.end(found->second);
    member_of_.erase(found);
  }

  const PopulationSettings settings_;
  const RayExplore explore_;
  const SynePopulationRule rule_;
  Rng rng_;
  Space space_;
  Mutable which_;
  SynePopulation population_;
  std::vector<Member> members_;                          // those of population_
  std::map<TrialId, SynePopulation::Member> member_of_;  // of trials that run
  std::vector<Copy> copies_;                             // still to start, the next one last
};

}  // namespace
}  // namespace explore_syne_tuner

std::unique_ptr<Tuner> make_syne_population_tuner(PopulationSettings settings, RayExplore explore,
                                                  const Rng& rng) {
  return std::make_unique<explore_syne_tuner::SyneTuner>(std::move(settings), std::move(explore),
                                                         rng);
}

}  // namespace attune
