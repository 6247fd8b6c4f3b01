#pragma once
// A parameter as Optuna describes it: a distribution, as JSON {"name": CLASS, "attributes": {...}},
// and its values as Optuna's internal numbers (categories by their index).
#include <optional>
#include <string>

#include "base/json.h"
#include "manager/interchange/exporter.h"
#include "space/space.h"

namespace attune {

// Nothing: Optuna has no such parameter. What the distribution cannot say is added to `losses`, for
// the parameter `name`.
std::optional<json> optuna_distribution(const Domain& domain, const std::string& name,
                                        Losses& losses);

// The internal number of a value of a Point.
double optuna_number(const Domain& domain, double value);

// The distribution, widened if it does not hold the number: Optuna's normals have bounds.
json widened(json distribution, double number);

}  // namespace attune
