#include "tuners/parts/bohb_brackets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "rungs/reason_text.h"
#include "space/saved_point.h"
#include "tuners/parts/objectives.h"

namespace attune {
namespace bohb_brackets {
namespace {

constexpr double kTolerance = 1e-6;
enum Flags { kRunning = 1, kFull = 2 };  // in a saved state

}  // namespace
}  // namespace bohb_brackets

int bohb_first_bracket(const BohbBudgets& budgets) {
  return static_cast<int>(std::floor(
      std::log(budgets.most / budgets.least) / std::log(budgets.eta) + bohb_brackets::kTolerance));
}

BohbRound bohb_round(const BohbBudgets& budgets, int s, int i) {
  constexpr double kTolerance = bohb_brackets::kTolerance;
  const double brackets = bohb_first_bracket(budgets) + 1;
  const double power = std::pow(budgets.eta, s), part = std::pow(budgets.eta, i);
  const double fresh = std::ceil(brackets * power / (s + 1) - kTolerance);
  return {static_cast<std::size_t>(std::floor(fresh / part + kTolerance)),
          std::floor(budgets.most / power * part + kTolerance)};
}

BohbBrackets::BohbBrackets(const BohbBudgets& budgets, std::size_t objectives, std::size_t limits)
    : budgets_(budgets), objectives_(objectives), limits_(limits) {
  begin(bohb_first_bracket(budgets));
}

void BohbBrackets::begin(int s) {
  s_ = s;
  round_ = 0;
  fresh_ = bohb_round(budgets_, s, 0).trials;
  promoted_.clear();
  members_.clear();
  running_ = 0;
}

std::optional<BohbBrackets::Promotion> BohbBrackets::take_promoted() {
  if (promoted_.empty()) return std::nullopt;
  Promotion best = std::move(promoted_.front());
  promoted_.pop_front();
  return best;
}

void BohbBrackets::start_fresh(TrialId trial, const Point& point) {
  ATTUNE_CHECK(fresh_ > 0);
  --fresh_;
  start_promoted(trial, point);
}

void BohbBrackets::start_promoted(TrialId trial, const Point& point) {
  withdraw(trial);  // an earlier proposal for this id was not carried out
  members_.insert_or_assign(trial, Member{.point = point});
  ++running_;
}

void BohbBrackets::withdraw(TrialId trial) {
  const auto found = members_.find(trial);
  if (found == members_.end() || !found->second.running) return;
  members_.erase(found);
  --running_;
  if (round_ == 0) ++fresh_;
}

BohbBrackets::Member* BohbBrackets::running(TrialId trial) {
  const auto found = members_.find(trial);
  return found == members_.end() || !found->second.running ? nullptr : &found->second;
}

void BohbBrackets::end(TrialId trial, std::vector<double> values) {
  Member* const member = running(trial);
  ATTUNE_CHECK(member);
  member->running = false;
  member->values = std::move(values);
  --running_;
}

void BohbBrackets::revive(TrialId trial) {
  const auto found = members_.find(trial);
  if (found == members_.end() || std::exchange(found->second.running, true)) return;
  found->second.full = false;
  found->second.values.clear();
  ++running_;
}

std::set<TrialId> BohbBrackets::advance(const Describe& describe) {
  ATTUNE_CHECK(running_ == 0 && fresh_ == 0 && promoted_.empty());
  std::vector<const std::pair<const TrialId, Member>*> ranked;
  std::vector<double> results;
  for (const auto& member : members_) {
    if (member.second.values.empty()) continue;
    ranked.push_back(&member);
    results.insert(results.end(), member.second.values.begin(), member.second.values.end());
  }
  if (round_ < s_) {
    const auto order = ranking(results, objectives_, limits_);
    const std::size_t most = std::min(bohb_round(budgets_, s_, round_ + 1).trials, order.size());
    const auto result = [&](std::size_t rank) {
      return describe(ranked[order[rank]]->second.values);
    };
    for (std::size_t rank = 0; rank < most; ++rank) {
      const auto& [trial, member] = *ranked[order[rank]];
      promoted_.push_back({trial, member.point,
                           rank_text("budget", budget(), result(rank), rank + 1, order.size()) +
                               kept_text(most, result(most - 1))});
    }
  }
  std::set<TrialId> others;
  for (const auto& [trial, member] : members_) others.insert(trial);
  for (const Promotion& one : promoted_) others.erase(one.from);
  if (promoted_.empty()) {
    begin(s_ > 0 ? s_ - 1 : bohb_first_bracket(budgets_));
  } else {
    ++round_;
    members_.clear();
  }
  return others;
}

json BohbBrackets::save() const {
  using enum bohb_brackets::Flags;
  std::vector<double> trials, flags, values, from;
  std::vector<const Point*> points, promoted;
  std::vector<std::string> why;
  const std::vector<double> none(objectives_ + limits_, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [trial, member] : members_) {
    trials.push_back(static_cast<double>(trial));
    points.push_back(&member.point);
    flags.push_back((member.running ? kRunning : 0) + (member.full ? kFull : 0));
    const std::vector<double>& row = member.values.empty() ? none : member.values;
    values.insert(values.end(), row.begin(), row.end());
  }
  for (const Promotion& one : promoted_) {
    from.push_back(static_cast<double>(one.from));
    promoted.push_back(&one.point);
    why.push_back(one.why);
  }
  return {{"s", s_},
          {"round", round_},
          {"fresh", fresh_},
          {"trials", save_numbers(trials)},
          {"points", save_points(points)},
          {"flags", save_numbers(flags)},
          {"values", save_numbers(values)},
          {"from", save_numbers(from)},
          {"promoted", save_points(promoted)},
          {"why", why}};
}

Result<void> BohbBrackets::load(const Space& space, const json& state) {
  using enum bohb_brackets::Flags;
  const auto damaged = [] { return fail("saved state: an impossible bracket"); };
  const auto s = TRY(integer_at(state, "s"));
  const auto round = TRY(integer_at(state, "round"));
  const auto fresh = TRY(integer_at(state, "fresh"));
  if (s < 0 || s > bohb_first_bracket(budgets_) || round < 0 || round > s || fresh < 0) {
    return damaged();
  }
  BohbBrackets loaded(budgets_, objectives_, limits_);
  loaded.begin(static_cast<int>(s));
  if (std::cmp_greater(fresh, round == 0 ? loaded.fresh_ : 0)) return damaged();
  loaded.round_ = static_cast<int>(round);
  loaded.fresh_ = static_cast<std::size_t>(fresh);

  const auto trials = TRY(numbers_at(state, "trials"));
  const auto flags = TRY(numbers_at(state, "flags"));
  const auto values = TRY(numbers_at(state, "values"));
  const auto from = TRY(numbers_at(state, "from"));
  auto points = TRY(load_points(space, TRY(value_at(state, "points")), trials.size()));
  auto promoted = TRY(load_points(space, TRY(value_at(state, "promoted")), from.size()));
  const json why = TRY(array_at(state, "why"));
  const std::size_t width = objectives_ + limits_;
  if (why.size() != from.size() || flags.size() != trials.size() ||
      values.size() != width * trials.size() || (round == 0 && !from.empty())) {
    return damaged();
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto row = std::span(values).subspan(i * width, width);
    const bool none = std::ranges::all_of(row, [](double x) { return std::isnan(x); });
    const bool finite = std::ranges::all_of(row, [](double x) { return std::isfinite(x); });
    if (!is_whole(trials[i]) || !is_index(flags[i], 4) || !(none || finite)) return damaged();
    const auto bits = static_cast<int>(flags[i]);
    Member member{.point = std::move(points[i]),
                  .running = (bits & kRunning) != 0,
                  .full = (bits & kFull) != 0};
    if (finite) member.values.assign(row.begin(), row.end());
    loaded.running_ += member.running ? 1 : 0;
    const auto trial = static_cast<TrialId>(trials[i]);
    if (!loaded.members_.emplace(trial, std::move(member)).second) return damaged();
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!is_whole(from[i]) || !why[i].is_string()) return damaged();
    loaded.promoted_.push_back({static_cast<TrialId>(from[i]), std::move(promoted[i]), why[i]});
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
