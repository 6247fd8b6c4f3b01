#include "math/gp/kernel_posterior.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "math/gp/kernel_parameters.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Columns that are handled together.
constexpr Eigen::Index kRowsAtOnce = 32;

std::span<double> as_span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

// The lower triangle of K^-1, given K's lower Cholesky factor. It works in blocks, so that nothing
// is computed above the diagonal of the factor's inverse.
Matrix inverse_of(const Matrix& factor) {
  const Eigen::Index n = factor.rows();
  const auto width = [n](Eigen::Index at) { return std::min(kRowsAtOnce, n - at); };
  Matrix root = Matrix::Identity(n, n);
  for (Eigen::Index i = 0; i < n; i += kRowsAtOnce) {
    auto columns = root.block(i, i, n - i, width(i));
    factor.bottomRightCorner(n - i, n - i).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  Matrix inverse = Matrix::Zero(n, n);
  for (Eigen::Index i = 0; i < n; i += kRowsAtOnce) {
    const Eigen::Index end = i + width(i);
    const auto rows = root.block(i, 0, width(i), end);
    inverse.topLeftCorner(end, end).selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
  }
  return inverse;
}

// Adds the derivatives by the warps. `pairs` has the derivatives by the squared distances of all
// pairs, below the diagonal.
//
// With p = pairs, u the warped positions and s their slopes: half the sum over i and j of p_ij w
// (u_i - u_j)(s_i - s_j) is the sum over i of w (r_i u_i - (p u)_i) s_i, where r are the row sums
// of p.
void add_slopes_by_warps(const WarpedRows& rows, Matrix pairs, std::span<double> gradient) {
  const Eigen::Index m = pairs.rows();
  pairs.diagonal().setZero();
  pairs.triangularView<Eigen::StrictlyUpper>() = pairs.transpose();
  const Vector sums = pairs.rowwise().sum();
  Vector u(m);
  for (std::size_t q = 0; q < rows.dimensions(); ++q) {
    if (!rows.given().is_position(q)) continue;
    std::vector<Warped> at;
    for (Eigen::Index i = 0; i < m; ++i) {
      at.push_back(rows.bent(static_cast<std::size_t>(i), q));
      u[i] = at.back().value;
    }
    const Vector pull = sums.cwiseProduct(u) - pairs * u;
    const double twice = 2 * rows.weight(q);
    for (Eigen::Index i = 0; i < m; ++i) {
      const Warped& slopes = at[static_cast<std::size_t>(i)];
      gradient[rows.dimensions() + 2 + 2 * q] += twice * pull[i] * slopes.by_log_a;
      gradient[rows.dimensions() + 3 + 2 * q] += twice * pull[i] * slopes.by_log_b;
    }
  }
}

}  // namespace

double log_kernel_posterior(WarpedRows& rows, std::span<const double> targets,
                            std::span<const double> p, std::span<double> gradient) {
  const KernelParameters theta = unpack(p, rows.dimensions());
  rows.set(theta);
  const double signal = std::exp(theta.log_signal), noise = std::exp(theta.log_noise);
  const auto m = static_cast<Eigen::Index>(targets.size());
  const Eigen::Map<const Vector> y(targets.data(), m);
  Matrix k(m, m), slope = Matrix::Zero(m, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    Vector r2(m - j);
    rows.squares(rows.seen().row(static_cast<std::size_t>(j)), static_cast<std::size_t>(j),
                 as_span(r2));
    const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
    const Eigen::ArrayXd decay = signal * (-r).exp();
    k.col(j).tail(m - j) = ((1 + r + (5.0 / 3) * r2.array()) * decay).matrix();
    slope.col(j).tail(m - j) = ((-5.0 / 6) * (1 + r) * decay).matrix();  // by r^2
    k(j, j) = signal * (1 + kJitter) + noise;
  }
  Eigen::LLT<Eigen::Ref<Matrix>> llt(k);
  if (llt.info() != Eigen::Success) return std::numeric_limits<double>::quiet_NaN();
  const auto l = k.triangularView<Eigen::Lower>();
  Vector a = y;
  l.solveInPlace(a);
  const double fit = a.squaredNorm();
  k.transpose().triangularView<Eigen::Upper>().solveInPlace(a);
  double value = -0.5 * fit - k.diagonal().array().log().sum();

  Matrix w = inverse_of(k);
  w.selfadjointView<Eigen::Lower>().rankUpdate(a, -1.0);
  // d value / d t = -1/2 sum_ij w_ij dK_ij/dt; w = K^-1 - a a^T
  std::ranges::fill(gradient, 0.0);
  const std::size_t dims = rows.dimensions();
  for (Eigen::Index j = 0; j < m; ++j) {
    Vector v = w.col(j).tail(m - j - 1).cwiseProduct(slope.col(j).tail(m - j - 1));
    const auto x = rows.seen().row(static_cast<std::size_t>(j));
    for (std::size_t q = 0; q < dims; ++q) {
      gradient[q] -= rows.weight(q) * rows.seen().weigh_squares(
                                          q, x[q], static_cast<std::size_t>(j) + 1, as_span(v));
    }
  }
  if (!theta.warps.empty()) add_slopes_by_warps(rows, -w.cwiseProduct(slope), gradient);
  const double trace = w.diagonal().sum();
  // By the signal: the trace of w K, without the part that the noise adds to K's diagonal.
  const double total = static_cast<double>(m) - y.dot(a);
  gradient[dims] = -0.5 * (total - noise * trace);
  gradient[dims + 1] = -0.5 * noise * trace;
  return value + log_kernel_prior(rows.given(), p, gradient);
}

}  // namespace attune
