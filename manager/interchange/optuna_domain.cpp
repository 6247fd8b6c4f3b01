#include "manager/interchange/optuna_domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

// At most so many candidates for a grid; above it the step is given up.
constexpr double kMostCandidates = 1000;

bool on_grid(double value, double step) {
  const double n = value / step;
  return std::abs(n - std::round(n)) <= 1e-9 * std::max(1.0, std::abs(n));
}

}  // namespace

Result<void> OptunaDomain::add(const std::string& name, const json& distribution) {
  const std::string kind = distribution["name"];
  const json& attributes = distribution["attributes"];
  const auto broken = [&](const char* why) {
    return fail(fmt::format("parameter {}: {}", name, why));
  };
  if (!kind_.empty() && kind != kind_) return broken("it is of several kinds in different trials");
  if (kind == "CategoricalDistribution") {
    const json choices = attributes.value("choices", json());
    if (!choices.is_array() || choices.empty()) return broken("its distribution has no choices");
    if (!kind_.empty() && choices != json(choices_))
      return broken("it has other choices in different trials");
    choices_ = choices.get<std::vector<json>>();
    kind_ = kind;
    return {};
  }
  if (kind != "FloatDistribution" && kind != "IntDistribution")
    return fail(fmt::format("parameter {}: unknown distribution {}", name, kind));
  const json low = attributes.value("low", json()), high = attributes.value("high", json());
  const json step = attributes.value("step", json());
  const bool log = attributes.value("log", json(false)) == true;
  if (!low.is_number() || !high.is_number() || !(low <= high))
    return broken("its distribution needs low <= high");
  constexpr double kMostInteger = 9007199254740992;  // 2^53
  if (kind == "IntDistribution" && !(low > -kMostInteger && high < kMostInteger))
    return broken("its bounds must be below 2^53");
  const bool whole_step = kind == "IntDistribution" && step == 1;
  low_ = kind_.empty() ? low.get<double>() : std::min(low_, low.get<double>());
  high_ = kind_.empty() ? high.get<double>() : std::max(high_, high.get<double>());
  step_ = step.is_number() && step > 0 && !whole_step ? step.get<double>() : 0;
  log_ = log;
  kind_ = kind;
  return {};
}

bool OptunaDomain::is_stepped() const {
  if (step_ == 0 || (high_ - low_) / step_ > kMostCandidates) return false;
  return kind_ == "IntDistribution" || !on_grid(low_, step_) || !on_grid(high_, step_);
}

std::vector<json> OptunaDomain::grid() const {
  std::vector<json> values;
  const auto count = static_cast<int>(std::floor((high_ - low_) / step_ + 1e-9));
  for (int i = 0; i <= count; ++i) {
    const double value = low_ + i * step_;
    values.push_back(kind_ == "IntDistribution" ? json(std::llround(value)) : json(value));
  }
  return values;
}

json OptunaDomain::declaration(const std::string& name, Losses& losses) const {
  const auto declared = [](const char* type, json value) {
    return json{{"_type", type}, {"_value", std::move(value)}};
  };
  if (is_categorical()) return declared("choice", choices_);
  if (is_stepped()) return declared("choice", grid());
  const bool is_float = kind_ == "FloatDistribution";
  const bool even = step_ > 0 && is_float && on_grid(low_, step_) && on_grid(high_, step_);
  if (step_ > 0 && !even)
    losses.add(
        fmt::format("{}: it has more than {} steps; it has none here", name, kMostCandidates));
  if (even) return declared("quniform", {low_, high_, step_});
  if (is_float) return declared(log_ ? "loguniform" : "uniform", {low_, high_});
  const std::int64_t low = std::llround(low_), high = std::llround(high_);
  if (!log_) return declared("randint", {low, high + 1});
  losses.add(fmt::format("{}: a trial gets whole numbers on a logarithmic scale as 16.0", name));
  return declared("qloguniform", {low, high, 1});
}

std::size_t OptunaDomain::index(double number) const {
  return static_cast<std::size_t>(
      std::clamp(number, 0.0, static_cast<double>(choices_.size() - 1)));
}

json OptunaDomain::value(double number) const {
  const auto at = [](const std::vector<json>& list, double index) {
    return list[static_cast<std::size_t>(
        std::clamp(index, 0.0, static_cast<double>(list.size() - 1)))];
  };
  if (is_categorical()) return choices_[index(number)];
  if (is_stepped()) return at(grid(), std::round((number - low_) / step_));
  if (kind_ == "FloatDistribution" || log_) return number;
  return std::llround(number);
}

}  // namespace attune
