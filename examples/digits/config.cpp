#include "examples/digits/config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/digits/text.h"

namespace digits {
namespace {

using nlohmann::json;

// Reads one JSON object field by field and keeps the first error, so that the list of fields below
// stays a list. Whatever was not read when finish() is called is unknown.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) fail("", "must be an object");
  }

  void number(const char* name, double& target, double low, double high) {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high)) {
      return fail(name,
                  concat("must be a number from ", low, " to ", high, ", got ", value->dump()));
    }
    target = value->get<double>();
  }

  // Quantised types of a search space yield whole numbers as floats: 64.0 is as good as 64.
  template <typename Whole>
  void whole(const char* name, Whole& target, double low, double high) {
    const json* value = find(name);
    if (value == nullptr) return;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= low && number <= high) || number != std::floor(number)) {
      return fail(
          name, concat("must be a whole number from ", low, " to ", high, ", got ", value->dump()));
    }
    target = static_cast<Whole>(number);
  }

  template <typename Enum>
  void word(const char* name, Enum& target,
            const std::vector<std::pair<std::string_view, Enum>>& words) {
    const json* value = find(name);
    if (value == nullptr) return;
    std::string accepted;
    for (const auto& [text, meaning] : words) {
      if (*value == text) {
        target = meaning;
        return;
      }
      accepted += concat(accepted.empty() ? "" : ", ", '"', text, '"');
    }
    fail(name, concat("must be one of ", accepted, ", got ", value->dump()));
  }

  // nullptr if absent.
  const json* find(const char* name) {
    known_.emplace_back(name);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  std::string finish() {
    if (!error_.empty()) return error_;
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      std::string accepted;
      for (const std::string& name : known_) accepted += (accepted.empty() ? "" : ", ") + name;
      fail(key, "is not a parameter; accepted: " + accepted);
    }
    return error_;
  }

 private:
  void fail(std::string_view name, const std::string& what) {
    if (!error_.empty()) return;
    error_ = concat(path_, name.empty() ? "" : ".", name, ": ", what);
  }

  const json& object_;
  std::string path_;
  std::vector<std::string> known_;
  std::string error_;
};

enum class OptimizerName { kSgd, kAdam };

// A nested choice arrives as {"_name": "sgd", "lr": 0.1, ...}: the name, and the parameters of the
// branch beside it.
std::string parse_optimizer(const json& value, std::variant<SgdConfig, AdamConfig>& target) {
  ObjectReader reader(value, "parameters.optimizer");
  OptimizerName name = OptimizerName::kSgd;
  reader.word("_name", name, {{"sgd", OptimizerName::kSgd}, {"adam", OptimizerName::kAdam}});
  if (name == OptimizerName::kSgd) {
    SgdConfig sgd;
    reader.number("lr", sgd.lr, 0.0, 1000.0);
    reader.number("momentum", sgd.momentum, 0.0, 0.9999);
    target = sgd;
  } else {
    AdamConfig adam;
    reader.number("lr", adam.lr, 0.0, 1000.0);
    reader.number("beta2", adam.beta2, 0.0, 0.99999);
    target = adam;
  }
  return reader.finish();
}

}  // namespace

std::expected<Config, std::string> parse_config(const json& parameters) {
  Config config;
  ObjectReader reader(parameters, "parameters");
  reader.whole("hidden", config.hidden, 1, 1024);
  reader.whole("layers", config.layers, 1, 8);
  reader.word("activation", config.activation,
              {{"relu", Activation::kRelu},
               {"tanh", Activation::kTanh},
               {"sigmoid", Activation::kSigmoid}});
  reader.number("init_scale", config.init_scale, 0.0, 1000.0);
  reader.whole("batch_size", config.batch_size, 1, 1024);
  reader.number("dropout", config.dropout, 0.0, 0.95);
  reader.number("l2", config.l2, 0.0, 1000.0);
  reader.number("shift", config.shift, 0.0, 8.0);
  reader.number("lr_decay", config.lr_decay, 0.0, 1.0);
  reader.whole("seed", config.seed, 0, 1e15);
  const json* optimizer = reader.find("optimizer");
  if (std::string error = reader.finish(); !error.empty()) return std::unexpected(error);
  if (optimizer != nullptr) {
    std::string error = parse_optimizer(*optimizer, config.optimizer);
    if (!error.empty()) return std::unexpected(error);
  }
  return config;
}

}  // namespace digits
