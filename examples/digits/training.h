#pragma once

#include <expected>
#include <functional>
#include <string>

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

struct Progress {
  int epoch = 0;  // from 0
  double validation = 0.0;
  std::string state;  // all that the next epoch depends on, and not in the configuration
};

// Trains and calls `on_epoch` after each epoch. A diverged network, one whose loss is no longer
// finite, cannot recover: it is trained no further, and counts with the poor accuracy that it has
// then. The same configuration gives the same result, also if the training goes on from the `state`
// of an earlier one; "": it begins anew. An error: that is no state of a network of this shape.
std::expected<Accuracy, std::string> train(const Config& config, const Split& data,
                                           const std::string& state,
                                           const std::function<void(const Progress&)>& on_epoch);

}  // namespace digits
