#pragma once
// A search space in code, for those who do not write JSON. Ranges and types are NNI's
// (docs/search-space.md); mistakes are reported when a study is made from it. A name that is used
// twice is the later parameter, as in JSON.
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

struct SpaceOption;

class SpaceBuilder {
 public:
  SpaceBuilder& uniform(const std::string& name, double low, double high);
  SpaceBuilder& quniform(const std::string& name, double low, double high, double q);
  SpaceBuilder& loguniform(const std::string& name, double low, double high);
  SpaceBuilder& qloguniform(const std::string& name, double low, double high, double q);
  SpaceBuilder& normal(const std::string& name, double mu, double sigma);
  SpaceBuilder& qnormal(const std::string& name, double mu, double sigma, double q);
  SpaceBuilder& lognormal(const std::string& name, double mu, double sigma);
  SpaceBuilder& qlognormal(const std::string& name, double mu, double sigma, double q);
  SpaceBuilder& randint(const std::string& name, std::int64_t low,
                        std::int64_t high);  // [low, high)
  SpaceBuilder& choice(const std::string& name, const std::vector<json>& candidates);
  // The trial reads {"_name": the option, and its parameters}.
  SpaceBuilder& nested(const std::string& name, const std::vector<SpaceOption>& options);

  json build() const { return space_; }

 private:
  SpaceBuilder& add(const std::string& name, const char* type, json value);
  json space_ = json::object();
};

struct SpaceOption {
  std::string name;
  SpaceBuilder parameters = {};
};

}  // namespace attune
