#pragma once
// Parts of search spaces, and their parameters as numbers. Private to the problems.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace attune::bench {

using Values = std::vector<double>;

inline json uniform(double low, double high) {
  return {{"_type", "uniform"}, {"_value", json::array({low, high})}};
}
inline std::string key(std::size_t i) { return fmt::format("x{}", i); }

// x0, x1, ... with these ranges.
inline json ranges(const std::vector<std::pair<double, double>>& of) {
  json space = json::object();
  for (std::size_t i = 0; i < of.size(); ++i) space[key(i)] = uniform(of[i].first, of[i].second);
  return space;
}
inline json ranges(std::size_t d, double low, double high) {
  return ranges(std::vector(d, std::pair(low, high)));
}

inline Values reals(const json& parameters, std::size_t first, std::size_t count) {
  Values x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(parameters[key(first + i)]);
  return x;
}

}  // namespace attune::bench
