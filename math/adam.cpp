#include "math/adam.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kMeanDecay = 0.9, kSquareDecay = 0.999;
constexpr double kLeast = 1e-5;  // so that weights without a gradient stay, whatever rounding does

}  // namespace

void Adam::step(std::span<double> weights, std::span<const double> gradient, double rate,
                double longest) {
  ATTUNE_CHECK(weights.size() == mean_.size() && gradient.size() == mean_.size());
  double squares = 0;
  for (const double g : gradient) squares += g * g;
  if (!std::isfinite(squares)) return;
  const double cut = squares > longest * longest ? longest / std::sqrt(squares) : 1;
  ++steps_;
  const auto n = static_cast<double>(steps_);
  const double mean_weight = 1 - std::pow(kMeanDecay, n);
  const double square_weight = 1 - std::pow(kSquareDecay, n);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double g = cut * gradient[i];
    mean_[i] = kMeanDecay * mean_[i] + (1 - kMeanDecay) * g;
    square_[i] = kSquareDecay * square_[i] + (1 - kSquareDecay) * g * g;
    weights[i] -=
        rate * (mean_[i] / mean_weight) / (std::sqrt(square_[i] / square_weight) + kLeast);
  }
}

json Adam::save() const {
  return {{"mean", save_numbers(mean_)}, {"square", save_numbers(square_)}, {"steps", steps_}};
}

Result<void> Adam::load(const json& state) {
  Adam loaded(0);
  loaded.mean_ = TRY(numbers_at(state, "mean"));
  loaded.square_ = TRY(numbers_at(state, "square"));
  loaded.steps_ = TRY(integer_at(state, "steps"));
  const auto possible = [](double x) { return std::abs(x) < 1e100; };
  if (loaded.mean_.size() != mean_.size() || loaded.square_.size() != mean_.size() ||
      !is_index(static_cast<double>(loaded.steps_), 0x1p53) ||
      !std::ranges::all_of(loaded.mean_, possible) ||
      !std::ranges::all_of(loaded.square_, [&](double x) { return possible(x) && x >= 0; })) {
    return fail("saved state: impossible moments of a gradient");
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
