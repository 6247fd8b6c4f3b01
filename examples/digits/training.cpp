#include "examples/digits/training.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "examples/digits/network.h"
#include "examples/digits/optimizer.h"
#include "examples/digits/random.h"

namespace digits {
namespace {

// Bilinear: `image` moved by a fraction of a pixel; what comes in from outside is paper.
Image shifted(const Image& image, double dx, double dy) {
  const auto pixel = [&image](int x, int y) {
    constexpr int kLast = static_cast<int>(kSide) - 1;
    if (x < 0 || y < 0 || x > kLast || y > kLast) return 0.0F;
    return image[static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x)];
  };
  const int whole_x = static_cast<int>(std::floor(dx));
  const int whole_y = static_cast<int>(std::floor(dy));
  const auto part_x = static_cast<float>(dx - whole_x);
  const auto part_y = static_cast<float>(dy - whole_y);
  Image moved;
  for (std::size_t i = 0; i < kPixels; ++i) {
    const int x = static_cast<int>(i % kSide) + whole_x;
    const int y = static_cast<int>(i / kSide) + whole_y;
    moved[i] = (1.0F - part_y) * ((1.0F - part_x) * pixel(x, y) + part_x * pixel(x + 1, y)) +
               part_y * ((1.0F - part_x) * pixel(x, y + 1) + part_x * pixel(x + 1, y + 1));
  }
  return moved;
}

// One network with all that its training needs; networks never share random numbers.
class Trainer {
 public:
  Trainer(const Config& config, const Dataset& data, std::uint64_t seed)
      : config_(config),
        data_(data),
        random_(seed),
        network_(config, random_),
        optimizer_(make_optimizer(config)),
        order_(data.labels.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void epoch(double rate_factor) {
    for (int i = 0; i < kPassesPerEpoch && finite_; ++i) pass(rate_factor);
  }

  Network& network() { return network_; }

 private:
  void pass(double rate_factor) {
    shuffle(order_, random_);
    for (std::size_t first = 0; first < order_.size() && finite_; first += config_.batch_size) {
      fill_batch(first, std::min(config_.batch_size, order_.size() - first));
      finite_ = std::isfinite(network_.train_batch(images_, labels_, random_));
      if (finite_) optimizer_->step(network_.parameters(), network_.gradients(), rate_factor);
    }
  }

  void fill_batch(std::size_t first, std::size_t count) {
    images_.resize(count);
    labels_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = order_[first + i];
      // Drawn in any case: so a shift changes the images, and not the dropout masks as well.
      const double dx = random_.uniform(-config_.shift, config_.shift);
      const double dy = random_.uniform(-config_.shift, config_.shift);
      images_[i] = config_.shift > 0.0 ? shifted(data_.images[from], dx, dy) : data_.images[from];
      labels_[i] = data_.labels[from];
    }
  }

  const Config& config_;
  const Dataset& data_;
  Random random_;
  Network network_;
  std::unique_ptr<Optimizer> optimizer_;
  bool finite_ = true;
  std::vector<std::size_t> order_;
  std::vector<Image> images_;
  std::vector<std::uint8_t> labels_;
};

double mean_accuracy(std::vector<Trainer>& trainers, const Dataset& data) {
  std::size_t right = 0;
  for (Trainer& trainer : trainers) right += trainer.network().count_right(data);
  return static_cast<double>(right) / static_cast<double>(trainers.size() * data.labels.size());
}

}  // namespace

Accuracy train(const Config& config, const Split& data,
               const std::function<void(int, double)>& on_epoch) {
  std::vector<Trainer> trainers;
  trainers.reserve(kNetworks);
  for (std::uint64_t i = 0; i < kNetworks; ++i) {
    trainers.emplace_back(config, data.train, kNetworks * config.seed + i);
  }
  Accuracy accuracy;
  double rate_factor = 1.0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (Trainer& trainer : trainers) trainer.epoch(rate_factor);
    rate_factor *= config.lr_decay;
    accuracy.validation = mean_accuracy(trainers, data.validation);
    on_epoch(epoch, accuracy.validation);
  }
  accuracy.test = mean_accuracy(trainers, data.test);
  return accuracy;
}

}  // namespace digits
