#include "backends/simulated/generated_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/rng.h"

namespace attune {
namespace {

constexpr double kFloor = 0.02;      // the loss of the best configuration after infinite training
constexpr double kRidgeWidth = 0.3;  // in units of the declared ranges

double rounded(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit;
}

// 0 at `offset` 0, towards 1 away from it.
double beside(double offset, double width) {
  return 1 - std::exp(-offset * offset / (2 * width * width));
}

// The place of a number in its declared range, in [0, 1]; nothing if the parameter has no scale.
std::optional<double> place(const json& declared, const json& value) {
  const auto type = declared.find("_type"), range = declared.find("_value");
  if (!value.is_number() || type == declared.end() || !type->is_string() ||
      range == declared.end() || !range->is_array() || range->size() < 2 ||
      !(*range)[0].is_number() || !(*range)[1].is_number()) {
    return std::nullopt;
  }
  std::string_view kind = type->get_ref<const std::string&>();
  if (kind == "choice" || kind == "layer_choice") return std::nullopt;
  if (kind.starts_with('q')) kind.remove_prefix(1);
  double x = value.get<double>();
  double low = (*range)[0].get<double>(), high = (*range)[1].get<double>();
  if (kind.starts_with("log")) x = std::log(x);
  if (kind.ends_with("normal")) {  // low and high are mean and deviation
    return high > 0 ? 1 / (1 + std::exp(-1.7 * (x - low) / high)) : 0.5;
  }
  if (kind.starts_with("log")) {
    low = std::log(low);
    high = std::log(high);
  }
  if (!(high > low)) return 0.5;
  return std::isfinite(x) ? std::clamp((x - low) / (high - low), 0.0, 1.0) : 0;
}

// Visits the active parameters of a configuration, in the order of the space, and sums up their
// losses.
class Landscape {
 public:
  explicit Landscape(const Rng& rng) : rng_(rng) {}

  void visit(const json& space, const json& parameters, const std::string& prefix) {
    if (!space.is_object() || !parameters.is_object()) return;
    for (const auto& [name, declared] : space.items()) {
      const auto value = parameters.find(name);
      if (value == parameters.end() || !declared.is_object()) continue;
      const std::string path = prefix + "/" + name;
      const json* option = chosen(declared, *value);
      const std::string text = dump_json(option == nullptr ? *value : (*option)["_name"]);
      key_ += path + "=" + text + ";";
      const auto placed = place(declared, *value);
      add(path, placed ? *placed : rng_.fork("place" + path + "=" + text).uniform());
      if (option != nullptr) visit(*option, *value, path + "[" + text + "]");
    }
  }

  double end() const { return weights_ > 0 ? kFloor + (1 - kFloor) * loss_ / weights_ : kFloor; }
  double mean_place() const { return count_ > 0 ? places_ / count_ : 0.5; }
  const std::string& key() const { return key_; }  // the configuration as text

 private:
  // The option of a nested choice that `value` names; null if the parameter is no nested choice.
  static const json* chosen(const json& declared, const json& value) {
    const auto options = declared.find("_value");
    if (!value.is_object() || !value.contains("_name") || options == declared.end()) return nullptr;
    for (const json& option : *options) {
      if (option.is_object() && option.contains("_name") && option["_name"] == value["_name"])
        return &option;
    }
    return nullptr;
  }

  void add(const std::string& path, double x) {
    Rng shape = rng_.fork("shape" + path);
    const double best = shape.uniform(0.15, 0.85), width = shape.uniform(0.15, 0.5);
    const double weight = std::exp(shape.normal());
    const double slope = shape.uniform() < 0.5 ? -1 : 1;
    const double offset = x - best;
    loss_ += weight * beside(offset, width);
    weights_ += weight;
    if (previous_) {
      const double ridge = std::min(weight, previous_->weight) / 2;
      loss_ += ridge * beside(previous_->offset + slope * offset, kRidgeWidth);
      weights_ += ridge;
    }
    previous_ = Previous{offset, weight};
    places_ += x;
    ++count_;
  }

  struct Previous {
    double offset, weight;
  };
  const Rng& rng_;
  std::optional<Previous> previous_;
  std::string key_;
  double loss_ = 0, weights_ = 0, places_ = 0;
  int count_ = 0;
};

class GeneratedCurves final : public CurveSource {
 public:
  explicit GeneratedCurves(GeneratedCurvesOptions options)
      : options_(std::move(options)), rng_(options_.seed) {}

  Result<SimulatedCurve> curve(const json& parameters, std::int64_t) const override {
    Landscape landscape(rng_);
    landscape.visit(options_.search_space, parameters, "");
    Rng own = rng_.fork("curve" + landscape.key());
    const double end = landscape.end();
    const double alpha = own.uniform(0.5, 1.5);
    const double tau = own.uniform(0.5, 1 + options_.epochs / 20.0);
    const double seconds =
        options_.epoch_seconds * std::pow(options_.seconds_ratio, landscape.mean_place() - 0.5);
    SimulatedCurve curve;
    curve.values.reserve(static_cast<std::size_t>(options_.epochs));
    for (int epoch = 1; epoch <= options_.epochs; ++epoch) {
      double loss = end + (1 - end) * std::pow(1 + epoch / tau, -alpha);
      if (options_.noise > 0) loss += options_.noise * own.normal();
      curve.values.push_back(rounded(options_.maximize ? 1 - loss : loss, 1e6));
    }
    curve.seconds.assign(curve.values.size(), rounded(seconds, 1e3));
    return curve;
  }

  std::string description() const override {
    return fmt::format("generated learning curves of {} epochs, seed {}", options_.epochs,
                       options_.seed);
  }

 private:
  GeneratedCurvesOptions options_;
  Rng rng_;  // only forked
};

}  // namespace

std::unique_ptr<CurveSource> generated_curves(GeneratedCurvesOptions options) {
  return std::make_unique<GeneratedCurves>(std::move(options));
}

}  // namespace attune
