#pragma once
// A trial as a request of Katib describes it.
#include <optional>
#include <string>

#include "base/json.h"
#include "katib/api.pb.h"
#include "katib/plan.h"

namespace attune::katib {

// The values in the order of the plan's parameters. A parameter without an assignment has an empty
// text, and so has every parameter if the specification of the trial cannot be read; assignments of
// other names are left out.
Values values_of(const Plan& plan, const api::v1::beta1::Trial& trial);

// Whether the trial is over.
bool has_ended(const api::v1::beta1::Trial& trial);

// The metrics of the experiment that are numbers, as an object. Null if the objective is none of
// them: "unavailable", missing, not finite.
json metrics_of(const Plan& plan, const api::v1::beta1::Trial& trial);

}  // namespace attune::katib
