#include "math/cma_es/cma_es_restarts.h"

#include <algorithm>
#include <cmath>

#include "base/saved_numbers.h"

namespace attune {
namespace {

// Populations stop growing after so many large runs.
constexpr std::size_t kMostDoublings = 9;

}  // namespace

RestartSchedule::RestartSchedule(Restarts rule, std::size_t population)
    : rule_(rule), first_population_(population), run_{population, 1} {}

void RestartSchedule::count(std::size_t results) { in_run_ += static_cast<double>(results); }

CmaRun RestartSchedule::next(Rng& rng) {
  // The results of the first run count for neither sort.
  if (large_runs_ > 0) results_[small_ ? 1 : 0] += in_run_;
  in_run_ = 0;
  // The sort of runs that has used fewer results is next.
  small_ = rule_ == Restarts::bipop && large_runs_ > 0 && results_[1] < results_[0];
  const auto first = static_cast<double>(first_population_);
  if (small_) {
    // Between the first population and half of the last large one, more often small; with a step
    // between a hundredth of the first one and the whole.
    const double large = std::ldexp(first, static_cast<int>(large_runs_));
    const double u = rng.uniform();
    const double population = first * std::pow(0.5 * large / first, u * u);
    run_ = {std::max(first_population_, static_cast<std::size_t>(population)),
            std::pow(10.0, -2 * rng.uniform())};
  } else {
    large_runs_ = std::min(large_runs_ + 1, kMostDoublings);
    run_ = {first_population_ << large_runs_, 1};
  }
  return run_;
}

json RestartSchedule::save() const {
  return {{"population", run_.population},
          {"sigma_factor", run_.sigma_factor},
          {"small", small_},
          {"large_runs", large_runs_},
          {"large_results", results_[0]},
          {"small_results", results_[1]},
          {"run_results", in_run_}};
}

Result<void> RestartSchedule::load(const json& state) {
  RestartSchedule loaded(rule_, first_population_);
  const auto population = TRY(integer_at(state, "population"));
  const auto large_runs = TRY(integer_at(state, "large_runs"));
  const json small = TRY(value_at(state, "small"));
  const double factor = TRY(number_at(state, "sigma_factor"));
  loaded.results_[0] = TRY(number_at(state, "large_results"));
  loaded.results_[1] = TRY(number_at(state, "small_results"));
  loaded.in_run_ = TRY(number_at(state, "run_results"));
  const auto count = [](double x) { return is_whole(x) && x >= 0; };
  const auto most = static_cast<std::int64_t>(first_population_ << kMostDoublings);
  if (population < static_cast<std::int64_t>(first_population_) || population > most ||
      !is_index(static_cast<double>(large_runs), kMostDoublings + 1) || !small.is_boolean() ||
      !(factor >= 0.01 && factor <= 1) || !count(loaded.results_[0]) ||
      !count(loaded.results_[1]) || !count(loaded.in_run_)) {
    return fail("saved state: cma: impossible restarts");
  }
  loaded.run_ = {static_cast<std::size_t>(population), factor};
  loaded.small_ = small.get<bool>();
  loaded.large_runs_ = static_cast<std::size_t>(large_runs);
  *this = loaded;
  return {};
}

}  // namespace attune
