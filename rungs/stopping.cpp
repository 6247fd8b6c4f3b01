#include "rungs/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"
#include "base/standing.h"
#include "rungs/resource.h"

namespace attune {

std::vector<double> losses_of(const Report& report, std::span<const Objective> objectives) {
  std::vector<double> losses;
  losses.reserve(objectives.size());
  for (const Objective& objective : objectives) {
    const auto value = metric_in(report.metrics, objective.metric);
    if (!value) return {};
    losses.push_back(std::isinf(*value) ? kWorstLoss : to_minimise(*value, objective));
  }
  return losses;
}

std::size_t draw_bracket(std::span<const double> probabilities, Rng& rng) {
  const std::size_t last = probabilities.size() - 1;
  if (last == 0) return 0;
  double rest = rng.uniform();
  for (std::size_t bracket = 0; bracket < last; ++bracket) {
    rest -= probabilities[bracket];
    if (rest < 0) return bracket;
  }
  return last;  // also if the sum is a little less than 1
}

json save_rungs(std::span<const SortedNumbers> rungs) {
  json state = json::array();
  for (const SortedNumbers& rung : rungs) state.push_back(save_numbers(rung.values()));
  return state;
}

Result<std::vector<SortedNumbers>> load_rungs(const json& state) {
  if (!state.is_array()) return fail("saved state: rungs: an array expected");
  std::vector<SortedNumbers> rungs;
  for (const json& saved : state) {
    SortedNumbers& rung = rungs.emplace_back();
    for (const double loss : TRY(numbers(saved))) {
      if (!std::isfinite(loss)) return fail("saved state: rungs: a loss is not finite");
      rung.insert(loss);
    }
  }
  return rungs;
}

std::string at_cutoff(double level, double value, std::size_t rank, std::size_t of, double share,
                      double cutoff) {
  if (std::abs(value) == kWorstLoss) return at_rank(level, value, rank, of, share);
  return rank_text("rung", level, result_text(value), rank, of) +
         fmt::format("; the best {:.3g} % end at {:.6g}", 100 * share, cutoff);
}

std::string at_rank(double level, double value, std::size_t rank, std::size_t of, double share) {
  return rank_text("rung", level, result_text(value), rank, of) +
         fmt::format("; the best {:.3g} % go on", 100 * share);
}

Decision fully_used(TrialId trial, double resource, double max_t) {
  return {.trial = trial,
          .action = Action::stop,
          .reason = fmt::format("has used its full resource: {:.6g} of {:.6g}", resource, max_t),
          .complete = true};
}

}  // namespace attune
