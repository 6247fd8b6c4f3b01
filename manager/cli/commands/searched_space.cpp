#include "manager/cli/commands/searched_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "space/parse.h"

namespace attune {
namespace {

constexpr const char* kBudget = "TRIAL_BUDGET";

}  // namespace

Result<Space> searched_space(const StoredExperiment& experiment) {
  const json given =
      experiment.file.is_object() ? experiment.file.value("searchSpace", json()) : json();
  auto space = parse_space(given);
  if (space && space->unread.is_null() && !space->params.empty()) return space;
  return fail(fmt::format("experiment {} has no search space that attune can read{}", experiment.id,
                          space ? "" : ": " + space.error().message));
}

json without_budget(const Space& space, const json& parameters) {
  json rest = parameters;
  const bool is_parameter =
      std::ranges::any_of(space.params, [](const Param& param) { return param.name == kBudget; });
  if (!is_parameter && rest.is_object()) rest.erase(kBudget);
  return rest;
}

}  // namespace attune
