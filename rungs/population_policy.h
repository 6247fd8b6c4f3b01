#pragma once
// The schedule of configurations that a trial of a population has gone through, read from the lines
// that Ray Tune writes into its pbt_policy files.
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct PopulationPolicy {
  struct Change {
    double at = 0;  // the training after which the configuration changes
    json config;
  };
  json initial = {};  // null: there are no lines
  std::vector<Change> changes = {};
};

// Reads lines of JSON: [trial, donor, training of the trial, of the donor, old configuration, new
// configuration]. Empty lines are skipped. A line counts if its donor is the trial of the line
// before: what the trial did before it copied somebody is of no use. So the last lines that are
// linked in this way are the policy. An error names the line, counted from 1.
Result<PopulationPolicy> parse_population_policy(std::string_view text);

}  // namespace attune
