#include "analysis/posterior.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "analysis/posterior_axis.h"
#include "base/check.h"
#include "math/gp/gaussian_process.h"
#include "math/gp/straighten.h"
#include "space/features.h"
#include "space/middle.h"

namespace attune {
namespace {

// Each evaluation of a fit costs the cube of its rows. The tuner GP also fits the parameters of
// its kernel to 200 rows, and with 25 evaluations where it starts anew.
constexpr std::size_t kMostFitted = 200;
constexpr int kEvaluations = 25;
// Predictions at once: each needs a column of memory as long as the model has rows.
constexpr std::size_t kBatch = 256;

// Results that are worse than the median by more than so many distances between the quartiles count
// as that: how bad a diverged trial is would make everything else look equal. The tuners' own
// limit, in math/gp/straighten.h, counts from the lower quartile to the median. Once most trials
// are near the best that is nothing, and the picture away from it a plateau: measured over two
// parameters, along which 70 % of the trials approach the best, the error was a fifth of the range
// instead of a twenty-fifth.
constexpr double kMostSpreads = 5;

double most_of(std::vector<double> results) {
  std::ranges::sort(results);
  const auto quartile = [&](std::size_t k) { return results[k * (results.size() - 1) / 4]; };
  const double spread = quartile(3) - quartile(1);
  return spread > 0 ? quartile(2) + kMostSpreads * spread : HUGE_VAL;
}

// Whether parameter i is active only with some values of parameter j.
bool depends(const Space& space, std::size_t i, std::size_t j) {
  while (space.params[i].condition) {
    i = space.params[i].condition->parent;
    if (i == j) return true;
  }
  return false;
}

}  // namespace

struct Posterior::Impl {
  Space space;
  PosteriorSettings settings;
  Features features;
  GaussianProcess model;
  std::vector<Point> points = {};         // that are fitted, the best first
  std::vector<std::size_t> members = {};  // the index in the evidence of each
  double centre = 0, unit = 1;

  Impl(const Evidence& evidence, const PosteriorSettings& how)
      : space(evidence.space), settings(how), features(space), model(features.categories()) {}

  void fit(std::span<const double> targets) {
    const std::size_t d = features.size();
    std::vector<double> rows(points.size() * d);
    for (std::size_t k = 0; k < points.size(); ++k) {
      features.encode(points[k], std::span(rows).subspan(k * d, d));
    }
    std::vector<double> some_rows, some_targets;
    for (const std::size_t k : evenly(points.size(), kMostFitted)) {
      const auto row = std::span(rows).subspan(k * d, d);
      some_rows.insert(some_rows.end(), row.begin(), row.end());
      some_targets.push_back(targets[k]);
    }
    model.assign(some_rows, model.initial_parameters());
    model.set_targets(some_targets);
    model.refit(kEvaluations, GaussianProcess::Warping::by_evidence);
    if (some_targets.size() == targets.size()) return;
    const KernelParameters fitted = model.parameters();
    model.assign(rows, fitted);
    model.set_targets(targets);
  }

  Result<std::size_t> index_of(std::string_view path) const {
    const auto found = std::ranges::find(space.params, path, &Param::path);
    if (found != space.params.end()) {
      return static_cast<std::size_t>(found - space.params.begin());
    }
    return fail("the search space has no parameter " + quoted_path(path));
  }

  // The index of a parameter that `at` has a value for.
  Result<std::size_t> active_index_of(std::string_view path, const Point& at) const {
    const std::size_t i = TRY(index_of(path));
    if (at.active(i)) return i;
    if (const auto& condition = space.params[i].condition) {
      return fail(quoted_path(path) + " is not active at this point, where " +
                  quoted_path(space.params[condition->parent].path) + " takes another option");
    }
    return fail(quoted_path(path) + " has no value at this point");
  }

  Result<PosteriorAxis> axis(std::size_t i, std::size_t most) const {
    std::vector<double> values = TRY(axis_values(space.params[i], most));
    return PosteriorAxis{.path = space.params[i].path, .values = std::move(values)};
  }

  // Gives values to what has become active with the options that the point takes, and takes those
  // of what no longer is.
  void complete(Point& point) const {
    for (std::size_t i = 0; i < space.params.size(); ++i) {
      if (!space.params[i].condition) continue;
      if (!is_active(space, point, i)) {
        point.values[i] = Point::kInactive;
      } else if (!point.active(i)) {
        const auto donor =
            std::ranges::find_if(points, [&](const Point& p) { return p.active(i); });
        point.values[i] = donor != points.end() ? donor->values[i] : middle(space.params[i].domain);
      }
    }
  }

  void predict(std::span<const double> rows, PosteriorSlice& slice) const {
    for (const Prediction& p : model.predict_many(rows)) {
      slice.mean.push_back(centre + unit * p.mean);
      slice.deviation.push_back(unit * p.deviation);
    }
  }

  // Predicts at all values of x and, unless y is absent, of y.
  void predict_all(std::size_t x, std::optional<std::size_t> y, PosteriorSlice& slice) const {
    std::vector<double> rows;
    const std::size_t count = std::max<std::size_t>(slice.y.values.size(), 1);
    for (std::size_t j = 0; j < count; ++j) {
      for (const double value : slice.x.values) {
        Point point = slice.at;
        point.values[x] = value;
        if (y) point.values[*y] = slice.y.values[j];
        complete(point);
        const std::vector<double> row = features.encode(point);
        rows.insert(rows.end(), row.begin(), row.end());
        if (rows.size() < kBatch * features.size()) continue;
        predict(rows, slice);
        rows.clear();
      }
    }
    if (!rows.empty()) predict(rows, slice);
  }
};

Posterior::Posterior(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Posterior::Posterior(Posterior&&) noexcept = default;
Posterior& Posterior::operator=(Posterior&&) noexcept = default;
Posterior::~Posterior() = default;

std::size_t Posterior::trials() const { return impl_->points.size(); }
const Point& Posterior::best() const { return impl_->points.front(); }

Result<Posterior> Posterior::fit(const Evidence& evidence, const PosteriorSettings& settings) {
  const std::size_t n = evidence.results.size();
  ATTUNE_CHECK(evidence.points.size() == n && settings.most_trials >= 3);
  if (n < 3) return fail("a model needs at least 3 results; there are " + std::to_string(n));
  auto impl = std::make_unique<Impl>(evidence, settings);
  if (impl->features.size() == 0) return fail("the search space has no parameter that varies");
  const Standardisation all = standardisation(evidence.results, most_of(evidence.results));
  if (!(all.unit > 0)) return fail("all results are equal, so that a model has nothing to show");
  impl->centre = all.centre;
  impl->unit = all.unit;
  std::vector<std::size_t> ranked(n);
  std::iota(ranked.begin(), ranked.end(), 0);
  std::ranges::stable_sort(ranked, {}, [&](std::size_t k) { return evidence.results[k]; });
  std::vector<double> targets;
  for (const std::size_t rank : evenly(n, settings.most_trials)) {
    impl->members.push_back(ranked[rank]);
    impl->points.push_back(evidence.points[ranked[rank]]);
    targets.push_back(all.targets[ranked[rank]]);
  }
  impl->fit(targets);
  return Posterior(std::move(impl));
}

Expectation Posterior::lowest() const {
  const std::vector<double> means = impl_->model.fitted_means();
  const auto best = static_cast<std::size_t>(std::ranges::min_element(means) - means.begin());
  const Prediction at = impl_->model.predict(impl_->features.encode(impl_->points[best]));
  const double noise = std::exp(0.5 * impl_->model.parameters().log_noise);
  return {.trial = impl_->members[best],
          .mean = impl_->centre + impl_->unit * at.mean,
          .mean_deviation = impl_->unit * at.deviation,
          .trial_deviation = impl_->unit * noise};
}

Result<PosteriorSlice> Posterior::slice(std::string_view x, const Point& at) const {
  ATTUNE_CHECK(at.values.size() == impl_->space.params.size());
  const std::size_t i = TRY(impl_->active_index_of(x, at));
  PosteriorSlice slice;
  slice.x = TRY(impl_->axis(i, impl_->settings.most_values));
  slice.at = at;
  impl_->predict_all(i, std::nullopt, slice);
  return slice;
}

Result<PosteriorSlice> Posterior::grid(std::string_view x, std::string_view y,
                                       const Point& at) const {
  ATTUNE_CHECK(at.values.size() == impl_->space.params.size());
  const std::size_t i = TRY(impl_->active_index_of(x, at));
  const std::size_t j = TRY(impl_->active_index_of(y, at));
  if (i == j) return fail("a picture over two parameters needs two: both are " + quoted_path(x));
  for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)}) {
    if (!depends(impl_->space, a, b)) continue;
    return fail(quoted_path(impl_->space.params[a].path) + " is active only with some values of " +
                quoted_path(impl_->space.params[b].path) + ", so that they have no common picture");
  }
  PosteriorSlice slice;
  slice.x = TRY(impl_->axis(i, impl_->settings.most_cells));
  slice.y = TRY(impl_->axis(j, impl_->settings.most_cells));
  slice.at = at;
  impl_->predict_all(i, j, slice);
  return slice;
}

}  // namespace attune
