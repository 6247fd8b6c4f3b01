#include "tuners/parts/gp_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/saved_numbers.h"
#include "math/gp/hypervolume_improvement.h"
#include "math/gp/log_improvement.h"
#include "math/gp/scalarised_improvement.h"
#include "math/pareto.h"
#include "tuners/parts/objectives.h"

namespace attune {
namespace {

// A reference lies beyond the front by this share of its extent; in deviations of the results if it
// has none.
constexpr double kMargin = 0.1;
// So much of one objective is worth giving up for one unit of another, both in deviations. Ikeda,
// Kita, Kobayashi, "Failure of Pareto-based MOEAs: Does Non-dominated Really Mean Near to Optimal?"
// (CEC 2001): alpha-domination.
constexpr double kExchange = 0.2;
// In each objective results may become better than the best by this share of the distance between
// the best and the reference.
constexpr double kBeyond = 0.5;
constexpr double kLeastWeight = 1e-3;
// Results are noisy if the noise has more than this share of their variance. 0.01 finds as much;
// 0.2 misses some (docs/tuners.md).
constexpr double kNoisy = 0.05;
constexpr double kNoisyKappa = 1;

// With a kind that is not by_noise.
Utility resolved(Utility utility, const Surrogate& objective) {
  if (utility.kind != Utility::Kind::by_noise) return utility;
  utility.kind = Utility::Kind::improvement;
  if (std::exp(objective.model().parameters().log_noise) > kNoisy) {
    utility.kind = Utility::Kind::confidence;
    utility.kappa = kNoisyKappa;
  }
  return utility;
}

LogImprovement utility_of(const Utility& utility, const Prediction& prediction, double best) {
  const auto [mean, deviation] = prediction;
  switch (utility.kind) {
    case Utility::Kind::by_noise:  // resolved() has replaced it
    case Utility::Kind::improvement:
      break;
    case Utility::Kind::confidence:
      return {utility.kappa * deviation - mean, -1, utility.kappa};
    // The logarithm of the probability, whose slope does not underflow.
    case Utility::Kind::probability: {
      const double z = (best - utility.xi - mean) / deviation;
      const double slope = normal_hazard(z);
      return {log_normal_probability(z), -slope / deviation, -slope * z / deviation};
    }
  }
  return log_expected_improvement(mean, deviation, best - utility.xi);
}

// log P(Y <= border), and its derivatives.
LogImprovement probability_to_keep(const Prediction& limit, double border) {
  const double z = (border - limit.mean) / limit.deviation;
  const double slope = normal_hazard(z);
  return {log_normal_probability(z), -slope / limit.deviation, -slope * z / limit.deviation};
}

// The targets of the usable results that keep all limits: row after row, one number for each
// objective.
std::vector<double> kept(const History& history, std::span<const Surrogate> objectives) {
  std::vector<double> rows;
  const auto& members = objectives.front().members();
  for (std::size_t r = 0; r < members.size(); ++r) {
    const std::size_t i = members[r];
    if (history.kind(i) != History::Kind::usable ||
        violation(history.values(i), history.objectives()) > 0) {
      continue;
    }
    for (const Surrogate& surrogate : objectives) rows.push_back(surrogate.targets()[r]);
  }
  return rows;
}

// The ends of a front in each objective.
struct Extent {
  std::vector<double> low, high;
};

// Of the results that no other dominates when each objective is worsened by `exchange` times the
// sum of the others.
Extent extent_of_front(std::span<const double> rows, std::size_t k, double exchange) {
  std::vector<double> mixed(rows.begin(), rows.end());
  for (std::size_t at = 0; at < rows.size(); at += k) {
    const auto row = rows.subspan(at, k);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (std::size_t j = 0; j < k; ++j) mixed[at + j] += exchange * (sum - row[j]);
  }
  const std::vector<std::size_t> fronts = nondominated_fronts(mixed, k);
  Extent extent{std::vector(k, HUGE_VAL), std::vector(k, -HUGE_VAL)};
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    if (fronts[i] > 0) continue;
    for (std::size_t j = 0; j < k; ++j) {
      extent.low[j] = std::min(extent.low[j], rows[i * k + j]);
      extent.high[j] = std::max(extent.high[j], rows[i * k + j]);
    }
  }
  return extent;
}

// Beyond the front, and at the worst target if that is worse: the ends of the front are worth
// finding.
std::vector<double> far_reference(std::span<const double> rows,
                                  std::span<const Surrogate> objectives) {
  auto [low, reference] = extent_of_front(rows, objectives.size(), 0);
  for (std::size_t j = 0; j < reference.size(); ++j) {
    reference[j] = std::max(reference[j] + kMargin * (reference[j] - low[j]),
                            std::ranges::max(objectives[j].targets()));
  }
  return reference;
}

// Just beyond the useful part of the front. Results that are a little better in one objective and
// far worse in another would draw the reference towards them, and with it the search.
std::vector<double> near_reference(std::span<const double> rows,
                                   std::span<const Surrogate> objectives) {
  auto [low, reference] = extent_of_front(rows, objectives.size(), kExchange);
  for (std::size_t j = 0; j < reference.size(); ++j) {
    const double margin = kMargin * (reference[j] - low[j]);
    // A front of one result has no extent.
    reference[j] =
        margin > 0 ? reference[j] + margin
                   : std::max(reference[j] + kMargin, std::ranges::max(objectives[j].targets()));
  }
  return reference;
}

// The value of a configuration, from its predictions: those of the objectives first, then those of
// the limits.
class Merit {
 public:
  Merit(const History& history, std::span<const Surrogate> objectives,
        std::span<const Surrogate> limits, const Utility& utility,
        std::span<const double> direction)
      : utility_(resolved(utility, objectives.front())), objectives_(objectives.size()) {
    for (const Surrogate& limit : limits) borders_.push_back(limit.border());
    if (objectives_ == 1 && history.limits() == 0) {
      best_ = objectives.front().best();
      return;
    }
    std::vector<double> rows = kept(history, objectives);
    if (rows.empty()) {
      nothing_kept_ = true;
    } else if (objectives_ == 1) {
      best_ = std::ranges::min(rows);
    } else {
      const std::vector<double> reference =
          direction.empty() ? far_reference(rows, objectives) : near_reference(rows, objectives);
      // Running trials count with their expected results, unless they are expected to break a
      // limit: otherwise a batch would seek the same part of the front several times.
      for (std::size_t p = 0; p < objectives.front().pretended_means().size(); ++p) {
        const auto breaks = [p](const Surrogate& limit) {
          return limit.pretended_means()[p] > limit.border();
        };
        if (std::ranges::any_of(limits, breaks)) continue;
        for (const Surrogate& surrogate : objectives) {
          rows.push_back(surrogate.pretended_means()[p]);
        }
      }
      if (direction.empty()) {
        volume_.emplace(rows, reference);
      } else {
        aim(rows, reference, direction);
      }
    }
  }

  double operator()(std::span<const Prediction> predictions, std::span<double> by_mean,
                    std::span<double> by_deviation) const {
    double value = 0;
    const auto add = [&](std::size_t i, const LogImprovement& term) {
      value += term.value;
      by_mean[i] = term.by_mean;
      by_deviation[i] = term.by_deviation;
    };
    if (volume_ || ray_) {
      std::vector<double> means, deviations;
      for (const auto& [mean, deviation] : predictions.first(objectives_)) {
        means.push_back(mean);
        deviations.push_back(deviation);
      }
      const auto first = by_mean.first(objectives_), second = by_deviation.first(objectives_);
      value = volume_ ? volume_->log_expectation(means, deviations, first, second)
                      : ray_->log_expectation(means, deviations, first, second);
    } else if (nothing_kept_) {
      for (std::size_t i = 0; i < objectives_; ++i) add(i, {});
    } else {
      // The log probability of keeping the limits can only be added to another logarithm, which a
      // confidence bound is not: with limits it is expected improvement.
      const bool limited = predictions.size() > 1;
      add(0, utility_of(limited ? Utility{} : utility_, predictions[0], best_));
    }
    for (std::size_t i = objectives_; i < predictions.size(); ++i) {
      add(i, probability_to_keep(predictions[i], borders_[i - objectives_]));
    }
    return value;
  }

 private:
  void aim(std::span<const double> rows, std::span<const double> reference,
           std::span<const double> direction) {
    std::vector<double> weights, ideal;
    for (std::size_t j = 0; j < objectives_; ++j) {
      double low = reference[j];
      for (std::size_t at = j; at < rows.size(); at += objectives_) low = std::min(low, rows[at]);
      const double extent = reference[j] - low;
      weights.push_back(direction[j] * extent);
      ideal.push_back(low - kBeyond * extent);
    }
    ray_.emplace(rows, reference, weights, ideal);
  }

  Utility utility_;
  std::size_t objectives_;
  std::vector<double> borders_;  // of limits
  double best_ = 0;
  bool nothing_kept_ = false;
  std::optional<HypervolumeImprovement> volume_;
  std::optional<ScalarisedImprovement> ray_;
};

}  // namespace

GpModel::GpModel(const Features& features, Scale scale, const SurrogateSettings& settings,
                 std::size_t objectives, std::size_t limits)
    : directed_(objectives > 2 || (objectives == 2 && scale == Scale::standardised)) {
  for (std::size_t i = 0; i < objectives; ++i) {
    objectives_.emplace_back(features, scale, settings, i);
  }
  for (std::size_t i = 0; i < limits; ++i) {
    limits_.emplace_back(features, Scale::limit, settings, objectives + i);
  }
}

void GpModel::learn_from(std::shared_ptr<const EarlierModels> earlier) {
  objectives_.front().learn_from(std::move(earlier));
}

void GpModel::update(const History& history, std::span<const std::span<const double>> running) {
  for (auto* surrogates : {&objectives_, &limits_}) {
    for (Surrogate& surrogate : *surrogates) {
      surrogate.update(history);
      surrogate.pretend(running);
    }
  }
}

std::vector<std::size_t> GpModel::good(const History& history, std::size_t count) const {
  if (outputs() == 1) return objectives_.front().most_promising(count);
  std::vector<std::size_t> ranked = history.ranked(objectives_.front().members());
  std::erase_if(ranked, [&](std::size_t i) { return history.kind(i) != History::Kind::usable; });
  ranked.resize(std::min(count, ranked.size()));
  return ranked;
}

Acquisition GpModel::acquisition(const History& history, const Utility& utility, Rng& rng) const {
  std::vector<double> direction;
  if (directed_) {
    for (std::size_t j = 0; j < objectives_.size(); ++j) {
      direction.push_back(std::max(std::abs(rng.normal()), kLeastWeight));
    }
  }
  std::vector<const Surrogate*> models;
  for (const auto* surrogates : {&objectives_, &limits_}) {
    for (const Surrogate& surrogate : *surrogates) models.push_back(&surrogate);
  }
  const auto merit = std::make_shared<Merit>(history, objectives_, limits_, utility, direction);
  Acquisition acquisition;
  acquisition.values = [models, merit](std::span<const double> rows) {
    std::vector<std::vector<Prediction>> predictions;
    for (const Surrogate* model : models) predictions.push_back(model->predict_many(rows));
    std::vector<double> values, by_mean(models.size()), by_deviation(models.size());
    std::vector<Prediction> of_row(models.size());
    for (std::size_t i = 0; i < predictions.front().size(); ++i) {
      for (std::size_t j = 0; j < models.size(); ++j) of_row[j] = predictions[j][i];
      values.push_back((*merit)(of_row, by_mean, by_deviation));
    }
    return values;
  };
  acquisition.climb = [models, merit](std::span<const double> row, std::span<double> gradient) {
    const std::size_t d = row.size();
    std::vector<Prediction> predictions;
    std::vector<double> means(models.size() * d), deviations(models.size() * d);
    for (std::size_t j = 0; j < models.size(); ++j) {
      predictions.push_back(models[j]->predict(row, std::span(means).subspan(j * d, d),
                                               std::span(deviations).subspan(j * d, d)));
    }
    std::vector<double> by_mean(models.size()), by_deviation(models.size());
    const double value = (*merit)(predictions, by_mean, by_deviation);
    for (std::size_t i = 0; i < d; ++i) {
      // Chain rule: the merit by means and deviations, times these by the positions.
      gradient[i] = 0;
      for (std::size_t j = 0; j < models.size(); ++j) {
        gradient[i] += by_mean[j] * means[j * d + i] + by_deviation[j] * deviations[j * d + i];
      }
    }
    return value;
  };
  return acquisition;
}

json GpModel::save() const {
  json all = json::array();
  for (const auto* surrogates : {&objectives_, &limits_}) {
    for (const Surrogate& surrogate : *surrogates) all.push_back(surrogate.save());
  }
  return all;
}

Result<void> GpModel::load(const json& state, const History& history) {
  if (!state.is_array() || state.size() != outputs()) {
    return fail("saved state: not one model for each objective and limit");
  }
  GpModel loaded = *this;
  for (std::size_t i = 0; i < state.size(); ++i) {
    Surrogate& surrogate =
        i < objectives_.size() ? loaded.objectives_[i] : loaded.limits_[i - objectives_.size()];
    TRY(surrogate.load(state[i], history));
    // update() brings all surrogates up to date together, so they must hold the same rows.
    if (!surrogate.in_step_with(loaded.objectives_.front())) {
      return fail("saved state: models of different results");
    }
  }
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
