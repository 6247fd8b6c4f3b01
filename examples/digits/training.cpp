#include "examples/digits/training.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>
#include <vector>

#include "examples/digits/network.h"
#include "examples/digits/optimizer.h"
#include "examples/digits/random.h"
#include "examples/digits/state.h"

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

  void save(std::ostream& out) {
    random_.save(out);
    out << finite_ << '\n';
    const auto parameters = network_.parameters();
    put(out, std::vector<float>(parameters.begin(), parameters.end()));
    optimizer_->save(out);
    put(out, order_);
  }

  void restore(std::istream& in) {
    random_.restore(in);
    in >> finite_;
    const auto parameters = network_.parameters();
    std::vector<float> saved;
    get(in, saved, parameters.size());
    if (saved.size() != parameters.size()) in.setstate(std::ios::failbit);
    if (!in) return;
    std::ranges::copy(saved, parameters.begin());
    optimizer_->restore(in, parameters.size());
    const std::size_t images = order_.size();
    get(in, order_, images);
    const auto outside = [&](std::size_t image) { return image >= images; };
    if (order_.size() != images || std::ranges::any_of(order_, outside))
      in.setstate(std::ios::failbit);
  }

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

std::expected<Accuracy, std::string> train(const Config& config, const Split& data,
                                           const std::string& state,
                                           const std::function<void(const Progress&)>& on_epoch) {
  std::vector<Trainer> trainers;
  trainers.reserve(kNetworks);
  for (std::uint64_t i = 0; i < kNetworks; ++i) {
    trainers.emplace_back(config, data.train, kNetworks * config.seed + i);
  }
  // The factor is not saved: another lr_decay holds from now on, and for what was before.
  int first = 0;
  if (!state.empty()) {
    std::istringstream in(state);
    in >> first;
    for (Trainer& trainer : trainers) trainer.restore(in);
    if (!in || first < 0 || first > kEpochs)
      return std::unexpected("what was saved is not of a network of this shape");
  }
  Accuracy accuracy;
  double rate_factor = 1.0;
  for (int epoch = 0; epoch < first; ++epoch) rate_factor *= config.lr_decay;
  for (int epoch = first; epoch < kEpochs; ++epoch) {
    for (Trainer& trainer : trainers) trainer.epoch(rate_factor);
    rate_factor *= config.lr_decay;
    std::ostringstream out;
    out << epoch + 1 << '\n';
    for (Trainer& trainer : trainers) trainer.save(out);
    on_epoch({epoch, mean_accuracy(trainers, data.validation), out.str()});
  }
  accuracy.validation = mean_accuracy(trainers, data.validation);
  accuracy.test = mean_accuracy(trainers, data.test);
  return accuracy;
}

}  // namespace digits
