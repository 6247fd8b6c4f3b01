#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>

namespace digits {

enum class Activation { kRelu, kTanh, kSigmoid };

struct SgdConfig {
  double lr = 0.05;
  double momentum = 0.9;
};

struct AdamConfig {
  double lr = 0.001;
  double beta2 = 0.999;
};

// One point of the search space. The values here are the default configuration: what one would
// write down without tuning anything. default.json repeats them for people; a test compares.
struct Config {
  std::size_t hidden = 64;  // units in each hidden layer
  std::size_t layers = 1;   // hidden layers
  Activation activation = Activation::kRelu;
  double init_scale = 1.0;  // times the usual 1 / sqrt(inputs)
  std::size_t batch_size = 32;
  double dropout = 0.0;
  double l2 = 0.0001;
  double shift = 0.0;     // augmentation: move each image by up to so many pixels
  double lr_decay = 1.0;  // the learning rate is multiplied by this after every epoch
  std::variant<SgdConfig, AdamConfig> optimizer = SgdConfig{};
  std::uint64_t seed = 1;  // of the training; not tuned
};

// Reads the object that a tuner proposed. A key that is absent keeps its default, so a search space
// may be a part of ours; an unknown key is an error, because it would be tuned without any effect.
std::expected<Config, std::string> parse_config(const nlohmann::json& parameters);

}  // namespace digits
