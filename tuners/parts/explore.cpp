#include "tuners/parts/explore.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/overloaded.h"
#include "space/sample.h"

namespace attune {
namespace explore {
namespace {

constexpr int kExplores = 50, kDraws = 100;
constexpr double kLargest = std::numeric_limits<double>::max();

struct Change {
  double value = 0;
  std::string what;
};

// The value of the domain that is nearest to x.
double nearest(const IntRange& domain, double x) {
  return std::clamp(x + 0.0, static_cast<double>(domain.low), static_cast<double>(domain.high - 1));
}
double nearest(const Uniform& domain, double x) {
  const double inside = std::clamp(x + 0.0, domain.low, domain.high);
  return domain.q ? from_internal(domain, to_internal(domain, inside)) : inside;
}
double nearest(const Normal& domain, double x) {
  const double least = domain.log ? std::numeric_limits<double>::denorm_min() : -kLargest;
  if (domain.q)
    return from_internal(domain, to_internal(domain, std::clamp(x, -kLargest, kLargest)));
  return std::clamp(x + 0.0, least, kLargest);
}

// One candidate further up or down.
Change shifted(const Choice& domain, double value, bool up) {
  const double last = static_cast<double>(domain.candidates.size() - 1);
  const double next = std::clamp(value + (up ? 1 : -1), 0.0, last);
  return {next, fmt::format("shift {}{}", up ? "right" : "left", next == value ? " (noop)" : "")};
}

Change exchanged(const Subset& domain, double value, Rng& rng) {
  const auto mask = static_cast<std::uint64_t>(value);
  std::vector<std::size_t> in, out;
  for (std::size_t i = 0; i < domain.candidates.size(); ++i) {
    ((mask >> i & 1) != 0 ? in : out).push_back(i);
  }
  if (in.empty() || out.empty()) return {value, "exchange (noop)"};
  const std::uint64_t less = std::uint64_t{1} << in[rng.index(in.size())];
  const std::uint64_t more = std::uint64_t{1} << out[rng.index(out.size())];
  return {static_cast<double>(mask - less + more), "exchange"};
}

Change multiplied(const auto& domain, double value, const RayExplore& rule, Rng& rng) {
  const double factor = rule.factors[rng.index(rule.factors.size())];
  double x = value * factor;
  if constexpr (std::is_same_v<std::decay_t<decltype(domain)>, IntRange>) x = std::trunc(x);
  return {nearest(domain, x), fmt::format("* {}", factor)};
}

// One step of NNI.
double stepped(const IntRange& domain, double value, double sign, double) {
  return nearest(domain, value + sign);
}
double stepped(const Uniform& domain, double value, double sign, double factor) {
  if (domain.q) return nearest(domain, value + sign * *domain.q);
  const double low = to_internal(domain, domain.low), high = to_internal(domain, domain.high);
  const double x = to_internal(domain, value) + sign * factor * (high - low);
  return nearest(domain, domain.log ? std::exp(std::clamp(x, low, high)) : x);
}
double stepped(const Normal& domain, double value, double sign, double factor) {
  if (domain.q) return nearest(domain, value + sign * *domain.q);
  const double x = to_internal(domain, value) + sign * factor * domain.sigma;
  return nearest(domain, domain.log ? std::exp(x) : x);
}

// Calls change(domain, value) -> Change for each parameter that may change.
template <class F>
Explored once(const Space& space, const Mutable& which, const Point& from, Rng& rng, F&& change) {
  Explored result{from, {}};
  for (std::size_t i = 0; i < space.params.size(); ++i) {
    const Param& param = space.params[i];
    double& value = result.point.values[i];
    Change made{value, ""};
    if (!is_active(space, result.point, i)) {
      value = Point::kInactive;
      continue;
    }
    if (!from.active(i)) {
      made = {sample(param.domain, rng), "resample"};
    } else if (which[i]) {
      made = change(param.domain, value);
    }
    value = made.value;
    if (!made.what.empty()) result.changes.push_back(param.path + " " + made.what);
  }
  return result;
}

template <class F>
Explored feasible(const Space& space, const Mutable& which, const Point& from, Rng& rng,
                  F&& change) {
  for (int i = 0; i < kExplores; ++i) {
    Explored result = once(space, which, from, rng, change);
    if (space.feasible(result.point)) return result;
  }
  return {from, {}};
}

}  // namespace
}  // namespace explore

std::string copies_text(const Space& space, const Donor& donor, const Explored& explored) {
  const std::string changes = fmt::format("{}", fmt::join(explored.changes, ", "));
  return fmt::format("copies the trial with {} at {} {:.6g}, rank {} of {}; {}: {}", donor.result,
                     donor.attribute, donor.resource, donor.rank, donor.of,
                     changes.empty() ? "nothing changes" : changes,
                     dump_json(to_json(space, explored.point)));
}

Result<Mutable> mutable_parameters(const Space& space, const std::string& names) {
  Mutable which(space.params.size(), false);
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    std::string name = names.substr(begin, end - begin);
    std::erase(name, ' ');
    bool found = false;
    for (std::size_t i = 0; i < space.params.size(); ++i) {
      if (space.params[i].name != name && space.params[i].path != name) continue;
      which[i] = found = true;
    }
    if (!found) return fail(name);
    begin = end + 1;
  }
  return which;
}

Explored explore_as_ray(const Space& space, const Mutable& which, const Point& point,
                        const RayExplore& rule, Rng& rng) {
  using namespace explore;
  return feasible(space, which, point, rng, [&](const Domain& domain, double value) -> Change {
    if (rng.uniform() < rule.resample_probability) return {sample(domain, rng), "resample"};
    return std::visit(
        Overloaded{[&](const Choice& d) { return shifted(d, value, rng.index(2) == 1); },
                   [&](const Subset& d) { return exchanged(d, value, rng); },
                   [&](const auto& d) { return multiplied(d, value, rule, rng); }},
        domain);
  });
}

Explored explore_as_syne(const Space& space, const Mutable& which, const Point& point,
                         const RayExplore& rule, Rng& rng) {
  using namespace explore;
  return feasible(space, which, point, rng, [&](const Domain& domain, double value) -> Change {
    const auto again = [&] { return Change{sample(domain, rng), "resample"}; };
    if (rng.uniform() < rule.resample_probability) return again();
    return std::visit(
        Overloaded{[&](const Choice&) { return again(); }, [&](const Subset&) { return again(); },
                   [&](const auto& d) { return multiplied(d, value, rule, rng); }},
        domain);
  });
}

Explored explore_as_nni(const Space& space, const Point& point, const NniExplore& rule, Rng& rng) {
  using namespace explore;
  const Mutable all(space.params.size(), true);
  return feasible(space, all, point, rng, [&](const Domain& domain, double value) -> Change {
    if (rng.uniform() < rule.resample_probability) return {sample(domain, rng), "resample"};
    const bool up = rng.index(2) == 1;
    return std::visit(Overloaded{[&](const Choice& d) { return shifted(d, value, up); },
                                 [&](const Subset& d) { return exchanged(d, value, rng); },
                                 [&](const auto& d) {
                                   return Change{stepped(d, value, up ? 1 : -1, rule.factor),
                                                 up ? "step up" : "step down"};
                                 }},
                      domain);
  });
}

Point feasible_sample(const Space& space, Rng& rng) {
  Point point = sample(space, rng);
  for (int i = 1; i < explore::kDraws && !space.feasible(point); ++i) point = sample(space, rng);
  return point;
}

}  // namespace attune
