#include "tuners/parts/curve_choice.h"

#include <algorithm>
#include <cmath>

#include "math/gp/log_improvement.h"

namespace attune {
namespace {

// A gain is divided by this power of its cost. With 1, cheap starts crowd out long trainings; with
// 0, a few trials are trained in full too early.
constexpr double kCostPower = 0.6;
// Multiplications that the ranking of candidates may cost, as in gp.cpp.
constexpr double kWork = 1.5e6;
// A change of mind by less than this (the targets have deviation 1) is none; keeps logarithms
// finite.
constexpr double kLeastChange = 1e-9;

void append(const std::vector<double>& row, std::vector<double>& rows) {
  rows.insert(rows.end(), row.begin(), row.end());
}

}  // namespace

CurveEnds expected_ends_of(const CurveModel& model, CurveEnds some) {
  std::vector<double> rows;
  for (const auto& [end, number] : some) {
    append(model.at(number, model.levels() - 1), rows);
  }
  const std::vector<double> means = model.process().predict_means(rows);
  for (std::size_t i = 0; i < some.size(); ++i) some[i].first = means[i];
  std::ranges::sort(some);
  return some;
}

std::vector<double> gains(const CurveModel& model, std::span<const CurveOption> options,
                          const CurveEnds& ends) {
  std::vector<double> at_end, at_next;
  for (const CurveOption& option : options) {
    const auto at = [&](std::size_t level) {
      return option.number ? model.at(*option.number, level) : model.at(option.row, level);
    };
    append(at(model.levels() - 1), at_end);
    append(at(option.until), at_next);
  }
  const auto lessons = model.process().predict_lessons(at_end, at_next);
  const auto [lowest, best] = ends[0];
  const double second = ends.size() > 1 ? ends[1].first : lowest;
  std::vector<double> all;
  for (std::size_t i = 0; i < options.size(); ++i) {
    // What a change of mind is worth: the best falls behind the second, or another one gets ahead
    // of the best.
    const double rival = options[i].number == best ? second : lowest;
    const double change = std::max(lessons[i].change, kLeastChange);
    const double gap = std::abs(lessons[i].prediction.mean - rival);
    all.push_back(std::log(change) + log_improvement(-gap / change) -
                  kCostPower * std::log(options[i].cost));
  }
  return all;
}

std::vector<Found> new_curves(const CurveModel& model, const Space& space, const Features& features,
                              const CurveSearch& sought, Rng& rng) {
  const auto [good, best, doubt] = sought;
  const GaussianProcess& process = model.process();
  const std::size_t d = features.size(), last = model.levels() - 1;
  Acquisition acquisition;
  acquisition.values = [&](std::span<const double> rows) {
    std::vector<double> whole, values;
    for (std::size_t i = 0; i + d <= rows.size(); i += d) {
      append(model.at(rows.subspan(i, d), last), whole);
    }
    for (const auto& [mean, deviation] : process.predict_many(whole)) {
      values.push_back(log_expected_improvement(mean, doubt * deviation, best).value);
    }
    return values;
  };
  const std::size_t inputs = d + CurveModel::kOwnInputs;
  acquisition.climb = [&, by_mean = std::vector<double>(inputs),
                       by_deviation = std::vector<double>(inputs)](
                          std::span<const double> row, std::span<double> gradient) mutable {
    const auto [mean, deviation] = process.predict(model.at(row, last), by_mean, by_deviation);
    const LogImprovement at = log_expected_improvement(mean, doubt * deviation, best);
    for (std::size_t i = 0; i < d; ++i) {
      gradient[i] = at.by_mean * by_mean[i] + at.by_deviation * doubt * by_deviation[i];
    }
    return at.value;
  };
  const auto n = static_cast<double>(process.size());
  const int affordable = static_cast<int>(std::clamp(kWork / (n * n), 40.0, 300.0));
  const SearchSettings settings{
      .candidates = affordable, .neighbours = affordable / 2, .climbs = n > 200 ? 2 : 4};
  return search_acquisition(space, features, acquisition, good, settings, rng);
}

}  // namespace attune
