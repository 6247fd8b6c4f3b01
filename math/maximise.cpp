#include "math/maximise.h"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace attune {
namespace {

constexpr unsigned kMemory = 10;  // corrections that L-BFGS keeps

struct Search {
  const SmoothFunction* function;
  Maximum best;
  nlopt_opt optimiser;
  int evaluations;  // left; counted here, because NLopt checks only between line searches
};

// Stops the search. Until NLopt notices, this is the value of all further points.
double end(Search& search) {
  search.evaluations = 0;
  nlopt_force_stop(search.optimiser);
  return -std::numeric_limits<double>::max();
}

double evaluate(unsigned n, const double* x, double* gradient, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (search.evaluations-- <= 0) {
    if (gradient != nullptr) std::fill(gradient, gradient + n, 0.0);
    return end(search);
  }
  std::vector<double> unused;
  if (gradient == nullptr) {
    unused.resize(n);
    gradient = unused.data();
  }
  const double value = (*search.function)({x, n}, {gradient, n});
  const bool usable = std::isfinite(value) && std::all_of(gradient, gradient + n, [](double g) {
                        return std::isfinite(g);
                      });
  if (!usable) return end(search);
  if (value > search.best.value) search.best = {{x, x + n}, value};
  return value;
}

}  // namespace

Maximum maximise(const SmoothFunction& function, const Box& box, std::vector<double> start,
                 int evaluations, double tolerance) {
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] = std::clamp(start[i], box.low[i], box.high[i]);
  }
  const auto n = static_cast<unsigned>(start.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
      nlopt_create(NLOPT_LD_LBFGS, n), nlopt_destroy);
  Search search = {
      &function, {start, -std::numeric_limits<double>::infinity()}, optimiser.get(), evaluations};
  nlopt_set_max_objective(optimiser.get(), evaluate, &search);
  nlopt_set_lower_bounds(optimiser.get(), box.low.data());
  nlopt_set_upper_bounds(optimiser.get(), box.high.data());
  nlopt_set_maxeval(optimiser.get(), evaluations);
  nlopt_set_ftol_abs(optimiser.get(), tolerance);
  nlopt_set_vector_storage(optimiser.get(), kMemory);
  double value = 0;
  nlopt_optimize(optimiser.get(), start.data(), &value);  // the result is not needed: `best` has it
  return search.best;
}

}  // namespace attune
