#pragma once
// Chooses the population and step size of each run of CMA-ES, when one run follows another.
//
// Sources: IPOP, where each run has twice the population of the one before: Auger, Hansen, "A
// Restart CMA Evolution Strategy With Increasing Population Size" (CEC 2005). BIPOP, where these
// alternate with runs of small populations and steps, so that both sorts use as many results:
// Hansen, "Benchmarking a BI-Population CMA-ES on the BBOB-2009 Function Testbed" (GECCO 2009),
// section 2.
#include <cstddef>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

enum class Restarts { none, ipop, bipop };

struct CmaRun {
  std::size_t population = 0;
  double sigma_factor = 1;  // times the first run's step size
};

// A value.
class RestartSchedule {
 public:
  RestartSchedule(Restarts rule, std::size_t population);  // that of the first run, >= 2

  void count(std::size_t results);  // the present run had so many more results
  CmaRun next(Rng& rng);            // ends the present run; not for Restarts::none

  const CmaRun& run() const { return run_; }

  json save() const;
  Result<void> load(const json& state);  // all or nothing; of the same rule and population

 private:
  Restarts rule_;
  std::size_t first_population_;
  CmaRun run_;
  bool small_ = false;          // whether the present run is a small one
  std::size_t large_runs_ = 0;  // after the first run
  double results_[2] = {};      // of ended large runs (the first run is none); of ended small ones
  double in_run_ = 0;
};

}  // namespace attune
