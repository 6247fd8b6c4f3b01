#include "rungs/reason_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

namespace attune {

std::string result_text(double value) {
  if (!std::isfinite(value) || std::abs(value) == kWorstLoss) return "a result that is not finite";
  return fmt::format("{:.6g}", value + 0.0);  // not -0
}

std::string result_text(const Objective& objective, double loss) {
  return result_text(objective.maximize ? -loss : loss);
}

std::string results_text(std::span<const Objective> objectives, std::span<const double> losses) {
  std::vector<std::string> texts;
  for (const Objective& objective : objectives) {
    if (!objective.limit) texts.push_back(result_text(objective, losses[texts.size()]));
  }
  return texts.size() == 1 ? texts[0] : fmt::format("({})", fmt::join(texts, ", "));
}

std::string over_limits_text(double violation) {
  return fmt::format("a result over its limits by {:.6g}", violation);
}

std::string rank_text(std::string_view what, double level, std::string_view result,
                      std::size_t rank, std::size_t of) {
  return fmt::format("{} {:.6g}: {} ranks {} of {}", what, level, result, rank, of);
}

std::string kept_text(std::size_t kept, std::string_view cutoff) {
  return fmt::format("; the best {} go on, cutoff {}", kept, cutoff);
}

std::string waits_text(std::size_t missing) {
  return fmt::format(" so far and waits for {} more", missing);
}

std::string used_up_text(std::string_view attribute, double resource, double budget,
                         std::string_view result) {
  return fmt::format("{} {:.6g} of {:.6g}: ends with {}", attribute, resource, budget, result);
}

std::string not_finite_text(std::string_view what, double level, std::string_view metric) {
  return fmt::format("{} {:.6g}: \"{}\" is not finite", what, level, metric);
}

}  // namespace attune
