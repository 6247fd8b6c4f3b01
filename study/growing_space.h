#pragma once
// The search space of a study that is made without one: trials declare their parameters while they
// run (define by run), and the space grows. Pure functions on search spaces as JSON.
#include "base/json.h"
#include "base/result.h"

namespace attune {

// `known` with the parameters of `added`. Where both have a parameter with a numeric range, of the
// same type and step, its range becomes the smallest one that holds both. Errors: `added` is no
// object, or declares a known parameter with another type, step or other candidates; they name it.
// Whether it is a search space at all, parse_space() says.
Result<json> merged(const json& known, const json& added);

// The value nearest to `value`, which lies in a range that holds that of `declared`. What has no
// range stays as it is.
json fitted(const json& value, const json& declared);

}  // namespace attune
