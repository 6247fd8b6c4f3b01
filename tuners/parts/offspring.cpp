#include "tuners/parts/offspring.h"

#include <cmath>

#include "math/variation.h"
#include "space/sample.h"

namespace attune {
namespace {

// Draws of a mutation step until one is not 0.
constexpr int kDraws = 64;

bool has_one_value(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) return choice->candidates.size() < 2;
  const auto* subset = std::get_if<Subset>(&domain);
  return !subset || subset->chosen == 0 || subset->chosen == subset->candidates.size();
}

// Exchanges one of the chosen candidates for one that is not chosen.
double exchanged(const Subset& domain, double value, Rng& rng) {
  const auto mask = static_cast<std::uint64_t>(value);
  std::vector<std::size_t> in, out;
  for (std::size_t k = 0; k < domain.candidates.size(); ++k) {
    (mask >> k & 1 ? in : out).push_back(k);
  }
  const std::uint64_t gone = std::uint64_t{1} << in[rng.index(in.size())];
  const std::uint64_t come = std::uint64_t{1} << out[rng.index(out.size())];
  return static_cast<double>((mask & ~gone) | come);
}

}  // namespace

Offspring::Offspring(const Space& space, const Variation& variation)
    : space_(space), features_(space), variation_(variation) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    is_fixed_.push_back(!features_.position(i) && has_one_value(space.params[i].domain));
  }
}

Point Offspring::operator()(const Point& first, const Point& second, Rng& rng) const {
  const std::size_t n = space_.params.size();
  const std::vector<double> row = features_.encode(first), other = features_.encode(second);
  const bool both = rng.uniform() < variation_.crossover;
  std::size_t active = 0;
  for (std::size_t i = 0; i < n; ++i) active += first.active(i) && !is_fixed_[i];
  const double mutation = variation_.mutation.value_or(1.0 / static_cast<double>(active));

  Point child{std::vector<double>(n, Point::kInactive)};
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_active(space_, child, i)) continue;
    if (!first.active(i) && !second.active(i)) {
      child.values[i] = sample(space_.params[i].domain, rng);
      continue;
    }
    const Point& source = first.active(i) ? first : second;
    Gene gene{source.values[i], 0};
    const auto column = features_.position(i);
    if (column) gene.position = (first.active(i) ? row : other)[*column];
    if (is_fixed_[i]) {
      child.values[i] = gene.value;
      continue;
    }
    if (both && first.active(i) && second.active(i) && rng.uniform() < variation_.swapping) {
      gene = crossed(i, gene, {second.values[i], column ? other[*column] : 0}, rng);
    }
    child.values[i] = rng.uniform() < mutation ? mutated(i, gene, rng) : gene.value;
  }
  return child;
}

Offspring::Gene Offspring::crossed(std::size_t i, const Gene& first, const Gene& second,
                                   Rng& rng) const {
  if (!features_.position(i)) return rng.index(2) == 0 ? first : second;
  if (first.value == second.value) return first;
  const double x =
      simulated_binary_crossover(first.position, second.position, variation_.crossover_eta, rng);
  return {features_.value(i, x), x};
}

double Offspring::mutated(std::size_t i, const Gene& gene, Rng& rng) const {
  const Domain& domain = space_.params[i].domain;
  if (features_.position(i)) {
    double step = 0;  // 0 comes up at an end of the range, in every second draw
    for (int draw = 0; draw < kDraws && step == 0; ++draw) {
      step = polynomial_mutation(gene.position, variation_.mutation_eta, rng) - gene.position;
    }
    // If rounding undoes the step, the step gets longer; if it leaves the range, it goes the other
    // way.
    for (const double direction : {1.0, -1.0}) {
      for (double length = std::abs(step); length > 0 && length < 2; length *= 2) {
        const double sign = step < 0 ? -direction : direction;
        const double value = features_.value(i, gene.position + sign * length);
        if (value != gene.value) return value;
      }
    }
    return gene.value;
  }
  if (const auto* subset = std::get_if<Subset>(&domain)) return exchanged(*subset, gene.value, rng);
  const auto* choice = std::get_if<Choice>(&domain);
  const std::size_t drawn = rng.index(choice->candidates.size() - 1);
  return static_cast<double>(drawn) + (static_cast<double>(drawn) >= gene.value ? 1 : 0);
}

}  // namespace attune
