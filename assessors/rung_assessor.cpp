#include "assessors/rung_assessor.h"

#include "base/saved_numbers.h"
#include "rungs/resource.h"

namespace attune {

Decision RungAssessor::assess(TrialId trial, std::span<const Report> reports) {
  const auto [found, is_new] = trials_.try_emplace(trial);
  auto& [judged, visitor] = found->second;
  if (is_new) visitor.bracket = draw_bracket(rule_->brackets(), rng_);
  while (judged < reports.size()) {
    const Report& report = reports[judged++];
    const auto resource = time_attr_ ? resource_of(report, *time_attr_)
                                     : std::optional(static_cast<double>(report.step));
    if (!resource) continue;
    const std::vector<double> losses = losses_of(report, objectives_);
    if (losses.empty()) continue;
    Decision decision = rule_->judge(trial, visitor, *resource, losses);
    if (decision.action != Action::keep_going) return decision;
  }
  return {trial};
}

json RungAssessor::save() const {
  json trials = json::array();
  for (const auto& [id, trial] : trials_) {
    const std::vector<double> passed(trial.visitor.passed.begin(), trial.visitor.passed.end());
    trials.push_back({{"trial", id},
                      {"judged", trial.judged},
                      {"bracket", trial.visitor.bracket},
                      {"passed", save_numbers(passed)}});
  }
  return {{"rng", to_json(rng_)}, {"trials", std::move(trials)}, {"rungs", rule_->save()}};
}

Result<void> RungAssessor::load(const json& state) {
  const Rng rng = TRY(rng_from_json(TRY(array_at(state, "rng"))));
  auto rule = TRY(rule_->loaded(TRY(value_at(state, "rungs"))));
  std::map<TrialId, Trial> trials;
  for (const json& saved : TRY(array_at(state, "trials"))) {
    const TrialId id = TRY(integer_at(saved, "trial"));
    const auto [found, is_new] = trials.try_emplace(id);
    const std::int64_t judged = TRY(integer_at(saved, "judged"));
    const std::int64_t bracket = TRY(integer_at(saved, "bracket"));
    if (!is_new || judged < 0 || bracket < 0) return fail("saved state: an impossible trial");
    Trial& trial = found->second;
    trial.judged = static_cast<std::size_t>(judged);
    trial.visitor.bracket = static_cast<std::size_t>(bracket);
    for (const double rung : TRY(numbers_at(saved, "passed"))) {
      if (!is_index(rung, 1e9)) return fail("saved state: an impossible rung");
      trial.visitor.passed.insert(static_cast<std::size_t>(rung));
    }
    if (!rule->possible(trial.visitor)) return fail("saved state: an impossible rung");
  }
  rng_ = rng;
  rule_ = std::move(rule);
  trials_ = std::move(trials);
  return {};
}

}  // namespace attune
