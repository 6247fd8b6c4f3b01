#include "math/cma_es/cma_es.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Eigen::Index;

constexpr double kWorstCondition = 1e14;  // of C; the limit of the tutorial

auto as_vector(std::vector<double>& x) {
  return Eigen::Map<Vector>(x.data(), static_cast<Index>(x.size()));
}
auto as_vector(const std::vector<double>& x) {
  return Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
}
auto as_matrix(std::vector<double>& x, std::size_t n) {
  return Eigen::Map<Matrix>(x.data(), static_cast<Index>(n), static_cast<Index>(n));
}

// The mean length of a standard normal vector.
double mean_length(double n) { return std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)); }

}  // namespace

CmaEs::CmaEs(const CmaStart& start, CmaCells cells)
    : cells_(std::move(cells)),
      diagonal_(start.diagonal),
      population_(start.population),
      rates_(cma_rates(start.mean.size(), start.population, start.diagonal)),
      mean_(start.mean),
      sigma_(start.sigma),
      first_sigma_(start.sigma) {
  const std::size_t n = mean_.size();
  ATTUNE_CHECK(cells_.size() == n);
  ATTUNE_CHECK(start.covariance.empty() || start.covariance.size() == (start.diagonal ? n : n * n));
  scales_.assign(n, 1);
  step_path_.assign(n, 0);
  path_.assign(n, 0);
  if (!start.covariance.empty()) {
    covariance_ = start.covariance;
  } else if (diagonal_) {
    covariance_.assign(n, 1);
  } else {
    covariance_.assign(n * n, 0);
    as_matrix(covariance_, n).setIdentity();
  }
  apply_margin();
}

double CmaEs::variance(std::size_t i) const {
  return covariance_[diagonal_ ? i : i * mean_.size() + i];
}

double CmaEs::deviation(std::size_t i) const {
  return sigma_ * scales_[i] * std::sqrt(variance(i));
}

// Rounding can make eigenvalues zero or negative. They are raised to tiny positive ones;
// is_exhausted() then sees the bad condition.
void CmaEs::decompose() {
  if (decomposed_) return;
  const std::size_t n = mean_.size();
  lengths_.assign(n, 1);
  if (diagonal_) {
    lengths_ = covariance_;
  } else {
    basis_.assign(n * n, 0);
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(as_matrix(covariance_, n));
    if (solver.info() == Eigen::Success) {
      as_vector(lengths_) = solver.eigenvalues();
      as_matrix(basis_, n) = solver.eigenvectors();
    } else {
      as_matrix(basis_, n).setIdentity();
    }
  }
  const double least = std::ranges::max(lengths_) * 1e-16;
  for (double& length : lengths_) length = std::sqrt(std::max({length, least, 1e-300}));
  decomposed_ = true;
}

std::vector<double> CmaEs::sample(Rng& rng) {
  decompose();
  const std::size_t n = mean_.size();
  std::vector<double> z(n);
  for (std::size_t i = 0; i < n; ++i) z[i] = lengths_[i] * rng.normal();
  std::vector<double> x = diagonal_ ? z : std::vector<double>(n);
  if (!diagonal_) as_vector(x).noalias() = as_matrix(basis_, n) * as_vector(z);
  for (std::size_t i = 0; i < n; ++i) x[i] = mean_[i] + sigma_ * scales_[i] * x[i];
  return x;
}

// One generation, in the order of the papers. It is one function, because its parts would share
// nearly all of their variables.
// NOLINTNEXTLINE(readability-function-size)
void CmaEs::update(std::span<const CmaResult> ranked) {
  decompose();
  const std::size_t size = mean_.size();
  const auto n = static_cast<double>(size);
  const auto rows = static_cast<Index>(size);
  const auto columns = static_cast<Index>(ranked.size());
  // The weights depend on the number of results, which differs between generations.
  if (rates_.weights.size() != ranked.size()) rates_ = cma_rates(size, ranked.size(), diagonal_);

  // Steps y, and the same in the eigenbasis with unit deviations.
  Matrix steps(rows, columns), whitened(rows, columns);
  const auto lengths = as_vector(lengths_);
  const auto factors = (sigma_ * as_vector(scales_).array()).eval();
  for (Index k = 0; k < columns; ++k) {
    const CmaResult& result = ranked[static_cast<std::size_t>(k)];
    ATTUNE_CHECK(result.x.size() == size);
    steps.col(k) = (as_vector(result.x) - as_vector(mean_)).array() / factors;
  }
  if (diagonal_) {
    whitened = lengths.cwiseInverse().asDiagonal() * steps;
  } else {
    whitened.noalias() = as_matrix(basis_, size).transpose() * steps;
    whitened = lengths.cwiseInverse().asDiagonal() * whitened;
  }
  // An injected step is cut to about the length of a draw (Hansen 2011, section 3).
  const double longest = std::sqrt(n) + 2 * n / (n + 2);
  for (Index k = 0; k < columns; ++k) {
    const double length = whitened.col(k).norm();
    if (!ranked[static_cast<std::size_t>(k)].injected || length <= longest) continue;
    steps.col(k) *= longest / length;
    whitened.col(k) *= longest / length;
  }

  // The weighted mean of the best steps moves the mean.
  Vector step = Vector::Zero(rows), white_step = Vector::Zero(rows);
  for (std::size_t k = 0; k < rates_.parents; ++k) {
    const auto column = static_cast<Index>(k);
    const double weight = rates_.weights[k];
    step += weight * steps.col(column);
    white_step += weight * whitened.col(column);
    const std::vector<bool>& active = ranked[k].active;
    for (std::size_t i = 0; i < size; ++i) {
      if (!active.empty() && !active[i]) continue;
      const auto row = static_cast<Index>(i);
      mean_[i] += factors[row] * weight * steps(row, column);
    }
  }

  // p_sigma: the same step, made isotropic by C^(-1/2).
  const double keep = 1 - rates_.step_path;
  const double gain = std::sqrt(rates_.step_path * (1 + keep) * rates_.effective);
  auto step_path = as_vector(step_path_);
  if (diagonal_) {
    step_path = keep * step_path + gain * white_step;
  } else {
    step_path = keep * step_path + gain * (as_matrix(basis_, size) * white_step);
  }
  ++generations_;
  const double length = step_path.norm() / mean_length(n);
  // The path is too long for so many generations (h_sigma is 0 in the paper): the covariance must
  // not learn from it.
  const bool too_long =
      length / std::sqrt(1 - std::pow(keep, 2 * generations_)) >= 1.4 + 2 / (n + 1);
  const double cc = rates_.covariance_path;
  auto path = as_vector(path_);
  path *= 1 - cc;
  if (!too_long) path += std::sqrt(cc * (2 - cc) * rates_.effective) * step;

  // Replaces the variance that path_ did not get because of that.
  const double lost = too_long ? rates_.rank_one * cc * (2 - cc) : 0;
  const double rest = 1 + lost - rates_.rank_one - rates_.rank_mu * rates_.weight_sum;
  Vector weights(columns);
  for (Index k = 0; k < columns; ++k) {
    // A negative weight is scaled by the inverse squared length of its step: a long bad step could
    // otherwise make the covariance indefinite.
    const double weight = rates_.weights[static_cast<std::size_t>(k)];
    const double square = whitened.col(k).squaredNorm();
    weights[k] = rates_.rank_mu * (weight >= 0 ? weight : weight * n / std::max(square, 1e-8));
  }
  if (diagonal_) {
    auto variances = as_vector(covariance_).array();
    variances = rest * variances + rates_.rank_one * path.array().square() +
                (steps.array().square().matrix() * weights).array();
    variances = variances.max(1e-300);
  } else {
    auto covariance = as_matrix(covariance_, size);
    const Matrix change = steps * weights.asDiagonal() * steps.transpose();
    covariance = rest * covariance + rates_.rank_one * path * path.transpose() + change;
    // Rounding must not make it unsymmetric.
    covariance = (0.5 * (covariance + covariance.transpose())).eval();
  }
  // The step grows at most by a factor of e in a generation, as in pycma: a single generation is
  // little evidence.
  sigma_ *= std::exp(std::min(1.0, rates_.step_path / rates_.damping * (length - 1)));
  decomposed_ = false;
  apply_margin();
}

void CmaEs::bound_mean(double low, double high) {
  for (double& x : mean_) x = std::clamp(x, low, high);
}

bool CmaEs::is_exhausted() {
  decompose();
  const auto [shortest, longest] = std::ranges::minmax(lengths_);
  if (!(longest / shortest < std::sqrt(kWorstCondition))) return true;
  if (!(sigma_ * longest < 1e4 * first_sigma_)) return true;
  bool moves = false;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double deviation = sigma_ * std::sqrt(variance(i));
    moves |= std::max(deviation, sigma_ * std::abs(path_[i])) >= 1e-12 * first_sigma_;
    if (!cells_[i].empty()) continue;  // its margin keeps it moving
    if (mean_[i] + 0.2 * deviation == mean_[i]) return true;
  }
  return !moves;
}

json CmaEs::save() const {
  return {{"mean", save_numbers(mean_)},     {"sigma", sigma_},
          {"first_sigma", first_sigma_},     {"covariance", save_numbers(covariance_)},
          {"scales", save_numbers(scales_)}, {"step_path", save_numbers(step_path_)},
          {"path", save_numbers(path_)},     {"generations", generations_}};
}

Result<CmaEs> CmaEs::load(const json& state, CmaCells cells, bool diagonal,
                          std::size_t population) {
  const std::size_t n = cells.size();
  const auto all = [](const std::vector<double>& x, auto&& is_good) {
    return std::ranges::all_of(x, is_good);
  };
  const auto finite = [](double x) { return std::isfinite(x); };
  const auto positive = [](double x) { return std::isfinite(x) && x > 0; };
  auto mean = TRY(numbers_at(state, "mean"));
  if (mean.size() != n || !all(mean, finite)) return fail("saved state: cma: impossible mean");
  CmaEs loaded({std::move(mean), 1, {}, diagonal, population}, std::move(cells));
  loaded.sigma_ = TRY(number_at(state, "sigma"));
  loaded.first_sigma_ = TRY(number_at(state, "first_sigma"));
  loaded.generations_ = TRY(number_at(state, "generations"));
  const auto covariance = TRY(numbers_at(state, "covariance"));
  const auto scales = TRY(numbers_at(state, "scales"));
  const auto step_path = TRY(numbers_at(state, "step_path"));
  const auto path = TRY(numbers_at(state, "path"));
  if (covariance.size() != loaded.covariance_.size() || scales.size() != n ||
      step_path.size() != n || path.size() != n) {
    return fail("saved state: cma: numbers of another space");
  }
  loaded.covariance_ = covariance;
  for (std::size_t i = 0; i < n; ++i) {
    if (!positive(loaded.variance(i))) return fail("saved state: cma: impossible covariance");
  }
  if (!positive(loaded.sigma_) || !positive(loaded.first_sigma_) || !all(covariance, finite) ||
      !all(scales, positive) || !all(step_path, finite) || !all(path, finite) ||
      !is_whole(loaded.generations_) || loaded.generations_ < 0) {
    return fail("saved state: cma: impossible numbers");
  }
  // The constructor may have moved the means of coordinates with a margin.
  loaded.mean_ = TRY(numbers_at(state, "mean"));
  loaded.scales_ = scales;
  loaded.step_path_ = step_path;
  loaded.path_ = path;
  loaded.decomposed_ = false;
  return loaded;
}

}  // namespace attune
