#include "tests/space/space_helpers.h"

#include <bit>
#include <cmath>

#include "space/parse.h"

namespace attune {
namespace {

bool is_integer(double x) { return x == std::floor(x); }

bool in_domain(const Domain& domain, double v) {
  if (const auto* d = std::get_if<Choice>(&domain)) {
    return is_integer(v) && v >= 0 && v < static_cast<double>(d->candidates.size());
  }
  if (const auto* d = std::get_if<Subset>(&domain)) {
    const auto mask = static_cast<std::uint64_t>(v);
    return is_integer(v) && v < std::ldexp(1, static_cast<int>(d->candidates.size())) &&
           std::popcount(mask) == static_cast<int>(d->chosen);
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    return is_integer(v) && v >= static_cast<double>(d->low) && v < static_cast<double>(d->high);
  }
  if (const auto* d = std::get_if<Uniform>(&domain)) {
    if (!(v >= d->low && v <= d->high)) return false;
    return !d->q || v == d->low || v == d->high || v == std::round(v / *d->q) * *d->q;
  }
  const auto& d = std::get<Normal>(domain);
  if (!std::isfinite(v) || (d.log && v < 0)) return false;
  return !d.q || v == std::round(v / *d.q) * *d.q;
}

json random_domain(Rng& rng, const RandomSpace& options, int depth) {
  const auto number = [&] { return static_cast<double>(rng.integer(1, 40)) / 4; };
  json candidates = {1, "a", 2.5, nullptr, true, json::array({1, 2}), {{"k", 3}}, 1.0, "é"};
  candidates.erase(candidates.begin() + rng.integer(1, 9), candidates.end());
  const double low = number(), high = low + number(), q = number();
  switch (rng.index(options.finite ? 7 : 13)) {
    case 0:
      return {{"_type", "choice"}, {"_value", candidates}};
    case 1:
      return {{"_type", "randint"}, {"_value", {-2, rng.integer(-1, 4)}}};
    case 2:
      return {{"_type", "quniform"}, {"_value", {low - 5, high - 5, q}}};
    case 3:
      return {{"_type", "qloguniform"}, {"_value", {low, high, q}}};
    case 4:
      return {{"_type", "layer_choice"}, {"_value", candidates}};
    case 5:
      return {
          {"_type", "input_choice"},
          {"_value", {{"candidates", candidates}, {"n_chosen", 1 + rng.index(candidates.size())}}}};
    case 6: {
      if (depth == 0) return {{"_type", "uniform"}, {"_value", {low, low}}};
      json nested = json::array();
      const auto n = rng.integer(1, 4);
      for (int i = 0; i < n; ++i) {
        RandomSpace inner = options;
        inner.max_depth = depth - 1;
        inner.max_params = 2;
        json option = {{"_name", "o" + std::to_string(i)}};
        option.update(random_space(rng, inner));
        nested.push_back(option);
      }
      return {{"_type", "choice"}, {"_value", nested}};
    }
    case 7:
      return {{"_type", "uniform"}, {"_value", {-low, high}}};
    case 8:
      return {{"_type", "loguniform"}, {"_value", {low, high}}};
    case 9:
      return {{"_type", "normal"}, {"_value", {low, q}}};
    case 10:
      return {{"_type", "qnormal"}, {"_value", {low, high, q}}};
    case 11:
      return {{"_type", "lognormal"}, {"_value", {low, 1}}};
    default:
      return {{"_type", "qlognormal"}, {"_value", {low, 1, q}}};
  }
}

}  // namespace

Space space_of(const std::string& text) { return parse_space(parse_json(text).value()).value(); }

bool in_space(const Space& space, const Point& point) {
  if (point.values.size() != space.params.size()) return false;
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const auto& condition = space.params[i].condition;
    const bool wanted =
        !condition || point.values[condition->parent] == static_cast<double>(condition->branch);
    if (point.active(i) != wanted) return false;
    if (wanted && !in_domain(space.params[i].domain, point.values[i])) return false;
  }
  return true;
}

json random_space(Rng& rng, const RandomSpace& options) {
  json space = json::object();
  const auto n = rng.integer(0, options.max_params + 1);
  for (int i = 0; i < n; ++i) {
    space["p" + std::to_string(i)] = random_domain(rng, options, options.max_depth);
  }
  return space;
}

}  // namespace attune
