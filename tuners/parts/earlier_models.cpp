#include "tuners/parts/earlier_models.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/rng.h"
#include "math/mean_ranks.h"
#include "space/sample.h"
#include "tuners/parts/history.h"

namespace attune {
namespace {

constexpr int kEvaluations = 25;         // of a fit, from each of two starts
constexpr std::size_t kCandidates = 10;  // of each task, for starts()
constexpr int kTries = 100;              // draws of what fills the gaps of a point

// Measured noise is no smaller, and a process without noise would follow every accident.
constexpr double kNoiseOfRanks = 1e-3;

std::vector<std::size_t> by_loss(std::span<const double> losses) {
  std::vector<std::size_t> ranked(losses.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  std::ranges::stable_sort(ranked, {}, [&](std::size_t i) { return losses[i]; });
  return ranked;
}

// Fills the gaps of a point: what the values that it has do not exclude is drawn.
Point filled(const Space& space, const Point& point, Rng& rng) {
  Point whole = sample(space, rng);
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    if (!is_active(space, whole, i)) {
      whole.values[i] = Point::kInactive;
    } else if (point.active(i)) {
      whole.values[i] = point.values[i];
    } else if (!whole.active(i)) {
      whole.values[i] = sample(space.params[i].domain, rng);
    }
  }
  return whole;
}

}  // namespace

std::vector<double> normal_scores(std::span<const double> losses) {
  std::vector<double> scores = mean_ranks(losses);
  const auto n = static_cast<double>(losses.size());
  for (double& each : scores) {
    each = std::numbers::sqrt2 * boost::math::erf_inv((2 * each - 1) / n - 1);
  }
  return scores;
}

EarlierModels::EarlierModels(const Space& space, const Features& features,
                             std::span<const EarlierTask> tasks)
    : space_(space), features_(features) {
  Rng rng = Rng(0).fork("earlier");
  for (const EarlierTask& task : tasks) {
    const std::vector<double> scores = normal_scores(task.losses);
    std::vector<std::size_t> ranked = by_loss(task.losses);
    for (std::size_t k = 0; k < std::min(kCandidates, ranked.size()); ++k) {
      Point point = filled(space, task.points[ranked[k]], rng);
      for (int i = 0; i < kTries && !space.feasible(point); ++i) {
        point = filled(space, task.points[ranked[k]], rng);
      }
      if (space.feasible(point) && std::ranges::find(candidates_, point) == candidates_.end()) {
        candidates_.push_back(std::move(point));
      }
    }
    Model model{GaussianProcess(features.categories(), kNoiseOfRanks),
                std::vector<bool>(features.size(), false)};
    std::vector<double> rows, targets;
    for (const std::size_t i : thinned(std::move(ranked), kMostRows)) {
      const std::vector<double> row = features.encode(task.points[i]);
      for (std::size_t q = 0; q < row.size(); ++q) {
        model.known[q] = model.known[q] || row[q] == row[q];
      }
      rows.insert(rows.end(), row.begin(), row.end());
      targets.push_back(scores[i]);
    }
    if (features.size() == 0) continue;
    model.process.assign(rows, model.process.initial_parameters());
    model.process.set_targets(targets);
    model.process.refit(kEvaluations, GaussianProcess::Warping::none);
    models_.push_back(std::move(model));
  }
}

std::vector<double> EarlierModels::Model::masked(std::span<const double> rows) const {
  std::vector<double> seen(rows.begin(), rows.end());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (!known[k % known.size()]) seen[k] = std::numeric_limits<double>::quiet_NaN();
  }
  return seen;
}

std::vector<double> EarlierModels::means(std::size_t i, std::span<const double> rows) const {
  return models_[i].process.predict_means(models_[i].masked(rows));
}

double EarlierModels::mean(std::size_t i, std::span<const double> row, double weight,
                           std::span<double> gradient) const {
  const Model& model = models_[i];
  std::vector<double> slope(row.size()), unused(row.size());
  const double mean = model.process.predict(model.masked(row), slope, unused).mean;
  for (std::size_t q = 0; q < row.size(); ++q) {
    if (model.known[q]) gradient[q] += weight * slope[q];
  }
  return mean;
}

std::vector<Point> EarlierModels::starts(std::size_t count) const {
  std::vector<double> rows;
  for (const Point& point : candidates_) {
    const std::vector<double> row = features_.encode(point);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  std::vector<std::vector<double>> means;
  for (std::size_t i = 0; i < models_.size() && !candidates_.empty(); ++i) {
    means.push_back(this->means(i, rows));
  }
  std::vector<double> best(models_.size(), std::numeric_limits<double>::max());
  std::vector<bool> taken(candidates_.size(), false);
  std::vector<Point> chosen;
  while (chosen.size() < std::min(count, candidates_.size())) {
    std::size_t next = candidates_.size();
    double least = 0;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (taken[c]) continue;
      double sum = 0;
      for (std::size_t i = 0; i < means.size(); ++i) sum += std::min(best[i], means[i][c]);
      if (next < candidates_.size() && sum >= least) continue;
      next = c;
      least = sum;
    }
    taken[next] = true;
    chosen.push_back(candidates_[next]);
    for (std::size_t i = 0; i < means.size(); ++i) best[i] = std::min(best[i], means[i][next]);
  }
  return chosen;
}

}  // namespace attune
