#pragma once
// The trials that the CMA-ES tuner remembers, and their JSON. Private to cma_es.cpp.
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
  // As drawn, even where a parameter is inactive or the number out of bounds.
  std::vector<double> x;
  Point point;
  // The present distribution did not draw x: custom, imported, late, or a replaced repeat.
  bool injected = false;
};

struct CmaRunning : CmaTrial {
  std::int64_t generation = 0;
};

struct CmaKnown : CmaTrial {
  // The loss of a failed trial.
  static constexpr double kWorst = std::numeric_limits<double>::infinity();
  double loss = kWorst;
};

json save_running(const std::map<TrialId, CmaRunning>& running);
json save_known(std::span<const CmaKnown> results);

// Every trial must have `coordinates` finite numbers. The error says what is wrong.
Result<std::map<TrialId, CmaRunning>> load_running(const json& state, const Space& space,
                                                   std::size_t coordinates);
Result<std::vector<CmaKnown>> load_known(const json& state, const Space& space,
                                         std::size_t coordinates);

}  // namespace attune
