#include "math/gp/gaussian_process.h"

#define EIGEN_MPL2_ONLY
#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/saved_numbers.h"
#include "math/gp/kernel_posterior.h"
#include "math/gp/warped_rows.h"
#include "math/maximise.h"

namespace attune {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Warps must increase the logarithm of the posterior density by this: by a factor of 400. The prior
// already accounts for the number of their parameters.
constexpr double kEvidence = 6;

std::span<double> span(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace

struct GaussianProcess::Impl {
  WarpedRows rows;
  KernelParameters theta;
  double signal = 1, noise = 0.01;
  Matrix factor;  // lower Cholesky factor in the first size() rows and columns; the rest is room
  std::size_t assigned = 0;
  Vector y, alpha;

  double least_noise;

  Impl(const std::vector<std::size_t>& categories, double noise_floor)
      : rows(categories), least_noise(noise_floor) {}

  Eigen::Index n() const { return static_cast<Eigen::Index>(rows.size()); }
  std::size_t dimensions() const { return rows.dimensions(); }
  // Replace the first k rows of v by L^-1 v, or by L^-T v.
  template <class V>
  void solve_lower(Eigen::Index k, V& v) const {
    if (k > 0) factor.topLeftCorner(k, k).triangularView<Eigen::Lower>().solveInPlace(v);
  }
  template <class V>
  void solve_upper(Eigen::Index k, V& v) const {
    if (k > 0)
      factor.topLeftCorner(k, k).transpose().triangularView<Eigen::Upper>().solveInPlace(v);
  }

  // The covariances of the rows of the model (of k) with the points (columns of the result).
  Matrix covariances_with(std::span<const double> points) const {
    const std::size_t d = rows.dimensions();
    const auto count = static_cast<Eigen::Index>(d > 0 ? points.size() / d : 1);
    Matrix k(n(), count);
    for (Eigen::Index c = 0; c < count; ++c) {
      const auto x = rows.seen(points.subspan(static_cast<std::size_t>(c) * d, d));
      rows.squares(x, 0, {k.col(c).data(), rows.size()});
      covariances(k.col(c));
    }
    return k;
  }

  // The covariance of two points as the kernel sees them. `one` has the dimensions of the rows; its
  // rows are replaced.
  double covariance(std::span<const double> a, std::span<const double> b, MixedRows& one) const {
    one.resize(0);
    one.append(b);
    double square = 0;
    one.squares(a, rows.weights(), 0, {&square, 1});
    Vector r2 = Vector::Constant(1, square);
    covariances(r2);
    return r2[0];
  }

  // Replaces squared distances by covariances.
  template <class V>
  void covariances(V&& r2) const {
    const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
    r2 = (signal * (1 + r + (5.0 / 3) * r2.array()) * (-r).exp()).matrix();
  }

  void set_theta(const KernelParameters& parameters) {
    theta = parameters;
    signal = std::exp(theta.log_signal);
    noise = std::exp(theta.log_noise);
    rows.set(theta);
  }

  void grow(Eigen::Index size) {
    if (factor.rows() >= size) return;
    // Doubles, so that appending n rows copies the factor only log(n) times.
    Matrix larger = Matrix::Zero(std::max<Eigen::Index>(size, 2 * factor.rows()),
                                 std::max<Eigen::Index>(size, 2 * factor.rows()));
    larger.topLeftCorner(factor.rows(), factor.cols()) = factor;
    factor = std::move(larger);
  }

  double diagonal() const { return signal * (1 + kJitter) + noise; }

  // Computes row i of the factor from the rows before it.
  void extend(Eigen::Index i) {
    grow(i + 1);
    Vector k(i);
    const auto x = rows.seen().row(static_cast<std::size_t>(i));
    rows.squares(x, 0, span(k));
    covariances(k);
    solve_lower(i, k);
    factor.row(i).head(i) = k.transpose();
    // Rounding may leave nothing for a row that repeats another one.
    factor(i, i) = std::sqrt(std::max(diagonal() - k.squaredNorm(), kJitter * signal));
  }

  void refactor() {
    assigned = rows.size();
    grow(n());
    for (Eigen::Index j = 0; j < n(); ++j) {
      Vector column(n() - j);
      rows.squares(rows.seen().row(static_cast<std::size_t>(j)), static_cast<std::size_t>(j),
                   span(column));
      covariances(column);
      factor.col(j).segment(j, n() - j) = column;
      factor(j, j) = diagonal();
    }
    Eigen::Ref<Matrix> square = factor.topLeftCorner(n(), n());
    Eigen::LLT<Eigen::Ref<Matrix>> in_place(square);
    ATTUNE_CHECK(in_place.info() == Eigen::Success);
  }

  // Replaces the rows; there are no targets then.
  void assign(std::span<const double> values, std::size_t count, const KernelParameters& t) {
    const std::size_t d = rows.dimensions();
    rows.resize(0);
    for (std::size_t i = 0; i < count; ++i) rows.append(values.subspan(i * d, d));
    y.resize(0);
    alpha.resize(0);
    std::vector<double> p = pack(t);
    const Box box = limits(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::clamp(p[i], box.low[i], box.high[i]);
    set_theta(unpack(p, d));
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

  // The limits of `count` packed parameters.
  Box limits(std::size_t count) const {
    return kernel_limits(rows.given(), least_noise, count > packed_size(dimensions(), false));
  }
  Maximum climb(std::vector<double> start, int evaluations) {
    const auto value = [this](std::span<const double> p, std::span<double> g) {
      return log_kernel_posterior(rows, {y.data(), static_cast<std::size_t>(y.size())}, p, g);
    };
    const Box box = limits(start.size());
    return maximise(value, box, std::move(start), evaluations, 1e-3);
  }
  void take(const Maximum& best) {
    set_theta(unpack(best.x, dimensions()));
    refactor();
    solve();
  }
};

GaussianProcess::GaussianProcess(const std::vector<std::size_t>& categories, double least_noise)
    : impl_(std::make_unique<Impl>(categories, least_noise)) {
  impl_->set_theta(initial_parameters());
}

KernelParameters GaussianProcess::initial_parameters() const {
  return {
      std::vector<double>(dimensions(), 0.0), 0, std::max(-4.0, std::log(impl_->least_noise)), {}};
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
const MixedRows& GaussianProcess::rows() const { return impl_->rows.given(); }
const KernelParameters& GaussianProcess::parameters() const { return impl_->theta; }

void GaussianProcess::assign(std::span<const double> rows, const KernelParameters& parameters) {
  impl_->assign(rows, dimensions() > 0 ? rows.size() / dimensions() : 0, parameters);
}

void GaussianProcess::append(std::span<const double> row) { impl_->append(row); }

void GaussianProcess::resize(std::size_t n) {
  impl_->rows.resize(n);
  const bool fewer_targets = impl_->y.size() > impl_->n();
  // The factor of more rows has other bits in the first n rows than a factor of these rows alone,
  // which is what load() makes.
  const bool fewer_assigned = impl_->assigned > n;
  if (fewer_targets) impl_->y.conservativeResize(impl_->n());
  if (fewer_assigned) impl_->refactor();
  if (fewer_targets || fewer_assigned) impl_->solve();
}

void GaussianProcess::set_targets(std::span<const double> y) { impl_->set_targets(y); }

double GaussianProcess::fit(int evaluations) {
  const Maximum best = impl_->climb(pack(impl_->theta), evaluations);
  impl_->take(best);
  return best.value;
}

void GaussianProcess::refit(int evaluations, Warping warping) {
  const KernelParameters present = impl_->theta;
  KernelParameters straight = present;
  straight.warps.clear();
  Maximum best = impl_->climb(pack(straight), evaluations);
  Maximum other = impl_->climb(pack(initial_parameters()), evaluations);
  if (other.value > best.value) best = std::move(other);
  // Warps start from the present ones; without any, from the best fit with warps that change
  // nothing.
  if (warping == Warping::by_evidence) {
    std::vector<double> start = pack(present);
    if (present.warps.empty()) start = best.x;
    start.resize(packed_size(dimensions(), true));
    Maximum bent = impl_->climb(std::move(start), evaluations);
    if (bent.value > best.value + kEvidence) best = std::move(bent);
  }
  impl_->take(best);
}

double GaussianProcess::log_posterior(const KernelParameters& parameters,
                                      std::span<double> gradient) const {
  WarpedRows rows = impl_->rows;
  return log_kernel_posterior(rows, {impl_->y.data(), static_cast<std::size_t>(impl_->y.size())},
                              pack(parameters), gradient);
}

double GaussianProcess::log_density_of_targets() const { return -0.5 * impl_->y.dot(impl_->alpha); }

std::vector<double> GaussianProcess::fitted_means() const {
  // K a = y, and the mean is (K - D) a, D the diagonal of noise and jitter.
  const Vector means = impl_->y - (impl_->noise + kJitter * impl_->signal) * impl_->alpha;
  return {means.begin(), means.end()};
}

Prediction GaussianProcess::predict(std::span<const double> row) const {
  return predict_many(row)[0];
}

std::vector<double> GaussianProcess::predict_means(std::span<const double> points) const {
  const Matrix k = impl_->covariances_with(points);
  const Vector means = k.topRows(impl_->alpha.size()).transpose() * impl_->alpha;
  return {means.begin(), means.end()};
}

std::vector<GaussianProcess::Lesson> GaussianProcess::predict_lessons(
    std::span<const double> points, std::span<const double> observed) const {
  const Impl& m = *impl_;
  const std::size_t d = dimensions();
  Matrix k = m.covariances_with(points), o = m.covariances_with(observed);
  const Vector means = k.topRows(m.alpha.size()).transpose() * m.alpha;
  m.solve_lower(m.n(), k);
  m.solve_lower(m.n(), o);
  MixedRows one = m.rows.seen();
  std::vector<Lesson> all;
  for (Eigen::Index c = 0; c < k.cols(); ++c) {
    const std::size_t at = static_cast<std::size_t>(c) * d;
    const double least = kJitter * m.signal, whole = m.signal * (1 + kJitter);
    const double variance = std::max(whole - k.col(c).squaredNorm(), least);
    const double known = std::max(whole - o.col(c).squaredNorm(), least) + m.noise;
    const double shared = m.covariance(m.rows.seen(points.subspan(at, d)),
                                       m.rows.seen(observed.subspan(at, d)), one) -
                          k.col(c).dot(o.col(c));
    all.push_back({{means[c], std::sqrt(variance)}, std::abs(shared) / std::sqrt(known)});
  }
  return all;
}

std::vector<Prediction> GaussianProcess::predict_many(std::span<const double> points) const {
  Matrix k = impl_->covariances_with(points);
  const Eigen::Index count = k.cols();
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
  const std::vector<double> x = m.rows.seen(row);
  m.rows.squares(x, 0, span(r2));
  const Eigen::ArrayXd r = (5 * r2.array()).sqrt();
  const Eigen::ArrayXd decay = m.signal * (-r).exp();
  Vector k = ((1 + r + (5.0 / 3) * r2.array()) * decay).matrix();
  // Twice the derivative of the kernel by the squared distance, whose derivative by x is 2 w (x -
  // x_i).
  const Vector slope = ((-5.0 / 3) * (1 + r) * decay).matrix();
  Vector v = k;
  m.solve_lower(m.n(), v);
  const double variance = std::max(m.signal * (1 + kJitter) - v.squaredNorm(), kJitter * m.signal);
  const double deviation = std::sqrt(variance);
  m.solve_upper(m.n(), v);
  const Eigen::Index t = m.alpha.size();
  Vector by_mean = m.alpha.cwiseProduct(slope.head(t));
  // v is K^-1 k: the variance is signal - k' K^-1 k, so its root has the derivative -v' dk /
  // deviation.
  Vector by_deviation = -v.cwiseProduct(slope) / deviation;
  for (std::size_t q = 0; q < row.size(); ++q) {
    mean_gradient[q] = deviation_gradient[q] = 0;
    if (!m.rows.given().is_position(q)) continue;
    const double w = m.rows.weight(q) * m.rows.slope(q, row[q]);
    mean_gradient[q] = w * m.rows.seen().weigh_differences(q, x[q], span(by_mean));
    deviation_gradient[q] = w * m.rows.seen().weigh_differences(q, x[q], span(by_deviation));
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
  const bool possible_size =
      parameters.size() == packed_size(d, false) || parameters.size() == packed_size(d, true);
  if (!possible_size || !is_index(assigned, static_cast<double>(n + 1)) ||
      !std::ranges::all_of(parameters, [](double x) { return std::abs(x) <= 100; })) {
    return fail("saved state: a model that does not fit its results");
  }
  // Repeats the steps by which the saved model was made: an appended row has other bits than one
  // that was factorised with all others.
  Impl loaded = *impl_;
  const auto first = static_cast<std::size_t>(assigned);
  loaded.assign(rows, first, unpack(parameters, d));
  for (std::size_t i = first; i < n; ++i) loaded.append(rows.subspan(i * d, d));
  loaded.set_targets(targets);
  *impl_ = std::move(loaded);
  return {};
}

}  // namespace attune
