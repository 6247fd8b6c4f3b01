#include "tuners/parts/earlier_mean.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

constexpr std::size_t kFew = 3;    // with fewer results nothing can be said about ranks
constexpr int kSamples = 50;       // bootstrap samples
constexpr double kPrior = 3;       // results that the scale 1 counts as
constexpr double kMostScale = 10;  // of the sum of the models

// Pairs of results that the model ranks the wrong way round, equal predictions by half.
double misranked(std::span<const double> predicted, std::span<const double> targets,
                 std::span<const std::size_t> sample) {
  double wrong = 0;
  for (std::size_t a = 0; a < sample.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::size_t i = sample[a], j = sample[b];
      if (targets[i] == targets[j]) continue;
      const double apart = predicted[i] - predicted[j];
      wrong += apart == 0 ? 0.5 : (apart < 0) != (targets[i] < targets[j]) ? 1 : 0;
    }
  }
  return wrong;
}

// Of each model the share of samples in which it has the lowest ranking loss.
std::vector<double> shares(const std::vector<std::vector<double>>& predicted,
                           std::span<const double> targets) {
  const std::size_t k = predicted.size(), n = targets.size();
  std::vector<double> wins(k, 0);
  Rng rng = Rng(n).fork("ranks");
  std::vector<std::size_t> sample(n);
  for (int s = 0; s < kSamples; ++s) {
    for (std::size_t& each : sample) each = rng.index(n);
    std::vector<double> losses;
    for (const auto& of_model : predicted) losses.push_back(misranked(of_model, targets, sample));
    const double least = std::ranges::min(losses);
    const auto ties = static_cast<double>(std::ranges::count(losses, least));
    for (std::size_t i = 0; i < k; ++i) {
      if (losses[i] == least) wins[i] += 1 / (ties * kSamples);
    }
  }
  return wins;
}

}  // namespace

EarlierMean::EarlierMean(std::shared_ptr<const EarlierModels> models)
    : models_(std::move(models)) {}

bool EarlierMean::is_zero() const {
  return std::ranges::all_of(weights_, [](double w) { return w == 0; });
}

void EarlierMean::clear() {
  weights_.clear();
  shift_ = 0;
}

void EarlierMean::learn(std::span<const double> rows, std::span<const double> targets) {
  clear();
  const std::size_t k = models_->size(), n = targets.size();
  std::vector<std::vector<double>> predicted;
  for (std::size_t i = 0; i < k; ++i) predicted.push_back(models_->means(i, rows));
  weights_ = n < kFew ? std::vector(k, 1 / static_cast<double>(k)) : shares(predicted, targets);
  std::vector<double> sums(n, 0);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t r = 0; r < n; ++r) sums[r] += weights_[i] * predicted[i][r];
  }
  double mean = 0, centre = 0;
  for (std::size_t r = 0; r < n; ++r) {
    mean += sums[r] / static_cast<double>(n);
    centre += targets[r] / static_cast<double>(n);
  }
  double shared = kPrior * 0.1, variance = kPrior * 0.1;
  for (std::size_t r = 0; r < n; ++r) {
    shared += (sums[r] - mean) * (targets[r] - centre);
    variance += (sums[r] - mean) * (sums[r] - mean);
  }
  const double scale = std::clamp(shared / variance, 0.0, kMostScale);
  for (double& weight : weights_) weight *= scale;
  shift_ = centre - scale * mean;
}

std::vector<double> EarlierMean::values(std::span<const double> rows) const {
  std::vector<double> sums;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] == 0) continue;
    const std::vector<double> means = models_->means(i, rows);
    if (sums.empty()) sums.resize(means.size(), shift_);
    for (std::size_t r = 0; r < means.size(); ++r) sums[r] += weights_[i] * means[r];
  }
  return sums;
}

double EarlierMean::value(std::span<const double> row, std::span<double> gradient) const {
  double sum = is_zero() ? 0 : shift_;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] != 0) sum += weights_[i] * models_->mean(i, row, weights_[i], gradient);
  }
  return sum;
}

json EarlierMean::save() const {
  return {{"weights", save_numbers(weights_)}, {"shift", save_numbers(std::vector{shift_})}};
}

Result<void> EarlierMean::load(const json& state) {
  auto weights = TRY(numbers_at(state, "weights"));
  const auto shift = TRY(numbers_at(state, "shift"));
  const auto usable = [](double x) { return std::isfinite(x) && std::abs(x) <= 1e6; };
  if ((!weights.empty() && weights.size() != (has_models() ? models_->size() : 0)) ||
      shift.size() != 1 || !usable(shift[0]) || !std::ranges::all_of(weights, usable)) {
    return fail("saved state: impossible weights of earlier experiments");
  }
  weights_ = std::move(weights);
  shift_ = shift[0];
  return {};
}

}  // namespace attune
