#pragma once

#include <functional>

#include "examples/digits/config.h"
#include "examples/digits/dataset.h"

namespace digits {

// An epoch is several passes over the training images, so that a learning curve has a point only
// where something can have changed, and evaluation does not cost more than training.
constexpr int kEpochs = 16;
constexpr int kPassesPerEpoch = 12;

// Networks trained side by side from different starts. One alone may be half a point better or
// worse by luck, and a tuner would chase that luck; all accuracies are means over the three.
constexpr int kNetworks = 3;

struct Accuracy {
  double validation = 0.0;
  double test = 0.0;
};

// Trains and calls `on_epoch(epoch, validation accuracy)` after each epoch. A diverged network, one
// whose loss is no longer finite, cannot recover: it is trained no further, and counts with the
// poor accuracy that it has then. The same configuration gives the same result.
Accuracy train(const Config& config, const Split& data,
               const std::function<void(int, double)>& on_epoch);

}  // namespace digits
