#include "examples/digits/network.h"

#include <algorithm>
#include <cmath>

namespace digits {
namespace {

constexpr std::size_t kEvaluationBatch = 50;

// y += a * x. Every inner loop has this form where it can: unlike a sum, it may be vectorised
// without changing a single bit of the result.
void add_scaled(float a, const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

// Eight running sums in a fixed order: as fast as the compiler may not make one sum by itself.
float dot(const float* x, const float* y, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
  }
  for (; i < count; ++i) lanes[0] += x[i] * y[i];
  float sum = 0.0F;
  for (const float lane : lanes) sum += lane;
  return sum;
}

}  // namespace

Network::Network(const Config& config, Random& random)
    : activation_(config.activation), dropout_(config.dropout), l2_(static_cast<float>(config.l2)) {
  std::size_t inputs = kPixels;
  std::size_t offset = 0;
  for (std::size_t i = 0; i <= config.layers; ++i) {
    const std::size_t outputs = i < config.layers ? config.hidden : kClasses;
    layers_.push_back({.inputs = inputs,
                       .outputs = outputs,
                       .weights = offset,
                       .biases = offset + inputs * outputs,
                       .values = {},
                       .slopes = {},
                       .deltas = {}});
    offset += (inputs + 1) * outputs;
    inputs = outputs;
  }
  parameters_.resize(offset);
  gradients_.resize(offset);
  for (const Layer& layer : layers_) {  // biases start at 0
    const double scale = config.init_scale / std::sqrt(static_cast<double>(layer.inputs));
    for (std::size_t i = layer.weights; i < layer.biases; ++i) {
      parameters_[i] = static_cast<float>(scale * random.normal());
    }
  }
}

const float* Network::input_row(std::size_t layer_index, std::span<const Image> images,
                                std::size_t row) const {
  if (layer_index == 0) return images[row].data();
  const Layer& below = layers_[layer_index - 1];
  return &below.values[row * below.outputs];
}

void Network::forward(std::span<const Image> images, Random* dropout_random) {
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    Layer& layer = layers_[index];
    layer.values.resize(images.size() * layer.outputs);
    for (std::size_t row = 0; row < images.size(); ++row) {
      const float* input = input_row(index, images, row);
      float* output = &layer.values[row * layer.outputs];
      std::copy_n(&parameters_[layer.biases], layer.outputs, output);
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        // Paper, dead units and dropped units: about half of all inputs are exactly zero.
        if (input[i] == 0.0F) continue;
        add_scaled(input[i], &parameters_[layer.weights + i * layer.outputs], output,
                   layer.outputs);
      }
    }
    if (index + 1 < layers_.size()) activate(layer, layer.values.size(), dropout_random);
  }
}

void Network::activate(Layer& layer, std::size_t count, Random* dropout_random) {
  layer.slopes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    float& value = layer.values[i];
    float& slope = layer.slopes[i];
    switch (activation_) {
      case Activation::kRelu:
        slope = value > 0.0F ? 1.0F : 0.0F;
        value *= slope;
        break;
      case Activation::kTanh:
        value = std::tanh(value);
        slope = 1.0F - value * value;
        break;
      case Activation::kSigmoid:
        value = 1.0F / (1.0F + std::exp(-value));
        slope = value * (1.0F - value);
        break;
    }
  }
  if (dropout_random == nullptr || dropout_ == 0.0) return;
  // What is kept is scaled up here, so that evaluation has nothing to scale.
  const float kept = static_cast<float>(1.0 / (1.0 - dropout_));
  for (std::size_t i = 0; i < count; ++i) {
    const float factor = dropout_random->uniform() < dropout_ ? 0.0F : kept;
    layer.values[i] *= factor;
    layer.slopes[i] *= factor;
  }
}

double Network::softmax_loss(std::span<const std::uint8_t> labels) {
  Layer& output = layers_.back();
  output.deltas.resize(labels.size() * kClasses);
  const float per_image = 1.0F / static_cast<float>(labels.size());
  double loss = 0.0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const float* scores = &output.values[row * kClasses];
    float* deltas = &output.deltas[row * kClasses];
    // exp() of large scores overflows; of differences to the largest it cannot.
    const float largest = *std::max_element(scores, scores + kClasses);
    float sum = 0.0F;
    for (std::size_t k = 0; k < kClasses; ++k) sum += deltas[k] = std::exp(scores[k] - largest);
    loss += std::log(sum) + largest - scores[labels[row]];
    for (std::size_t k = 0; k < kClasses; ++k) deltas[k] *= per_image / sum;
    deltas[labels[row]] -= per_image;
  }
  return loss / static_cast<double>(labels.size());
}

void Network::backward(std::size_t layer_index, std::span<const Image> images) {
  Layer& layer = layers_[layer_index];
  for (std::size_t row = 0; row < images.size(); ++row) {
    const float* input = input_row(layer_index, images, row);
    const float* deltas = &layer.deltas[row * layer.outputs];
    add_scaled(1.0F, deltas, &gradients_[layer.biases], layer.outputs);
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      if (input[i] == 0.0F) continue;
      add_scaled(input[i], deltas, &gradients_[layer.weights + i * layer.outputs], layer.outputs);
    }
  }
  if (layer_index == 0) return;
  Layer& below = layers_[layer_index - 1];
  below.deltas.resize(images.size() * below.outputs);
  for (std::size_t row = 0; row < images.size(); ++row) {
    const float* deltas = &layer.deltas[row * layer.outputs];
    for (std::size_t i = 0; i < below.outputs; ++i) {
      const std::size_t at = row * below.outputs + i;
      below.deltas[at] =
          below.slopes[at] == 0.0F
              ? 0.0F
              : below.slopes[at] *
                    dot(&parameters_[layer.weights + i * layer.outputs], deltas, layer.outputs);
    }
  }
}

double Network::train_batch(std::span<const Image> images, std::span<const std::uint8_t> labels,
                            Random& random) {
  forward(images, &random);
  const double loss = softmax_loss(labels);
  std::ranges::fill(gradients_, 0.0F);
  for (const Layer& layer : layers_) {  // biases are not penalised
    add_scaled(l2_, &parameters_[layer.weights], &gradients_[layer.weights],
               layer.biases - layer.weights);
  }
  for (std::size_t i = layers_.size(); i-- > 0;) backward(i, images);
  return loss;
}

std::size_t Network::count_right(const Dataset& data) {
  std::size_t right = 0;
  const std::span<const Image> images = data.images;
  for (std::size_t first = 0; first < images.size(); first += kEvaluationBatch) {
    const std::size_t count = std::min(kEvaluationBatch, images.size() - first);
    forward(images.subspan(first, count), nullptr);
    for (std::size_t row = 0; row < count; ++row) {
      const float* scores = &layers_.back().values[row * kClasses];
      const auto best = std::max_element(scores, scores + kClasses) - scores;
      right += best == data.labels[first + row] ? 1 : 0;
    }
  }
  return right;
}

}  // namespace digits
