#include "tuners/parts/bracket_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/resource.h"

namespace attune {
namespace {

json save_decisions(const std::vector<Decision>& decisions) {
  json all = json::array();
  for (const Decision& one : decisions) {
    all.push_back({one.trial, static_cast<int>(one.action), one.reason, one.complete});
  }
  return all;
}

Result<std::vector<Decision>> load_decisions(const json& state) {
  std::vector<Decision> all;
  for (const json& one : state) {
    const bool good = one.is_array() && one.size() == 4 && one[0].is_number_integer() &&
                      one[1].is_number_integer() && one[2].is_string() && one[3].is_boolean() &&
                      one[1] >= 0 && one[1] <= static_cast<int>(Action::drop_checkpoint);
    if (!good) return fail("saved state: a decision is damaged");
    all.push_back({one[0], static_cast<Action>(one[1].get<int>()), one[2], one[3]});
  }
  return all;
}

}  // namespace

Result<void> BracketTuner::set_space(const Space& space) {
  TRY(searcher().set_space(space));
  foreign_.clear();
  decisions_.clear();
  forget();
  return {};
}

void BracketTuner::withdraw(TrialId id) {
  if (knows(id)) withdrawn(id);
}

// Without a budget the trial has used what the largest one allows.
double BracketTuner::level_of(const Outcome& outcome) const {
  return outcome.budget && std::isfinite(*outcome.budget) ? *outcome.budget : max_t();
}

void BracketTuner::tell(std::span<const Outcome> outcomes) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.trial != kImportedTrial && knows(outcome.trial)) {
      ended(outcome);
    } else if (foreign_.erase(outcome.trial) > 0) {
      searcher().observe(outcome.trial, level_of(outcome),
                         outcome.usable() ? outcome.loss : std::nullopt, outcome.metrics);
      searcher().end(outcome.trial);
    } else {
      searcher().import(outcome, level_of(outcome));
      noticed(outcome.point);
    }
  }
}

void BracketTuner::adopt(TrialId id, const Point& point) {
  if (knows(id)) return;
  foreign_.insert(id);
  // A known one had ended without a result, which comes late.
  if (!searcher().point_of(id)) searcher().adopt(id, point);
  noticed(point);
}

std::vector<Decision> BracketTuner::on_report(const Report& report) {
  const auto resource = resource_of(report, resource_attr());
  const auto loss = loss_in(report.metrics, setup_.objective);
  if (resource && knows(report.trial)) {
    if (loss) this->report(report, *resource, *loss);
  } else if (resource && *resource >= max_t() && foreign_.contains(report.trial)) {
    decide({report.trial, Action::stop,
            used_up_text(resource_attr(), *resource, max_t(), loss ? result(*loss) : "no result"),
            true});
  }
  return std::exchange(decisions_, {});
}

json BracketTuner::save() const {
  return {{"searcher", searcher().save()},
          {"foreign", foreign_},
          {"decisions", save_decisions(decisions_)},
          {"rule", save_rule()}};
}

Result<void> BracketTuner::load(const json& state) {
  auto foreign = TRY(trials_at(state, "foreign"));
  auto decisions = TRY(load_decisions(TRY(array_at(state, "decisions"))));
  const Loaded rule = TRY(load_rule(TRY(object_at(state, "rule"))));
  const json before = searcher().save();
  TRY(searcher().load(TRY(object_at(state, "searcher"))));
  const auto known = [this](TrialId id) { return searcher().point_of(id) != nullptr; };
  if (!std::ranges::all_of(rule.origins, known) || !std::ranges::all_of(foreign, known)) {
    TRY(searcher().load(before));
    return fail("saved state: the search algorithm does not know a trial");
  }
  foreign_ = std::move(foreign);
  decisions_ = std::move(decisions);
  rule.commit();
  return {};
}

}  // namespace attune
