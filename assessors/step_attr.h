#pragma once
// The argument `step_attr` of Optuna's rules: which step a report has.
#include <optional>
#include <string>

#include "base/arguments.h"
#include "base/json.h"

namespace attune {

inline Argument step_attr_argument() {
  return {.name = "step_attr",
          .type = Argument::Type::text,
          .fallback = "",
          .help = "the metric that is the step of a report; empty: its number, counted from 0"};
}

// Nothing: the number of the report.
inline std::optional<std::string> step_attr_in(const json& args) {
  const std::string name = args.at("step_attr");
  return name.empty() ? std::nullopt : std::optional(name);
}

}  // namespace attune
