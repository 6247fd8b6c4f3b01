#include "examples/digits/optimizer.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "examples/digits/state.h"

namespace digits {
namespace {

void check_kind(std::istream& in, const std::string& kind) {
  std::string found;
  in >> found;
  if (found != kind) in.setstate(std::ios::failbit);
}

class Sgd : public Optimizer {
 public:
  explicit Sgd(const SgdConfig& config) : config_(config) {}

  void step(std::span<float> parameters, std::span<const float> gradients,
            double rate_factor) override {
    velocity_.resize(parameters.size());
    const auto rate = static_cast<float>(config_.lr * rate_factor);
    const auto momentum = static_cast<float>(config_.momentum);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      velocity_[i] = momentum * velocity_[i] - rate * gradients[i];
      parameters[i] += velocity_[i];
    }
  }

  void save(std::ostream& out) const override {
    out << "sgd ";
    put(out, velocity_);
  }
  void restore(std::istream& in, std::size_t parameters) override {
    check_kind(in, "sgd");
    get(in, velocity_, parameters);
  }

 private:
  SgdConfig config_;
  std::vector<float> velocity_;
};

class Adam : public Optimizer {
 public:
  explicit Adam(const AdamConfig& config) : config_(config) {}

  void step(std::span<float> parameters, std::span<const float> gradients,
            double rate_factor) override {
    mean_.resize(parameters.size());
    square_.resize(parameters.size());
    ++steps_;
    // Both averages start at 0; the bias of the first steps is taken out of the rate, once for all.
    const double unbias =
        std::sqrt(1.0 - std::pow(config_.beta2, steps_)) / (1.0 - std::pow(double{kBeta1}, steps_));
    const auto rate = static_cast<float>(config_.lr * rate_factor * unbias);
    const auto beta2 = static_cast<float>(config_.beta2);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      mean_[i] = kBeta1 * mean_[i] + (1.0F - kBeta1) * gradients[i];
      square_[i] = beta2 * square_[i] + (1.0F - beta2) * gradients[i] * gradients[i];
      parameters[i] -= rate * mean_[i] / (std::sqrt(square_[i]) + 1e-8F);
    }
  }

  void save(std::ostream& out) const override {
    out << "adam " << steps_ << ' ';
    put(out, mean_);
    put(out, square_);
  }
  void restore(std::istream& in, std::size_t parameters) override {
    check_kind(in, "adam");
    in >> steps_;
    get(in, mean_, parameters);
    get(in, square_, parameters);
  }

 private:
  static constexpr float kBeta1 = 0.9F;
  AdamConfig config_;
  int steps_ = 0;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const Config& config) {
  if (const auto* sgd = std::get_if<SgdConfig>(&config.optimizer)) {
    return std::make_unique<Sgd>(*sgd);
  }
  return std::make_unique<Adam>(std::get<AdamConfig>(config.optimizer));
}

}  // namespace digits
