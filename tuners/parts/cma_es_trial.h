#pragma once
// Trials as CMA-ES keeps them, and how they are saved. Private to cma_es.cpp.
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trial.h"
#include "space/space.h"

namespace attune {

struct CmaTrial {
  std::vector<double> x;  // what was drawn, also where that is inactive or out of bounds
  Point point;
  bool injected = false;  // not drawn from a distribution
};

struct CmaRunning : CmaTrial {
  std::int64_t generation = 0;
};

struct CmaKnown : CmaTrial {
  static constexpr double kWorst = std::numeric_limits<double>::infinity();  // of one that failed
  double loss = kWorst;
};

json save_running(const std::map<TrialId, CmaRunning>& running);
json save_known(std::span<const CmaKnown> results);

// Of `coordinates` numbers each, finite. Errors tell what is impossible.
Result<std::map<TrialId, CmaRunning>> load_running(const json& state, const Space& space,
                                                   std::size_t coordinates);
Result<std::vector<CmaKnown>> load_known(const json& state, const Space& space,
                                         std::size_t coordinates);

}  // namespace attune
