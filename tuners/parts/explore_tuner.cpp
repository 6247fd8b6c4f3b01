#include "tuners/parts/explore_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/reason_text.h"
#include "rungs/resource.h"
#include "space/saved_point.h"

namespace attune {
namespace explore_tuner {
namespace {

using Status = Population::Status;
using Verdict = Population::Verdict;

json number(double x) { return is_whole(x) ? json(static_cast<std::int64_t>(x)) : json(x); }

class PopulationTuner final : public Tuner {
 public:
  PopulationTuner(PopulationSettings settings, std::unique_ptr<Explorer> explorer, const Rng& rng)
      : settings_(std::move(settings)),
        explorer_(std::move(explorer)),
        rng_(rng),
        population_(settings_.rule) {}

  Result<void> set_space(const Space& space) override {
    const Mutable which = TRY(mutable_in(settings_, space));
    space_ = space;
    explorer_->set_space(space, which);
    population_ = Population(settings_.rule);
    members_.assign(settings_.size, {});
    for (std::size_t i = 0; i < settings_.size; ++i) population_.add();
    member_of_.clear();
    exhausted_ = false;
    return {};
  }

  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    return ask_each(ids, [this](TrialId id) { return answer(id); });
  }

  // The member waits for its start again, and gets another point then.
  void withdraw(TrialId id) override {
    const auto found = member_of_.find(id);
    if (found == member_of_.end()) return;
    members_[found->second] = {};
    population_.set_status(found->second, Status::waiting);
    member_of_.erase(found);
  }

  // A trial from elsewhere takes the place of a member that has not begun. If all have, the
  // population grows.
  void adopt(TrialId id, const Point& point) override {
    if (exhausted_ || member_of_.contains(id)) return;
    auto member = population_.next();
    if (!member || members_[*member].trial) {
      member = population_.add();
      members_.emplace_back();
    }
    start(*member, id, point);
  }

  void tell(std::span<const Outcome> outcomes) override {
    for (const Outcome& outcome : outcomes) {
      const auto found = member_of_.find(outcome.trial);
      if (found == member_of_.end()) continue;
      const Population::Member member = found->second;
      member_of_.erase(found);
      // This may complete a synchronous round. All others are paused then, and nothing is to be
      // decided.
      for (const auto& one : population_.end(member, draw()).exploits) exploit(one);
    }
  }

  std::vector<Decision> on_report(const Report& report) override {
    const auto found = member_of_.find(report.trial);
    if (found == member_of_.end()) return {};
    const Population::Member member = found->second;
    const auto now = progress_of(report, settings_.time_attr, settings_.objective);
    if (!now || population_.status(member) != Status::running) return {};
    if (settings_.max_t && now->resource >= *settings_.max_t) {
      return {{report.trial, Action::stop,
               used_up_text(settings_.time_attr, now->resource, *settings_.max_t,
                            result_text(settings_.objective, now->loss)),
               true}};
    }
    const Population::Step step = population_.report(member, now->resource, now->loss, draw());
    if (!step.recorded) return {};
    members_[member].reached = now->resource;
    explorer_->observe(member, now->resource, now->loss, members_[member].point);
    return decide(member, step);
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }

  json save() const override {
    json members = json::array();
    for (const Member& member : members_) {
      json ids = json::array(), from = json::array();
      if (member.trial) ids.push_back(*member.trial);
      if (member.from) from.push_back(*member.from);
      members.push_back({{"trial", std::move(ids)},
                         {"point", save_point(member.point)},
                         {"from", std::move(from)},
                         {"reached", save_numbers(std::span(&member.reached, 1))},
                         {"copies", member.copies},
                         {"policy", member.policy}});
    }
    return {{"rng", to_json(rng_)},
            {"exhausted", exhausted_},
            {"population", population_.save()},
            {"members", std::move(members)},
            {"explorer", explorer_->save()}};
  }

  Result<void> load(const json& state) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
    const json exhausted = TRY(value_at(state, "exhausted"));
    if (!exhausted.is_boolean()) return fail("saved state: exhausted or not expected");
    Population population(settings_.rule);
    TRY(population.load(TRY(object_at(state, "population"))));
    std::vector<Member> members;
    std::map<TrialId, Population::Member> member_of;
    for (const json& one : TRY(array_at(state, "members"))) {
      const auto ids = TRY(trials_at(one, "trial"));
      const std::size_t index = members.size();
      if (index >= population.size() || ids.size() > 1 ||
          ids.empty() != (population.status(index) == Status::waiting)) {
        return fail("saved state: a member of the population has lost its trial");
      }
      Member& member = members.emplace_back(TRY(load_member(one)));
      if (ids.empty()) continue;
      member.trial = *ids.begin();
      TRY(check_point(space_, member.point));
      if (population.status(index) == Status::ended) continue;
      if (!member_of.emplace(*member.trial, index).second) {
        return fail("saved state: a trial is two members of the population");
      }
    }
    if (members.size() != population.size()) return fail("saved state: too few members");
    TRY(explorer_->load(TRY(object_at(state, "explorer"))));
    rng_ = rng;
    exhausted_ = exhausted.get<bool>();
    population_ = std::move(population);
    members_ = std::move(members);
    member_of_ = std::move(member_of);
    return {};
  }

 private:
  struct Member {
    std::optional<TrialId> trial = {};  // nothing: it waits for its start
    Point point = {};
    std::optional<TrialId> from = {};  // whose checkpoint it goes on from
    std::string copies = {};           // for a human: what it is a copy of, and what has changed
    double reached = 0;                // resource at its last recorded report
    // How it came to its configuration: the lines of Ray's pbt_policy file. The file of a loser is
    // that of its donor, and a line for this copy.
    std::vector<std::string> policy = {};
  };

  static Result<Member> load_member(const json& state) {
    Member member;
    const auto from = TRY(trials_at(state, "from"));
    const auto reached = TRY(numbers_at(state, "reached"));
    if (from.size() > 1 || reached.size() != 1 || !std::isfinite(reached[0])) {
      return fail("saved state: an impossible member of the population");
    }
    if (!from.empty()) member.from = *from.begin();
    member.reached = reached[0];
    member.point = {TRY(numbers_at(state, "point"))};
    member.copies = TRY(text_at(state, "copies"));
    for (const json& line : TRY(array_at(state, "policy"))) {
      if (!line.is_string()) return fail("saved state: a policy must be lines of text");
      member.policy.push_back(line);
    }
    return member;
  }

  Population::Draw draw() {
    return [this](Population::Member, std::size_t donors) { return rng_.index(donors); };
  }

  void start(Population::Member member, TrialId id, Point point) {
    members_[member].trial = id;
    members_[member].point = std::move(point);
    member_of_[id] = member;
    population_.set_status(member, Status::running);
  }

  Answer answer(TrialId id) {
    exhausted_ = exhausted_ || population_.live() == 0;
    if (exhausted_) return Exhausted{};
    const auto next = population_.next();
    if (!next) return NotYet{};
    Member& member = members_[*next];
    if (!member.trial) {
      start(*next, id, feasible_sample(space_, rng_));
      return Proposal{.point = member.point};
    }
    const std::size_t others = population_.ready() - 1;
    population_.set_status(*next, Status::running);
    const auto from = std::exchange(member.from, std::nullopt);
    return Proposal{
        .point = member.point,
        .resume = member.trial,
        .checkpoint_from = from,
        .reason = from ? fmt::format("{}; policy {}", member.copies, member.policy.back())
                       : fmt::format("{} {:.6g}: its turn has come; still waiting: {}",
                                     settings_.time_attr, member.reached, others)};
  }

  std::vector<Decision> decide(Population::Member member, const Population::Step& step) {
    std::vector<Decision> decisions;
    const TrialId trial = *members_[member].trial;
    const std::string place = rank_text(settings_.time_attr, members_[member].reached,
                                        result_text(settings_.objective, population_.loss(member)),
                                        population_.rank(member), population_.ranked());
    const auto among = [&](const char* which) {
      return fmt::format("{}, among the {} {}", place, which, population_.quantile());
    };
    // Those that are paused have saved their states.
    if (std::ranges::find(step.saved, member) != step.saved.end()) {
      decisions.push_back({trial, Action::checkpoint, among("best")});
    }
    for (const auto& one : step.exploits) exploit(one);
    if (step.verdict == Verdict::keep_going) return decisions;
    std::string reason = place;
    if (step.verdict == Verdict::exploited) {
      reason = among("worst") + ": " + members_[member].copies;
    } else if (!settings_.rule.synchronous) {
      reason += fmt::format("; waiting for their turn: {}", population_.ready());
    } else if (step.judged) {
      reason +=
          fmt::format(", the last of the round; the worst {} become copies", step.exploits.size());
    } else {
      reason += waits_text(population_.behind());
    }
    if (step.verdict == Verdict::pause) population_.set_status(member, Status::paused);
    decisions.push_back({trial, Action::pause, std::move(reason)});
    return decisions;
  }

  void exploit(const Population::Exploit& one) {
    Member& loser = members_[one.loser];
    const Member& donor = members_[one.donor];
    Explored explored = explorer_->explore(one.loser, one.donor, donor.point, rng_);
    const json line = {std::to_string(*loser.trial), std::to_string(*donor.trial),
                       number(loser.reached),        number(donor.reached),
                       to_json(space_, donor.point), to_json(space_, explored.point)};
    loser.point = explored.point;
    loser.from = donor.trial;
    loser.policy = donor.policy;
    loser.policy.push_back(dump_json(line));
    loser.copies =
        copies_text(space_,
                    {.attribute = settings_.time_attr,
                     .resource = donor.reached,
                     .result = result_text(settings_.objective, population_.loss(one.donor)),
                     .rank = population_.rank(one.donor),
                     .of = population_.ranked()},
                    explored);
  }

  const PopulationSettings settings_;
  const std::unique_ptr<Explorer> explorer_;
  Rng rng_;
  Space space_;
  Population population_;
  std::vector<Member> members_;                      // those of population_
  std::map<TrialId, Population::Member> member_of_;  // of live trials
  bool exhausted_ = false;
};

}  // namespace
}  // namespace explore_tuner

std::unique_ptr<Tuner> make_population_tuner(PopulationSettings settings,
                                             std::unique_ptr<Explorer> explorer, const Rng& rng) {
  return std::make_unique<explore_tuner::PopulationTuner>(std::move(settings), std::move(explorer),
                                                          rng);
}

}  // namespace attune
