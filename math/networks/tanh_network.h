#pragma once
// A multilayer perceptron for regression: hidden layers of tanh units, one linear output.
//
// Sources: gradient by backpropagation (Bishop, "Pattern Recognition and Machine Learning", 2006,
// section 5.3); first weights of Glorot, Bengio, "Understanding the difficulty of training deep
// feedforward neural networks" (AISTATS 2010), section 4.2.1; steps of math/networks/adam.h.
#include <cstddef>
#include <span>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"

namespace attune {

struct TrainingSettings {
  double rate = 0.01;             // of the first step; falls to a tenth of it along a cosine
  std::size_t batch = 32;         // observations in a step, drawn without replacement
  std::size_t presentations = 1;  // observations in all steps together, rounded up to whole steps
};

// A value. Not thread safe. The same inputs and generator give the same bits.
class TanhNetwork {
 public:
  // `widths`: units in each hidden layer; at least one layer, each at least 1. All weights are 0
  // until initialise().
  TanhNetwork(std::size_t inputs, std::vector<std::size_t> widths);

  std::size_t inputs() const { return inputs_; }
  std::size_t basis_size() const { return widths_.back(); }

  // All weights and biases. Layer by layer: the weights (input after input), then the biases; the
  // output's are last.
  const std::vector<double>& parameters() const { return parameters_; }
  void set_parameters(std::vector<double> parameters);  // of the same number
  void initialise(Rng& rng);

  // Half the mean squared error; writes the derivatives by the parameters. `rows`: count x
  // inputs(), row by row, numbers of about 1; count targets, at least 1.
  double loss(std::span<const double> rows, std::span<const double> targets,
              std::span<double> gradient) const;

  // Trains from the present parameters. Each presentation costs about 6 flops per parameter.
  void train(std::span<const double> rows, std::span<const double> targets,
             const TrainingSettings& settings, Rng& rng);

  // The outputs of the last hidden layer: count x basis_size(), row by row, in [-1, 1].
  std::vector<double> basis(std::span<const double> rows, std::size_t count) const;

  // Turns a function's derivatives by the basis into its derivatives by the inputs, at `row`.
  std::vector<double> pull_back(std::span<const double> row,
                                std::span<const double> by_basis) const;

  json save() const;
  Result<void> load(const json& state);  // of a network of this shape; all or nothing

 private:
  std::size_t width(std::size_t layer) const { return layer > 0 ? widths_[layer - 1] : inputs_; }

  std::size_t inputs_;
  std::vector<std::size_t> widths_;
  std::vector<double> parameters_;
};

}  // namespace attune
