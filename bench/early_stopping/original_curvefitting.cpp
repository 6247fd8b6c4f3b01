#define EIGEN_MPL2_ONLY
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "bench/early_stopping/original.h"

namespace attune {
namespace {

using Parameters = Eigen::VectorXd;

struct Family {
  int parameters;
  double (*value)(double x, const Parameters& p);
};

constexpr std::size_t kFamilies = 12;

// ilog2 divides by ln 1 = 0 at the first epoch, so that it never takes part.
const std::array<Family, kFamilies>& families() {
  using std::exp, std::log, std::pow;
  static const std::array<Family, kFamilies> all = {{
      {3, [](double x, const Parameters& p) { return exp(p[0] + p[1] / x + p[2] * log(x)); }},
      {3, [](double x, const Parameters& p) { return p[0] - p[1] * pow(x, -p[2]); }},
      {2, [](double x, const Parameters& p) { return p[0] * x + p[1]; }},
      {2, [](double x, const Parameters& p) { return p[0] * log(x) + p[1]; }},
      {3,
       [](double x, const Parameters& p) {
         return p[0] * pow(x, p[1]) / (pow(p[2], p[1]) + pow(x, p[1]));
       }},
      {3, [](double x, const Parameters& p) { return p[0] / (1 + pow(x / exp(p[1]), p[2])); }},
      {4, [](double x, const Parameters& p) { return p[2] - pow(p[0] * x + p[1], -p[3]); }},
      {4, [](double x,
             const Parameters& p) { return p[0] - (p[0] - p[1]) / (1 + pow(p[2] * x, p[3])); }},
      {4, [](double x, const Parameters& p) { return p[2] - exp(-p[0] * pow(x, p[3]) + p[1]); }},
      {2, [](double x, const Parameters& p) { return p[0] - p[1] / log(x); }},
      {4, [](double x,
             const Parameters& p) { return p[0] - (p[0] - p[1]) * exp(-pow(p[2] * x, p[3])); }},
      {4, [](double x,
             const Parameters& p) { return p[0] - (p[0] - p[1]) * exp(-p[2] * pow(x, p[3])); }},
  }};
  return all;
}

struct Residuals {
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  const Family& family;
  std::span<const double> history;

  int inputs() const { return family.parameters; }
  int values() const { return static_cast<int>(history.size()); }
  int operator()(const Parameters& p, Eigen::VectorXd& residuals) const {
    for (std::size_t i = 0; i < history.size(); ++i) {
      residuals[static_cast<Eigen::Index>(i)] =
          family.value(static_cast<double>(i + 1), p) - history[i];
    }
    return 0;
  }
};

class Curvefitting final : public OriginalAssessor {
 public:
  explicit Curvefitting(Rng rng) : rng_(rng) {
    for (const Family& family : families()) {
      coefficients_.push_back(Parameters::Ones(family.parameters));
    }
  }

  bool keeps(int trial, std::span<const double> history) override {
    latest_.assign(history.begin(), history.end());
    const auto judged = judged_.find(trial);
    if (!has_best_ || history.size() < 6) return true;
    if (judged != judged_.end() && history.size() < judged->second + 1) return true;
    judged_[trial] = history.size();
    fit(history);
    filter(history);
    if (effective_.size() < 4) return true;
    return predict(history) > best_ * 0.95;
  }

  // The last trial that was assessed lends its result, whichever has ended.
  void trial_end(int, bool completed) override {
    if (!completed) return;
    best_ = has_best_ ? std::max(best_, latest_.back()) : latest_.back();
    has_best_ = true;
  }

 private:
  static constexpr double kTarget = 20;
  static constexpr std::size_t kInstances = 10;
  using Weights = std::vector<double>;

  // A fit that does not converge leaves the coefficients of an earlier trial.
  void fit(std::span<const double> history) {
    for (std::size_t k = 0; k < kFamilies; ++k) {
      const Residuals residuals{families()[k], history};
      Eigen::NumericalDiff<Residuals> numeric(residuals);
      Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(numeric);
      solver.parameters.ftol = solver.parameters.xtol = 1.49012e-8;
      solver.parameters.gtol = 0;
      solver.parameters.factor = 100;
      solver.parameters.maxfev = 200 * (Eigen::Index{residuals.inputs()} + 1);
      Parameters found = Parameters::Ones(residuals.inputs());
      const auto status = static_cast<int>(solver.minimize(found));
      if (status >= 1 && status <= 4) coefficients_[k] = found;
    }
  }

  double value(std::size_t family, double x) const {
    return families()[family].value(x, coefficients_[family]);
  }

  void filter(std::span<const double> history) {
    const auto n = static_cast<double>(history.size());
    double mean = 0;
    for (const double y : history) mean += y / n;
    std::vector<std::size_t> close;
    std::vector<double> last;
    for (std::size_t k = 0; k < kFamilies; ++k) {
      double error = 0;
      for (std::size_t i = 0; i < history.size(); ++i) {
        error += std::pow(value(k, static_cast<double>(i + 1)) - history[i], 2);
      }
      if (!(error < mean * mean * n)) continue;
      close.push_back(k);
      last.push_back(value(k, n));
    }
    effective_.clear();
    if (close.empty()) return;
    double average = 0, square = 0;
    for (const double y : last) average += y / static_cast<double>(last.size());
    for (const double y : last) {
      square += (y - average) * (y - average) / static_cast<double>(last.size());
    }
    std::ranges::sort(last);
    const double median = (last[(last.size() - 1) / 2] + last[last.size() / 2]) / 2;
    const double radius = n / 10 * std::sqrt(square);
    for (const std::size_t k : close) {
      const double y = value(k, kTarget);
      if (y < median + radius && y > median - radius) effective_.push_back(k);
    }
  }

  double combined(const Weights& weights, double x) const {
    double sum = 0;
    for (std::size_t j = 0; j < effective_.size(); ++j) sum += weights[j] * value(effective_[j], x);
    return sum;
  }

  double density(std::span<const double> history, const Weights& weights) const {
    for (const double weight : weights) {
      if (!(weight > 0)) return 0;
    }
    if (combined(weights, 1) >= combined(weights, kTarget)) return 0;
    const auto n = static_cast<double>(history.size());
    double variance = 0;
    for (std::size_t i = 0; i < history.size(); ++i) {
      const double r = history[i] - combined(weights, static_cast<double>(i + 1));
      variance += r * r / n;
    }
    double product = 1;
    for (std::size_t i = 0; i < history.size(); ++i) {
      const double r = history[i] - combined(weights, static_cast<double>(i + 1));
      product *=
          std::exp(r * r / (-2 * variance)) / std::sqrt(2 * std::numbers::pi * std::sqrt(variance));
    }
    return product;
  }

  // 20 steps of Metropolis on ten instances of the weights.
  double predict(std::span<const double> history) {
    const std::size_t m = effective_.size();
    std::vector<Weights> instances(kInstances, Weights(m, 1 / static_cast<double>(m)));
    for (int step = 0; step < 20; ++step) {
      for (Weights& weights : instances) {
        Weights next = weights;
        double total = 0;
        for (double& weight : next) total += weight += 0.0005 * rng_.normal();
        for (double& weight : next) weight /= total;
        const double alpha = density(history, next) / density(history, weights);
        if (rng_.uniform() < alpha) weights = next;  // not if it is 0 / 0
      }
    }
    double sum = 0;
    for (const Weights& weights : instances) sum += combined(weights, kTarget) / kInstances;
    return sum;
  }

  Rng rng_;
  std::vector<Parameters> coefficients_;  // of all trials
  std::vector<std::size_t> effective_;
  std::vector<double> latest_;
  std::map<int, std::size_t> judged_;
  bool has_best_ = false;
  double best_ = 0;
};

}  // namespace

std::unique_ptr<OriginalAssessor> original_curvefitting(Rng rng) {
  return std::make_unique<Curvefitting>(rng);
}

}  // namespace attune
