#pragma once
// Models of stored experiments, kept so that another slice through the same one costs no fit.
#include <optional>
#include <string>

#include "analysis/posterior.h"
#include "manager/cli/commands/stored_evidence.h"

namespace attune {

struct PosteriorQuestion {
  std::string x, y;    // parameters; y may be empty
  std::string metric;  // an objective; empty: the first
  std::string at;      // the trial that fixes the others; empty: the best one
};

// One thread owns it.
class StoredPosterior {
 public:
  // As GET /experiments/ID/posterior answers. Errors: too few results, an unknown parameter, ...
  Result<json> slice(StoreReader& reader, const StoredExperiment& experiment,
                     const PosteriorQuestion& question);

 private:
  struct Fitted {
    std::string key;  // of the results that it was fitted to
    Posterior model;
    Space space;
    Objective objective;
  };
  Result<void> fit(StoreReader& reader, const StoredExperiment& experiment,
                   const std::string& metric);

  std::optional<Fitted> fitted_;  // the last one
};

}  // namespace attune
