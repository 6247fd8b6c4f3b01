#include "tuners/parts/tpe_groups.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "space/combinations.h"
#include "space/sample.h"

namespace attune {
namespace {

using Kind = TpeVariable::Kind;

// With more steps than this, rounding a coordinate makes no difference.
constexpr double kMostRounded = 0x1p20;

// Whether two parameters share a variable. A nested choice shares none, because the parameters in
// its options are its own.
bool is_twin(const Param& a, const Param& b) {
  const auto* choice = std::get_if<Choice>(&a.domain);
  return a.condition && b.condition && a.condition->parent == b.condition->parent &&
         a.name == b.name && a.domain == b.domain && !(choice && choice->nested);
}

// The ends of the cell that rounds to a value: q/2 below and above. For logarithms the lower end
// stays positive.
double cell_low(const std::optional<double>& q, bool log, double value) {
  if (!q) return value;
  return log ? std::max(value - *q / 2, value / 2) : value - *q / 2;
}
double cell_high(const std::optional<double>& q, double value) {
  return q ? value + *q / 2 : value;
}

// Makes the variable of a domain; nothing for a constant, or if doubles are too coarse to vary it.
struct MakeVariable {
  using Made = std::optional<TpeVariable>;

  Made operator()(const Choice& domain) const {
    const auto count = static_cast<double>(domain.candidates.size());
    if (domain.is_scale()) return steps(0, count);
    return categories(count);
  }
  Made operator()(const Subset& domain) const {
    return categories(static_cast<double>(binomial(domain.candidates.size(), domain.chosen)));
  }
  Made operator()(const IntRange& domain) const {
    const auto low = static_cast<double>(domain.low);
    return steps(low, static_cast<double>(domain.high) - low);
  }
  Made operator()(const Uniform& domain) const {
    if (domain.low == domain.high) return std::nullopt;
    const double low = to_internal(domain, cell_low(domain.q, domain.log, domain.low));
    const double width = to_internal(domain, cell_high(domain.q, domain.high)) - low;
    return std::isnormal(width / 100) ? Made({.low = low, .width = width}) : std::nullopt;
  }
  Made operator()(const Normal& domain) const {
    if (!std::isnormal(domain.sigma / 100)) return std::nullopt;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return TpeVariable{.axis = {-kInfinity, kInfinity}, .low = domain.mu, .width = domain.sigma};
  }

  static Made steps(double low, double count) {
    if (count < 2) return std::nullopt;
    return TpeVariable{.kind = Kind::steps, .low = low, .width = count};
  }
  static Made categories(double count) {
    if (count < 2) return std::nullopt;
    return TpeVariable{.kind = Kind::category, .axis = {.categories = count}};
  }
};

// Clips a coordinate into its axis: rounding may have put it beyond a bound, and an import may lie
// beyond all deviations.
double into(const MixtureAxis& axis, double x) {
  constexpr double kFar = 1e3;
  return std::clamp(x, std::max(axis.low, -kFar), std::min(axis.high, kFar));
}

}  // namespace

TpeGroups::TpeGroups(const Space& space) : group_of_(space.params.size(), kConstant) {
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    auto made = std::visit(MakeVariable{}, param.domain);
    if (!made) continue;
    // Parameters of the same name in several options of one choice share a variable.
    const auto twin = std::ranges::find_if(variables_, [&](const TpeVariable& other) {
      return is_twin(space.params[other.params.front()], param);
    });
    if (twin != variables_.end()) {
      twin->params.push_back(i);
      continue;
    }
    made->params.push_back(i);
    variables_.push_back(*std::move(made));
    domains_.push_back(param.domain);
  }
  // Variables under the same conditions form a group.
  std::vector<std::vector<Condition>> conditions;  // of groups
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    std::vector<Condition> mine;
    for (const std::size_t i : variables_[v].params) {
      if (space.params[i].condition) mine.push_back(*space.params[i].condition);
    }
    const auto g =
        static_cast<std::size_t>(std::ranges::find(conditions, mine) - conditions.begin());
    if (g == conditions.size()) {
      conditions.push_back(std::move(mine));
      groups_.emplace_back();
    }
    groups_[g].push_back(v);
    for (const std::size_t i : variables_[v].params) group_of_[i] = g;
  }
}

void TpeGroups::encode(const Point& point, std::span<Coordinate> coordinates) const {
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    coordinates[v] = {};
    for (const std::size_t i : variables_[v].params) {
      if (!point.active(i)) continue;
      coordinates[v] = {coordinate(v, point.values[i]), cell(v, point.values[i])};
    }
  }
}

double TpeGroups::rounded(std::size_t variable, double x, Rng& rng) const {
  const TpeVariable& v = variables_[variable];
  const Domain& domain = domains_[variable];
  if (v.kind == Kind::category) {
    const double value = x == ProductMixture::kAnyCategory ? sample(domain, rng) : x;
    return coordinate(variable, value);
  }
  if (v.kind == Kind::steps) {
    if (v.width > kMostRounded) return x;
    return (std::clamp(std::floor(x * v.width), 0.0, v.width - 1) + 0.5) / v.width;
  }
  const bool rounds = std::visit(
      [](const auto& d) {
        if constexpr (requires { d.q; }) return d.q.has_value();
        return false;
      },
      domain);
  return rounds ? coordinate(variable, value(variable, x)) : x;
}

double TpeGroups::value(std::size_t variable, double x) const {
  const TpeVariable& v = variables_[variable];
  if (v.kind == Kind::category) return x;
  if (v.kind == Kind::number) return from_internal(domains_[variable], v.low + x * v.width);
  const double step = std::clamp(std::floor(x * v.width), 0.0, v.width - 1);
  return from_internal(domains_[variable], v.low + step);  // clips: a range may be beyond 2^53
}

double TpeGroups::coordinate(std::size_t variable, double value) const {
  const TpeVariable& v = variables_[variable];
  const Domain& domain = domains_[variable];
  if (v.kind == Kind::category) {
    const auto* choice = std::get_if<Choice>(&domain);
    if (!choice || choice->nested) return value;
    return static_cast<double>(choice->canonical[static_cast<std::size_t>(value)]);
  }
  if (v.kind == Kind::steps) return into(v.axis, (value - v.low + 0.5) / v.width);
  return into(v.axis, (to_internal(domain, value) - v.low) / v.width);
}

double TpeGroups::cell(std::size_t variable, double value) const {
  const TpeVariable& v = variables_[variable];
  const Domain& domain = domains_[variable];
  const auto of_real = [&](const auto& d) {
    if (!d.q) return 0.0;
    const double low = to_internal(domain, cell_low(d.q, d.log, value));
    const double size = (to_internal(domain, cell_high(d.q, value)) - low) / v.width;
    return std::isfinite(size) ? std::clamp(size, 0.0, 1.0) : 1.0;
  };
  if (v.kind == Kind::category) return 0;
  if (v.kind == Kind::steps) return 1 / v.width;
  if (const auto* uniform = std::get_if<Uniform>(&domain)) return of_real(*uniform);
  return of_real(std::get<Normal>(domain));
}

}  // namespace attune
