#include "study/space_builder.h"

#include <utility>

namespace attune {

SpaceBuilder& SpaceBuilder::add(const std::string& name, const char* type, json value) {
  space_[name] = {{"_type", type}, {"_value", std::move(value)}};
  return *this;
}

SpaceBuilder& SpaceBuilder::uniform(const std::string& name, double low, double high) {
  return add(name, "uniform", json::array({low, high}));
}
SpaceBuilder& SpaceBuilder::quniform(const std::string& name, double low, double high, double q) {
  return add(name, "quniform", json::array({low, high, q}));
}
SpaceBuilder& SpaceBuilder::loguniform(const std::string& name, double low, double high) {
  return add(name, "loguniform", json::array({low, high}));
}
SpaceBuilder& SpaceBuilder::qloguniform(const std::string& name, double low, double high,
                                        double q) {
  return add(name, "qloguniform", json::array({low, high, q}));
}
SpaceBuilder& SpaceBuilder::normal(const std::string& name, double mu, double sigma) {
  return add(name, "normal", json::array({mu, sigma}));
}
SpaceBuilder& SpaceBuilder::qnormal(const std::string& name, double mu, double sigma, double q) {
  return add(name, "qnormal", json::array({mu, sigma, q}));
}
SpaceBuilder& SpaceBuilder::lognormal(const std::string& name, double mu, double sigma) {
  return add(name, "lognormal", json::array({mu, sigma}));
}
SpaceBuilder& SpaceBuilder::qlognormal(const std::string& name, double mu, double sigma, double q) {
  return add(name, "qlognormal", json::array({mu, sigma, q}));
}
SpaceBuilder& SpaceBuilder::randint(const std::string& name, std::int64_t low, std::int64_t high) {
  return add(name, "randint", json::array({low, high}));
}

SpaceBuilder& SpaceBuilder::choice(const std::string& name, const std::vector<json>& candidates) {
  return add(name, "choice", json(candidates));
}

SpaceBuilder& SpaceBuilder::nested(const std::string& name,
                                   const std::vector<SpaceOption>& options) {
  json candidates = json::array();
  for (const SpaceOption& option : options) {
    json candidate = {{"_name", option.name}};
    candidate.update(option.parameters.build());
    candidates.push_back(std::move(candidate));
  }
  return add(name, "choice", std::move(candidates));
}

}  // namespace attune
