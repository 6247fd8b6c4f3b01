#include "tuners/parts/failure_model.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/saved_numbers.h"
#include "math/gp/log_improvement.h"

namespace attune {

FailureModel::FailureModel(const Features& features) : surrogate_(features, Scale::failure) {}

void FailureModel::update(const History& history) {
  const auto useless = [&](std::size_t i) { return history.kind(i) == History::Kind::useless; };
  if (history.usable() == 0 || history.usable() == history.size()) return;
  if (!threshold_) {
    bool failed = false;
    for (std::size_t i = 0; i < history.size() && !failed; ++i) failed = useless(i);
    if (!failed) return;
  }
  surrogate_.update(history);
  find_threshold(history);
}

void FailureModel::find_threshold(const History& history) {
  const auto& members = surrogate_.members();
  const auto failed = static_cast<double>(std::ranges::count_if(
      members, [&](std::size_t i) { return history.kind(i) == History::Kind::useless; }));
  const double share = failed / static_cast<double>(members.size());
  threshold_.reset();
  // Of many results the model holds some, of which none may have failed.
  if (share > 0 && share < 1) threshold_ = (0.5 - share) / std::sqrt(share * (1 - share));
}

Acquisition FailureModel::weighed(Acquisition acquisition) const {
  if (!threshold_) return acquisition;
  struct Success {
    const GaussianProcess& model;
    double noise, threshold;

    struct Probability {
      double log = 0, by_mean = 0, by_deviation = 0;
    };
    Probability operator()(const Prediction& at) const {
      const double spread = std::hypot(at.deviation, std::sqrt(noise));
      const double z = (threshold - at.mean) / spread;
      const double slope = normal_hazard(z) / spread;
      return {log_normal_probability(z), -slope, -slope * z * at.deviation / spread};
    }
  };
  const Success success{surrogate_.model(), std::exp(surrogate_.model().parameters().log_noise),
                        *threshold_};
  Acquisition weighed;
  weighed.values = [success, values = acquisition.values](std::span<const double> rows) {
    std::vector<double> all = values(rows);
    const std::vector<Prediction> predictions = success.model.predict_many(rows);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += success(predictions[i]).log;
    return all;
  };
  weighed.climb = [success, climb = acquisition.climb](std::span<const double> row,
                                                       std::span<double> gradient) {
    const double value = climb(row, gradient);
    std::vector<double> means(row.size()), deviations(row.size());
    const auto chance = success(success.model.predict(row, means, deviations));
    for (std::size_t i = 0; i < row.size(); ++i) {
      gradient[i] += chance.by_mean * means[i] + chance.by_deviation * deviations[i];
    }
    return value + chance.log;
  };
  return weighed;
}

json FailureModel::save() const { return surrogate_.save(); }

Result<void> FailureModel::load(const json& state, const History& history) {
  FailureModel loaded = *this;
  TRY(loaded.surrogate_.load(state, history));
  loaded.threshold_.reset();
  if (!loaded.surrogate_.members().empty()) loaded.find_threshold(history);
  *this = std::move(loaded);
  return {};
}

}  // namespace attune
