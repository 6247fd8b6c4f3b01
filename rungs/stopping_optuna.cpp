#include "rungs/stopping_optuna.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune {

OptunaHalvingOptions hyperband_pruner_options(double min_resource, double max_resource,
                                              double reduction_factor) {
  OptunaHalvingOptions options{.min_resource = min_resource, .reduction_factor = reduction_factor};
  options.early_stopping_rates.clear();
  options.probabilities.clear();
  const double logarithm = std::log(max_resource / min_resource) / std::log(reduction_factor);
  const auto count = static_cast<std::size_t>(logarithm) + 1;
  double sum = 0;
  for (std::size_t rate = 0; rate < count; ++rate) {
    const auto s = static_cast<double>(count - 1 - rate);
    const double trials =
        std::ceil(static_cast<double>(count) * std::pow(reduction_factor, s) / (s + 1));
    options.early_stopping_rates.push_back(rate);
    options.probabilities.push_back(trials);
    sum += trials;
  }
  for (double& probability : options.probabilities) probability /= sum;
  return options;
}

Decision OptunaHalvingRule::judge(TrialId trial, RungVisitor& visitor, double resource,
                                  std::span<const double> losses) {
  std::vector<SortedNumbers>& rungs = brackets_[visitor.bracket];
  const std::size_t rate = options_.early_stopping_rates[visitor.bracket];
  for (std::size_t rung = visitor.passed.size();; ++rung) {
    const double level = options_.min_resource *
                         std::pow(options_.reduction_factor, static_cast<double>(rate + rung));
    if (resource < level) return {trial};
    if (std::isnan(losses[0])) {
      return {trial, Action::stop, fmt::format("rung {:.6g}: the result is not a number", level)};
    }
    if (rung == rungs.size()) rungs.emplace_back();
    visitor.passed.insert(rung);
    std::string reason = compete(rungs[rung], level, losses[0]);
    if (!reason.empty()) return {trial, Action::stop, std::move(reason)};
  }
}

// Inserts the loss. "": it goes on; else why it does not.
std::string OptunaHalvingRule::compete(SortedNumbers& rung, double level, double loss) const {
  rung.insert(loss);
  const std::size_t n = rung.size();
  const double value = options_.maximise ? -loss : loss;
  if (n <= options_.bootstrap_count) {
    return fmt::format("rung {:.6g}: result {} there, {}; the first {} do not go on", level, n,
                       result_text(value), options_.bootstrap_count);
  }
  const std::size_t promoted =
      std::max<std::size_t>(n / static_cast<std::size_t>(options_.reduction_factor), 1);
  if (loss <= rung[promoted - 1]) return "";
  const double cutoff = options_.maximise ? -rung[promoted - 1] : rung[promoted - 1];
  return rank_text("rung", level, result_text(value), rung.count_below(loss) + 1, n) +
         fmt::format("; the best {} end at {:.6g}", promoted, cutoff);
}

json OptunaHalvingRule::save() const {
  json state = json::array();
  for (const auto& rungs : brackets_) state.push_back(save_rungs(rungs));
  return state;
}

Result<std::unique_ptr<StoppingRule>> OptunaHalvingRule::loaded(const json& state) const {
  if (!state.is_array() || state.size() != brackets_.size())
    return fail("saved state: rungs: other brackets");
  auto rule = std::make_unique<OptunaHalvingRule>(options_);
  for (std::size_t bracket = 0; bracket < brackets_.size(); ++bracket) {
    rule->brackets_[bracket] = TRY(load_rungs(state[bracket]));
  }
  return rule;
}

// A trial passes the rungs of its bracket one after the other.
bool OptunaHalvingRule::possible(const RungVisitor& visitor) const {
  if (visitor.bracket >= brackets_.size()) return false;
  const std::size_t count = visitor.passed.size();
  return count == 0 ||
         (*visitor.passed.rbegin() == count - 1 && count <= brackets_[visitor.bracket].size());
}

}  // namespace attune
