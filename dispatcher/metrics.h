#pragma once
// Turns what trials report into numbers.
#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"

namespace attune {

// A number or a boolean (true = 1) is {primary: it}; an object must have a number `primary`, which
// comes first, and its other numbers follow in order; members that are not numbers are left out.
// NaN and infinities are kept: what they mean is the reader's rule. Anything else is an error that
// names the value.
Result<Metrics> to_metrics(const json& value, const std::string& primary = "default");

// The value that to_metrics() makes these metrics of.
json to_value(const Metrics& metrics);

// The metric named `name`, or nothing when it is missing or not finite.
std::optional<double> finite_metric(const Metrics& metrics, std::string_view name);

}  // namespace attune
