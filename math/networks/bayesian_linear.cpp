#include "math/networks/bayesian_linear.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "math/maximise.h"
#include "math/networks/eigen_index.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using ConstMatrixMap = Eigen::Map<const Matrix>;

// Limits of the logarithms, and means and deviations of their priors, for targets with variance 1.
// The prior of the noise is that of the Gaussian process.
const Box kLimits = {{-7, 0}, {7, std::log(1e6)}};
constexpr double kPriorMean = 0, kPriorDeviation = 2;
constexpr double kNoiseMean = 8, kNoiseDeviation = 3;
constexpr int kEvaluations = 40;
constexpr double kLeastDeviation = 1e-6;
constexpr double kMostSaved = 1e100;  // limit for a saved posterior; real ones are far below

ConstMatrixMap columns_of(std::span<const double> rows, std::size_t size) {
  return {rows.data(), index(size), index(rows.size() / size)};
}

// The observations in the eigenbasis of phi^T phi. There every quantity is a sum of m terms, so
// trying other precisions is cheap.
struct Spectrum {
  Vector values;  // lambda
  Matrix vectors;
  Vector projected;    // of phi^T y
  double squares = 0;  // y^T y
  double count = 0;

  Spectrum(std::span<const double> rows, std::span<const double> targets) {
    const std::size_t m = rows.size() / targets.size();
    const auto phi = columns_of(rows, m);
    const Eigen::Map<const Vector> y(targets.data(), index(targets.size()));
    Matrix gram = Matrix::Zero(index(m), index(m));
    gram.selfadjointView<Eigen::Lower>().rankUpdate(phi);
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(gram);
    ATTUNE_CHECK(solver.info() == Eigen::Success);
    values = solver.eigenvalues().cwiseMax(0);
    vectors = solver.eigenvectors();
    projected = vectors.transpose() * (phi * y);
    squares = y.squaredNorm();
    count = static_cast<double>(targets.size());
  }

  double log_evidence(double log_alpha, double log_beta, std::span<double> gradient) const {
    const double alpha = std::exp(log_alpha), beta = std::exp(log_beta);
    const auto m = static_cast<double>(values.size());
    const Eigen::ArrayXd precision = alpha + beta * values.array();
    const Eigen::ArrayXd weight = beta * projected.array() / precision;  // the mean
    const double explained = (weight * projected.array()).sum();
    const double error =
        std::max(squares - 2 * explained + (weight.square() * values.array()).sum(), 0.0);
    const double size = weight.square().sum();
    gradient[0] = 0.5 * (m - (alpha / precision).sum() - alpha * size);
    gradient[1] = 0.5 * (count - (beta * values.array() / precision).sum() - beta * error);
    return 0.5 * (m * log_alpha + count * log_beta - beta * error - alpha * size -
                  precision.log().sum() - count * std::log(2 * std::numbers::pi));
  }
};

Precisions most_likely(const Spectrum& spectrum) {
  const auto objective = [&](std::span<const double> p, std::span<double> gradient) {
    double value = spectrum.log_evidence(p[0], p[1], gradient);
    const auto add = [&](std::size_t i, double mean, double deviation) {
      const double z = (p[i] - mean) / deviation;
      value -= 0.5 * z * z;
      gradient[i] -= z / deviation;
    };
    add(0, kPriorMean, kPriorDeviation);
    add(1, kNoiseMean, kNoiseDeviation);
    return value;
  };
  // The density may have two maxima: little noise, or nothing but noise.
  Maximum best = maximise(objective, kLimits, {0, 6}, kEvaluations, 1e-4);
  Maximum other = maximise(objective, kLimits, {0, 1}, kEvaluations, 1e-4);
  if (other.value > best.value) best = std::move(other);
  return {best.x[0], best.x[1]};
}

}  // namespace

void BayesianLinear::fit(std::span<const double> rows, std::span<const double> targets,
                         std::optional<Precisions> given) {
  ATTUNE_CHECK(!targets.empty() && rows.size() == targets.size() * size_);
  const Spectrum spectrum(rows, targets);
  precisions_ = given ? *given : most_likely(spectrum);
  const double alpha = std::exp(precisions_.log_prior), beta = std::exp(precisions_.log_noise);
  const Eigen::ArrayXd precision = alpha + beta * spectrum.values.array();
  const Vector mean = spectrum.vectors * (beta * spectrum.projected.array() / precision).matrix();
  const Matrix root = spectrum.vectors * precision.rsqrt().matrix().asDiagonal();
  mean_.assign(mean.begin(), mean.end());
  root_.assign(root.data(), root.data() + root.size());
}

void BayesianLinear::confirm(std::span<const double> rows, double log_noise) {
  if (rows.empty()) return;
  // Confirming adds beta phi phi^T to the precision of the weights. In the coordinates that root_
  // maps to the weights, the precision is the identity, and that of the mapped rows is added.
  Eigen::Map<Matrix> root(root_.data(), index(size_), index(size_));
  const Matrix mapped = root.transpose() * columns_of(rows, size_);
  Matrix precision = Matrix::Identity(index(size_), index(size_));
  precision.selfadjointView<Eigen::Lower>().rankUpdate(mapped, std::exp(log_noise));
  const Eigen::LLT<Matrix> factor(precision);
  ATTUNE_CHECK(factor.info() == Eigen::Success);
  const Matrix less = factor.matrixL().solve(root.transpose());
  root = less.transpose();
}

std::vector<BayesianLinear::Prediction> BayesianLinear::predict_many(
    std::span<const double> rows) const {
  const auto phi = columns_of(rows, size_);
  const Eigen::Map<const Vector> mean(mean_.data(), index(size_));
  const Vector means = phi.transpose() * mean;
  const Matrix mapped = columns_of(root_, size_).transpose() * phi;
  std::vector<Prediction> all;
  all.reserve(static_cast<std::size_t>(phi.cols()));
  for (Eigen::Index i = 0; i < phi.cols(); ++i) {
    all.push_back({means[i], std::max(mapped.col(i).norm(), kLeastDeviation)});
  }
  return all;
}

BayesianLinear::Prediction BayesianLinear::predict(std::span<const double> row,
                                                   std::span<double> mean_gradient,
                                                   std::span<double> deviation_gradient) const {
  const auto root = columns_of(root_, size_);
  const Vector mapped = root.transpose() * columns_of(row, size_);
  const double deviation = std::max(mapped.norm(), kLeastDeviation);
  Eigen::Map<Vector>(deviation_gradient.data(), index(size_)) = root * mapped / deviation;
  std::ranges::copy(mean_, mean_gradient.begin());
  const Eigen::Map<const Vector> phi(row.data(), index(size_));
  return {phi.dot(Eigen::Map<const Vector>(mean_.data(), index(size_))), deviation};
}

json BayesianLinear::save() const {
  if (mean_.empty()) return save_numbers({});
  std::vector<double> all = {precisions_.log_prior, precisions_.log_noise};
  all.insert(all.end(), mean_.begin(), mean_.end());
  all.insert(all.end(), root_.begin(), root_.end());
  return save_numbers(all);
}

Result<void> BayesianLinear::load(const json& state) {
  const auto all = TRY(numbers(state));
  BayesianLinear loaded(size_);
  if (!all.empty()) {
    if (all.size() != 2 + size_ + size_ * size_ ||
        !std::ranges::all_of(all, [](double x) { return std::abs(x) <= kMostSaved; })) {
      return fail("saved state: not the weights of such a regression");
    }
    const auto mean = std::span(all).subspan(2, size_), root = std::span(all).subspan(2 + size_);
    loaded.precisions_ = {all[0], all[1]};
    loaded.mean_.assign(mean.begin(), mean.end());
    loaded.root_.assign(root.begin(), root.end());
  }
  *this = std::move(loaded);
  return {};
}

double log_evidence(std::span<const double> rows, std::span<const double> targets,
                    Precisions precisions, std::span<double> gradient) {
  return Spectrum(rows, targets).log_evidence(precisions.log_prior, precisions.log_noise, gradient);
}

}  // namespace attune
