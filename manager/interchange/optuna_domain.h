#pragma once
// A parameter of Optuna's as a parameter of a search space.
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "manager/interchange/exporter.h"

namespace attune {

class OptunaDomain {
 public:
  // Widens the domain, so that it also holds what this distribution holds: Optuna may suggest a
  // parameter with other bounds in each trial. Error: it is another kind of parameter.
  Result<void> add(const std::string& name, const json& distribution);

  // {"_type", "_value"}. What it cannot say is added to `losses`, for the parameter `name`.
  json declaration(const std::string& name, Losses& losses) const;
  // The value that a trial gets, of an internal number.
  json value(double number) const;
  std::size_t index(double number) const;  // of a choice; if there is no such choice, the nearest

  bool is_categorical() const { return kind_ == "CategoricalDistribution"; }
  const std::vector<json>& choices() const { return choices_; }

 private:
  bool is_stepped() const;  // on a grid that quniform and randint do not have
  std::vector<json> grid() const;

  std::string kind_;                      // empty: nothing was added yet
  double low_ = 0, high_ = 0, step_ = 0;  // step_: 0 for none
  bool log_ = false;
  std::vector<json> choices_;
};

}  // namespace attune
