#include "manager/interchange/optuna_distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/overloaded.h"
#include "manager/interchange/flat_names.h"

namespace attune {
namespace {

// Optuna has no normal distributions: a uniform one gets these bounds. A draw is outside of them
// with a probability of 1e-15.
constexpr double kSigmas = 8;
// Optuna computes steps in decimals of 28 digits.
constexpr double kMostSteps = 1e15;

json real(double low, double high, bool log, std::optional<double> step = {}) {
  json attributes = {{"step", nullptr}, {"low", low}, {"high", high}, {"log", log}};
  if (step) attributes["step"] = *step;
  return {{"name", "FloatDistribution"}, {"attributes", std::move(attributes)}};
}

json integer(std::int64_t low, std::int64_t high, bool log) {
  return {{"name", "IntDistribution"},
          {"attributes", {{"log", log}, {"step", 1}, {"low", low}, {"high", high}}}};
}

json category(const json& candidate) {
  const bool known = candidate.is_primitive();
  if (!candidate.is_object() || !candidate.contains("_name"))
    return known ? candidate : json(dump_json(candidate));
  const json& option = candidate["_name"];
  return option.is_primitive() ? option : json(dump_json(option));
}

bool is_multiple(double value, double q) {
  const double n = value / q;
  return std::abs(n - std::round(n)) <= 1e-9 * std::max(1.0, std::abs(n));
}

json categories(const Choice& choice, const std::string& name, Losses& losses) {
  json choices = json::array();
  for (const json& candidate : choice.candidates) {
    choices.push_back(category(candidate));
    if (!choice.nested && !candidate.is_primitive())
      losses.add(fmt::format("{}: lists and objects among its candidates are JSON texts", name));
  }
  return {{"name", "CategoricalDistribution"}, {"attributes", {{"choices", std::move(choices)}}}};
}

json uniform(const Uniform& domain, const std::string& name, Losses& losses) {
  const auto [low, high, log, q] = domain;
  if (!q) return real(low, high, log);
  const bool even = is_multiple(low, *q) && is_multiple(high, *q);
  if (even && !log) return real(low, high, false, q);
  if (even && *q == 1 && high < 9e15) return integer(std::llround(low), std::llround(high), true);
  losses.add(
      log ? fmt::format("{}: Optuna has no steps on a logarithmic scale; it has no step", name)
          : fmt::format("{}: its bounds are no multiples of its step; it has no step", name));
  return real(low, high, log);
}

json normal(const Normal& domain, const std::string& name, Losses& losses) {
  const auto [mu, sigma, log, q] = domain;
  losses.add(fmt::format("{}: Optuna has no normal distributions; it is uniform within {} sigma",
                         name, kSigmas));
  constexpr double kMost = std::numeric_limits<double>::max();
  double low = std::max(mu - kSigmas * sigma, -kMost);
  double high = std::min(mu + kSigmas * sigma, kMost);
  if (log) {
    low = std::max(std::exp(low), std::numeric_limits<double>::min());
    high = std::min(std::exp(high), kMost);
  }
  if (!q) return real(low, high, log);
  low = log ? 0 : std::floor(low / *q) * *q;  // on a logarithmic scale a small draw is rounded to 0
  if ((high - low) / *q > kMostSteps) return real(low, high, false);
  return real(low, std::ceil(high / *q) * *q, false, q);
}

}  // namespace

std::optional<json> optuna_distribution(const Domain& domain, const std::string& name,
                                        Losses& losses) {
  return std::visit(
      Overloaded{
          [&](const Choice& choice) -> std::optional<json> {
            return categories(choice, name, losses);
          },
          [&](const Subset&) -> std::optional<json> {
            losses.add(fmt::format("{}: Optuna has no choice of several candidates", name));
            return std::nullopt;
          },
          [&](const IntRange& range) -> std::optional<json> {
            return integer(range.low, range.high - 1, false);
          },
          [&](const Uniform& range) -> std::optional<json> { return uniform(range, name, losses); },
          [&](const Normal& bell) -> std::optional<json> { return normal(bell, name, losses); }},
      domain);
}

double optuna_number(const Domain& domain, double value) {
  const auto* choice = std::get_if<Choice>(&domain);
  if (choice == nullptr) return value;
  return static_cast<double>(choice->canonical[static_cast<std::size_t>(value)]);
}

json widened(json distribution, double number) {
  json& attributes = distribution["attributes"];
  if (distribution["name"] != "FloatDistribution") return distribution;
  if (number < attributes["low"].get<double>()) attributes["low"] = number;
  if (number > attributes["high"].get<double>()) attributes["high"] = number;
  return distribution;
}

}  // namespace attune
