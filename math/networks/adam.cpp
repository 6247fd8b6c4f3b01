#include "math/networks/adam.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr double kMeanDecay = 0.9, kSquareDecay = 0.999;

// decay^steps, with the rounding of so many multiplications, because step() multiplies too. After
// some 10^6 steps the result does not change any more.
double left_after(std::int64_t steps, double decay) {
  double left = 1;
  for (double last = 0; steps > 0 && left != last; --steps) {
    last = left;
    left *= decay;
  }
  return left;
}

}  // namespace

void Adam::step(std::span<double> weights, std::span<const double> gradient, double rate,
                double longest) {
  using Array = Eigen::ArrayXd;
  ATTUNE_CHECK(weights.size() == mean_.size() && gradient.size() == mean_.size());
  const auto n = static_cast<Eigen::Index>(mean_.size());
  Array g = Eigen::Map<const Array>(gradient.data(), n);
  const double squares = g.square().sum();
  if (!std::isfinite(squares)) return;
  if (squares > longest * longest) g *= longest / std::sqrt(squares);

  Eigen::Map<Array> mean(mean_.data(), n), square(square_.data(), n);
  mean = kMeanDecay * mean + (1 - kMeanDecay) * g;
  square = kSquareDecay * square + (1 - kSquareDecay) * g.square();
  ++steps_;
  mean_left_ *= kMeanDecay;
  square_left_ *= kSquareDecay;
  const double scale = rate / (1 - mean_left_);
  const double unbiased = 1 / (1 - square_left_);
  Eigen::Map<Array>(weights.data(), n) -= scale * mean / ((unbiased * square).sqrt() + least_);
}

json Adam::save() const {
  return {{"mean", save_numbers(mean_)}, {"square", save_numbers(square_)}, {"steps", steps_}};
}

Result<void> Adam::load(const json& state) {
  Adam loaded(0, least_);
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
  loaded.mean_left_ = left_after(loaded.steps_, kMeanDecay);
  loaded.square_left_ = left_after(loaded.steps_, kSquareDecay);
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
