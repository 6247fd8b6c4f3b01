#pragma once
// Experiments with learning curves that are generated: what early stopping is compared on.
#include <vector>

#include "base/rng.h"

namespace attune {

inline constexpr std::size_t kTrials = 30;
inline constexpr std::size_t kEpochs = 20;

struct Curves {
  bool maximize = true;
  std::vector<std::vector<double>> values;  // [trial][epoch], finite
};

// Power laws, exponentials and sigmoids with different ends and speeds, so that they cross; some
// trials learn nothing, some break down. Accuracies when `maximize`, else losses: of every second
// experiment the best are near zero, of every third all are shifted below it.
Curves generate(bool maximize, Rng rng);

}  // namespace attune
