#include "dispatcher/metrics.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

std::optional<double> to_number(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

std::unexpected<Error> unusable(const json& value, const std::string& primary) {
  std::string shown = dump_json(value);
  if (shown.size() > 64) shown = shown.substr(0, 64) + "...";
  return fail("the metric must be a number or an object whose \"" + primary +
              "\" is a number, not " + shown);
}

}  // namespace

Result<Metrics> to_metrics(const json& value, const std::string& primary) {
  if (const auto number = to_number(value)) return Metrics{{primary, *number}};
  if (!value.is_object()) return unusable(value, primary);
  const auto found = value.find(primary);
  const auto number = found == value.end() ? std::nullopt : to_number(*found);
  if (!number) return unusable(value, primary);
  Metrics metrics{{primary, *number}};
  for (const auto& [name, other] : value.items()) {
    if (name == primary) continue;
    if (const auto x = to_number(other)) metrics.emplace_back(name, *x);
  }
  return metrics;
}

json to_value(const Metrics& metrics) {
  json value = json::object();
  for (const auto& [name, number] : metrics) value[name] = number;
  return value;
}

std::optional<double> finite_metric(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics, name, &Metrics::value_type::first);
  if (found == metrics.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

}  // namespace attune
