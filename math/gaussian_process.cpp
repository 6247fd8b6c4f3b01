#include "math/gaussian_process.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "math/maximise.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kSqrt5 = 2.2360679774997896964;
constexpr double kJitter =
    1e-8;  // of the signal's variance, on the diagonal: Cholesky must succeed
constexpr Eigen::Index kBlock = 32;  // columns that are worked on together

// The lower triangle of K^-1, given K's lower Cholesky factor. In blocks, so that of the inverse of
// the factor nothing is computed or multiplied that is above its diagonal.
Matrix inverse_of(const Matrix& factor) {
  const Eigen::Index n = factor.rows();
  const auto width = [n](Eigen::Index at) { return std::min(kBlock, n - at); };
  Matrix root = Matrix::Identity(n, n);
  for (Eigen::Index i = 0; i < n; i += kBlock) {
    auto columns = root.block(i, i, n - i, width(i));
    factor.bottomRightCorner(n - i, n - i).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  Matrix inverse = Matrix::Zero(n, n);
  for (Eigen::Index i = 0; i < n; i += kBlock) {
    const Eigen::Index end = i + width(i);
    const auto rows = root.block(i, 0, width(i), end);
    inverse.topLeftCorner(end, end).selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
  }
  return inverse;
}

std::span<double> span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace

struct GaussianProcess::Impl {
  MixedRows rows;
  KernelParameters theta;
  double signal = 1, noise = 0.01;
  Vector weights;
  Matrix factor;  // lower Cholesky factor in the first size() rows and columns; the rest is room
  std::size_t assigned = 0;
  Vector y, alpha;

  double least_noise;

  Impl(std::vector<std::size_t> categories, double noise_floor)
      : rows(std::move(categories)), least_noise(noise_floor) {}

  Eigen::Index n() const { return static_cast<Eigen::Index>(rows.size()); }
  Eigen::Index d() const { return static_cast<Eigen::Index>(rows.dimensions()); }
  // In place: the first k rows of v become L^-1 v, or L^-T v.
  template <class V>
  void solve_lower(Eigen::Index k, V& v) const {
    if (k > 0) factor.topLeftCorner(k, k).triangularView<Eigen::Lower>().solveInPlace(v);
  }
  template <class V>
  void solve_upper(Eigen::Index k, V& v) const {
    if (k > 0)
      factor.topLeftCorner(k, k).transpose().triangularView<Eigen::Upper>().solveInPlace(v);
  }

  // Weighted squared distances of x to `out.size()` rows from `from` on.
  void squares(std::span<const double> x, std::size_t from, std::span<double> out) const {
    std::ranges::fill(out, 0.0);
    for (std::size_t k = 0; k < rows.dimensions(); ++k) {
      rows.add_squares(k, x[k], weights[static_cast<Eigen::Index>(k)], from, out);
    }
  }

  // In place: squared distances to covariances.
  template <class V>
  void covariances(V&& r2) const {
    const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
    r2 = (signal * (1 + r + (5.0 / 3) * r2.array()) * (-r).exp()).matrix();
  }

  void set_theta(const KernelParameters& parameters) {
    theta = parameters;
    signal = std::exp(theta.log_signal);
    noise = std::exp(theta.log_noise);
    weights.resize(d());
    for (Eigen::Index k = 0; k < d(); ++k) {
      weights[k] = std::exp(theta.log_weights[static_cast<std::size_t>(k)]);
    }
  }

  void grow(Eigen::Index size) {
    if (factor.rows() >= size) return;
    Matrix larger = Matrix::Zero(std::max<Eigen::Index>(size, 2 * factor.rows()),
                                 std::max<Eigen::Index>(size, 2 * factor.rows()));
    larger.topLeftCorner(factor.rows(), factor.cols()) = factor;
    factor = std::move(larger);
  }

  double diagonal() const { return signal * (1 + kJitter) + noise; }

  // The row of the factor for row i, given those before it.
  void extend(Eigen::Index i) {
    grow(i + 1);
    Vector k(i);
    const auto x = rows.row(static_cast<std::size_t>(i));
    squares(x, 0, span(k));
    covariances(k);
    solve_lower(i, k);
    factor.row(i).head(i) = k.transpose();
    factor(i, i) = std::sqrt(std::max(diagonal() - k.squaredNorm(), kJitter * signal));
  }

  void refactor() {
    assigned = rows.size();
    grow(n());
    for (Eigen::Index j = 0; j < n(); ++j) {
      Vector column(n() - j);
      squares(rows.row(static_cast<std::size_t>(j)), static_cast<std::size_t>(j), span(column));
      covariances(column);
      factor.col(j).segment(j, n() - j) = column;
      factor(j, j) = diagonal();
    }
    Eigen::Ref<Matrix> square = factor.topLeftCorner(n(), n());
    Eigen::LLT<Eigen::Ref<Matrix>> in_place(square);
    ATTUNE_CHECK(in_place.info() == Eigen::Success);
  }

  // These rows, and no targets.
  void assign(std::span<const double> values, std::size_t count, const KernelParameters& t) {
    const std::size_t d = rows.dimensions();
    rows.resize(0);
    for (std::size_t i = 0; i < count; ++i) rows.append(values.subspan(i * d, d));
    y.resize(0);
    alpha.resize(0);
    const Box box = limits();
    std::vector<double> p = pack(t);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::clamp(p[i], box.low[i], box.high[i]);
    set_theta(unpack(p));
    refactor();
  }

  void append(std::span<const double> row) {
    rows.append(row);
    extend(n() - 1);
  }

  void set_targets(std::span<const double> targets) {
    ATTUNE_CHECK(targets.size() <= rows.size());
    y = Eigen::Map<const Vector>(targets.data(), static_cast<Eigen::Index>(targets.size()));
    solve();
  }

  void solve() {
    alpha = y;
    solve_lower(y.size(), alpha);
    solve_upper(y.size(), alpha);
  }

  // Log posterior density of the parameters packed in p up to a constant, with gradient.
  double objective(std::span<const double> p, std::span<double> gradient);

  Box limits() const { return kernel_limits(rows.dimensions(), least_noise); }
};

double GaussianProcess::Impl::objective(std::span<const double> p, std::span<double> gradient) {
  set_theta(unpack(p));
  const Eigen::Index m = y.size();
  Matrix k(m, m), slope(m, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    Vector r2(m - j);
    squares(rows.row(static_cast<std::size_t>(j)), static_cast<std::size_t>(j), span(r2));
    const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
    const Eigen::ArrayXd decay = signal * (-r).exp();
    k.col(j).tail(m - j) = ((1 + r + (5.0 / 3) * r2.array()) * decay).matrix();
    slope.col(j).tail(m - j) = ((-5.0 / 6) * (1 + r) * decay).matrix();  // by r^2
    k(j, j) = diagonal();
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
    const auto x = rows.row(static_cast<std::size_t>(j));
    for (std::size_t q = 0; q < dims; ++q) {
      gradient[q] -= weights[static_cast<Eigen::Index>(q)] *
                     rows.weigh_squares(q, x[q], static_cast<std::size_t>(j) + 1, span(v));
    }
  }
  const double trace = w.diagonal().sum();
  // Of the signal: the trace of w K, less what is noise on K's diagonal.
  const double total = static_cast<double>(m) - y.dot(a);
  gradient[dims] = -0.5 * (total - noise * trace);
  gradient[dims + 1] = -0.5 * noise * trace;
  return value + log_kernel_prior(rows, p, gradient);
}

GaussianProcess::GaussianProcess(std::vector<std::size_t> categories, double least_noise)
    : impl_(std::make_unique<Impl>(std::move(categories), least_noise)) {
  impl_->set_theta(initial_parameters());
}

KernelParameters GaussianProcess::initial_parameters() const {
  return {std::vector<double>(dimensions(), 0.0), 0, std::max(-4.0, std::log(impl_->least_noise))};
}
GaussianProcess::GaussianProcess(const GaussianProcess& other)
    : impl_(std::make_unique<Impl>(*other.impl_)) {}
GaussianProcess& GaussianProcess::operator=(const GaussianProcess& other) {
  *impl_ = *other.impl_;
  return *this;
}
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

std::size_t GaussianProcess::size() const { return impl_->rows.size(); }
std::size_t GaussianProcess::dimensions() const { return impl_->rows.dimensions(); }
std::size_t GaussianProcess::assigned() const { return impl_->assigned; }
const MixedRows& GaussianProcess::rows() const { return impl_->rows; }
const KernelParameters& GaussianProcess::parameters() const { return impl_->theta; }

void GaussianProcess::assign(std::span<const double> rows, const KernelParameters& parameters) {
  impl_->assign(rows, dimensions() > 0 ? rows.size() / dimensions() : 0, parameters);
}

void GaussianProcess::append(std::span<const double> row) { impl_->append(row); }

void GaussianProcess::resize(std::size_t n) {
  impl_->rows.resize(n);
  const bool fewer_targets = impl_->y.size() > impl_->n();
  // A factor of more rows has other bits in these than that of these alone, which load() makes.
  const bool fewer_assigned = impl_->assigned > n;
  if (fewer_targets) impl_->y.conservativeResize(impl_->n());
  if (fewer_assigned) impl_->refactor();
  if (fewer_targets || fewer_assigned) impl_->solve();
}

void GaussianProcess::set_targets(std::span<const double> y) { impl_->set_targets(y); }

void GaussianProcess::fit(int evaluations, std::span<const KernelParameters> starts) {
  const Box box = impl_->limits();
  const auto objective = [this](std::span<const double> p, std::span<double> g) {
    return impl_->objective(p, g);
  };
  Maximum best = maximise(objective, box, pack(impl_->theta), evaluations, 1e-3);
  for (const KernelParameters& start : starts) {
    Maximum other = maximise(objective, box, pack(start), evaluations, 1e-3);
    if (other.value > best.value) best = std::move(other);
  }
  impl_->set_theta(unpack(best.x));
  impl_->refactor();
  impl_->solve();
}

double GaussianProcess::log_posterior(const KernelParameters& parameters,
                                      std::span<double> gradient) const {
  Impl copy = *impl_;
  return copy.objective(pack(parameters), gradient);
}

std::vector<double> GaussianProcess::fitted_means() const {
  // K a = y, and the mean is (K - D) a, D the diagonal of noise and jitter.
  const Vector means = impl_->y - (impl_->noise + kJitter * impl_->signal) * impl_->alpha;
  return {means.begin(), means.end()};
}

Prediction GaussianProcess::predict(std::span<const double> row) const {
  return predict_many(row)[0];
}

std::vector<Prediction> GaussianProcess::predict_many(std::span<const double> points) const {
  const std::size_t d = dimensions();
  // Without dimensions there is one point.
  const auto count = static_cast<Eigen::Index>(d > 0 ? points.size() / d : 1);
  Matrix k(impl_->n(), count);
  for (Eigen::Index c = 0; c < count; ++c) {
    impl_->squares(points.subspan(static_cast<std::size_t>(c) * d, d), 0,
                   {k.col(c).data(), size()});
    impl_->covariances(k.col(c));
  }
  const Vector means = k.topRows(impl_->alpha.size()).transpose() * impl_->alpha;
  impl_->solve_lower(impl_->n(), k);
  std::vector<Prediction> all;
  for (Eigen::Index c = 0; c < count; ++c) {
    const double variance = impl_->signal * (1 + kJitter) - k.col(c).squaredNorm();
    all.push_back({means[c], std::sqrt(std::max(variance, kJitter * impl_->signal))});
  }
  return all;
}

Prediction GaussianProcess::predict(std::span<const double> row, std::span<double> mean_gradient,
                                    std::span<double> deviation_gradient) const {
  const Impl& m = *impl_;
  Vector r2(m.n());
  m.squares(row, 0, span(r2));
  const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
  const Eigen::ArrayXd decay = m.signal * (-r).exp();
  Vector k = ((1 + r + (5.0 / 3) * r2.array()) * decay).matrix();
  const Vector slope = ((-5.0 / 3) * (1 + r) * decay).matrix();
  Vector v = k;
  m.solve_lower(m.n(), v);
  const double variance = std::max(m.signal * (1 + kJitter) - v.squaredNorm(), kJitter * m.signal);
  const double deviation = std::sqrt(variance);
  m.solve_upper(m.n(), v);
  const Eigen::Index t = m.alpha.size();
  Vector by_mean = m.alpha.cwiseProduct(slope.head(t));
  Vector by_deviation = -v.cwiseProduct(slope) / deviation;
  for (std::size_t q = 0; q < row.size(); ++q) {
    mean_gradient[q] = deviation_gradient[q] = 0;
    if (!m.rows.is_position(q)) continue;
    const double w = m.weights[static_cast<Eigen::Index>(q)];
    mean_gradient[q] = w * m.rows.weigh_differences(q, row[q], span(by_mean));
    deviation_gradient[q] = w * m.rows.weigh_differences(q, row[q], span(by_deviation));
  }
  return {m.alpha.dot(k.head(t)), deviation};
}

json GaussianProcess::save() const {
  return {{"parameters", save_numbers(pack(impl_->theta))}, {"fitted_rows", impl_->assigned}};
}

Result<void> GaussianProcess::load(const json& state, std::span<const double> rows,
                                   std::span<const double> targets) {
  const auto parameters = TRY(numbers_at(state, "parameters"));
  const auto assigned = static_cast<double>(TRY(integer_at(state, "fitted_rows")));
  const std::size_t d = dimensions(), n = d > 0 ? rows.size() / d : targets.size();
  if (parameters.size() != d + 2 || !is_index(assigned, static_cast<double>(n + 1)) ||
      !std::ranges::all_of(parameters, [](double x) { return std::abs(x) <= 100; })) {
    return fail("saved state: a model that does not fit its results");
  }
  // In the steps in which it came to be: a row that is appended has other bits than one of many.
  Impl loaded = *impl_;
  const auto first = static_cast<std::size_t>(assigned);
  loaded.assign(rows, first, unpack(parameters));
  for (std::size_t i = first; i < n; ++i) loaded.append(rows.subspan(i * d, d));
  loaded.set_targets(targets);
  *impl_ = std::move(loaded);
  return {};
}

}  // namespace attune
