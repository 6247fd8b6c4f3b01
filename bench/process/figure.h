#pragma once
// One measured figure: a sample for each repetition.
#include <string>
#include <vector>

#include "base/json.h"

namespace attune::bench {

struct Figure {
  std::string name;  // "latency of TPE after 1000 observations"
  std::string unit;  // "us", "ms", "MiB", "1/s"
  std::vector<double> samples = {};
};

// The middle one, of an even number the mean of the middle two. `samples` is not empty.
double median(std::vector<double> samples);

// {"name", "unit", "median", "low", "high", "samples": their number}; low and high are the
// extremes.
json to_json(const Figure& figure);
std::string to_text(const Figure& figure);  // one line

}  // namespace attune::bench
