#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/digits/config.h"
#include "examples/digits/dataset.h"
#include "examples/digits/random.h"

namespace digits {

// A multi-layer perceptron with softmax output and cross-entropy loss. All weights and biases lie
// in one vector, so that an optimizer needs to know nothing about layers. Not thread-safe: it keeps
// the activations of the last batch.
class Network {
 public:
  Network(const Config& config, Random& random);

  // Gradients of the mean loss over the batch, L2 penalty on the weights included. Returns the loss
  // without the penalty. Draws the dropout masks from `random`.
  double train_batch(std::span<const Image> images, std::span<const std::uint8_t> labels,
                     Random& random);

  // How many of the images have their largest output at their label; no dropout.
  std::size_t count_right(const Dataset& data);

  std::span<float> parameters() { return parameters_; }
  std::span<const float> gradients() const { return gradients_; }

 private:
  struct Layer {
    std::size_t inputs, outputs;
    std::size_t weights;        // offset of inputs x outputs values, one row per input
    std::size_t biases;         // offset of outputs values
    std::vector<float> values;  // of the last batch, one row per image
    std::vector<float> slopes;  // d value / d sum; dropout is a factor of both
    std::vector<float> deltas;  // d loss / d sum
  };

  void forward(std::span<const Image> images, Random* dropout_random);
  void activate(Layer& layer, std::size_t count, Random* dropout_random);
  double softmax_loss(std::span<const std::uint8_t> labels);
  void backward(std::size_t layer_index, std::span<const Image> images);
  const float* input_row(std::size_t layer_index, std::span<const Image> images,
                         std::size_t row) const;

  Activation activation_;
  double dropout_;
  float l2_;
  std::vector<Layer> layers_;
  std::vector<float> parameters_;
  std::vector<float> gradients_;
};

}  // namespace digits
