#pragma once
// Whether the losses of an experiment fall over decades.
#include <limits>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

// A value. Not thread safe.
class LossSpan {
 public:
  // The lowest loss is compared with the median of so many first ones.
  static constexpr std::size_t kFirst = 10;
  // They fall over decades if the lowest is positive, and below this share of the median.
  static constexpr double kShare = 0.01;

  void add(double loss);  // finite
  bool has_decades() const;

  json save() const;
  // Loads the member `key` of `object`, as save() made it. After an error it must not be used.
  Result<void> load(const json& object, std::string_view key);

 private:
  std::vector<double> first_;
  double lowest_ = std::numeric_limits<double>::infinity();
};

}  // namespace attune
