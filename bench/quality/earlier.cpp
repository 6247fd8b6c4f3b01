#include "bench/quality/earlier.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace attune::bench {
namespace {

constexpr double kShift = 0.07;  // of a related problem: a standard deviation, in ranges

double moved(double position, Kinship kinship, Rng& rng) {
  if (kinship == Kinship::foreign) {
    const double around = position + rng.uniform(0.35, 0.65);
    return around - std::floor(around);
  }
  const double shifted = std::abs(position + kShift * rng.normal());
  return shifted > 1 ? 2 - shifted : shifted;
}

// The category that stands in the place of number `i`, for every i.
std::vector<std::size_t> order(std::size_t count, Kinship kinship, Rng& rng) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = i;
  if (kinship == Kinship::foreign) {
    for (std::size_t i = count; i > 1; --i) std::swap(places[i - 1], places[rng.index(i)]);
  } else if (rng.index(7) == 0) {
    std::swap(places[rng.index(count)], places[rng.index(count)]);
  }
  return places;
}

// Always draws the same for the same domain, whatever the value.
json moved(const json& domain, const json& value, Kinship kinship, Rng rng) {
  const std::string type = domain["_type"];
  const json& values = domain["_value"];
  if (type == "choice") {
    if (value.is_object()) {  // the options of a nested choice stay, their parameters move
      json option = value;
      for (const json& each : values) {
        if (each["_name"] != value["_name"]) continue;
        for (auto& [key, inner] : option.items()) {
          if (key != "_name") inner = moved(each[key], inner, kinship, rng.fork(key));
        }
      }
      return option;
    }
    const auto places = order(values.size(), kinship, rng);
    const auto at = std::ranges::find(values, value) - values.begin();
    return values[places[static_cast<std::size_t>(at)]];
  }
  const double low = values[0], high = values[1];
  if (type == "randint") {
    const double cells = high - low;
    const double position = (value.get<double>() - low + 0.5) / cells;
    return static_cast<int>(low +
                            std::min(std::floor(moved(position, kinship, rng) * cells), cells - 1));
  }
  if (type == "uniform") {
    return low + (high - low) * moved((value.get<double>() - low) / (high - low), kinship, rng);
  }
  if (type == "loguniform") {
    const double range = std::log(high / low);
    return low * std::exp(range * moved(std::log(value.get<double>() / low) / range, kinship, rng));
  }
  throw std::invalid_argument("no copies of problems with the type " + type);
}

}  // namespace

Problem copy_of(const Problem& problem, Kinship kinship, Rng rng) {
  const auto map = [space = problem.space, kinship, rng](const json& parameters) {
    json mapped = parameters;
    for (auto& [key, value] : mapped.items()) {
      value = moved(space[key], value, kinship, rng.fork(key));
    }
    return mapped;
  };
  Problem copy = problem;
  copy.value = [map, value = problem.value](const json& p) { return value(map(p)); };
  if (problem.values) {
    copy.values = [map, values = problem.values](const json& p) { return values(map(p)); };
  }
  if (problem.failing) {
    copy.failing = [map, failing = problem.failing](const json& p) { return failing(map(p)); };
  }
  return copy;
}

}  // namespace attune::bench
