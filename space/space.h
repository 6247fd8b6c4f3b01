#pragma once
// What may be tried. Value types only: they copy and compare, and know nothing of trials.
//
// A Space is flat: the parameters in depth-first declaration order, those inside an option of a
// nested choice guarded by a Condition that names the choice (always at a smaller index).
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.h"

namespace attune {

// One of `candidates` (any JSON values, output verbatim). The value is the candidate's index.
struct Choice {
  std::vector<json> candidates;        // nested options: only {"_name": ...}, children are params
  std::vector<std::size_t> canonical;  // index of the first equal candidate, for deduplication
  bool layer = false;                  // layer_choice: written {"_value": c, "_idx": i}
  bool nested = false;                 // every candidate is an object with a `_name`

  // Whether the candidates are a scale, which a model may interpolate: at least three numbers in
  // ascending order.
  bool is_scale() const;
  bool operator==(const Choice&) const = default;
};

// `chosen` different ones of `candidates` (input_choice). The value is a bit mask, bit i =
// candidate i; at most 52 candidates, so that a double holds it.
struct Subset {
  std::vector<json> candidates;
  std::size_t chosen = 0;
  bool operator==(const Subset&) const = default;
};

// An integer in [low, high).
struct IntRange {
  std::int64_t low = 0, high = 0;
  bool operator==(const IntRange&) const = default;
};

// A real in [low, high], uniform on the linear or (log) the logarithmic scale, rounded to multiples
// of q (half to even) and then clipped, in double arithmetic: 3 * 0.1 stays 0.30000000000000004.
// low == high is a constant.
struct Uniform {
  double low = 0, high = 0;
  bool log = false;
  std::optional<double> q;
  bool operator==(const Uniform&) const = default;
};

// A normal, or (log) the exponential of one; mu and sigma are those of the exponent. Rounded to
// multiples of q. Not clipped, except to the finite doubles. sigma == 0 is a constant.
struct Normal {
  double mu = 0, sigma = 1;
  bool log = false;
  std::optional<double> q;
  bool operator==(const Normal&) const = default;
};

using Domain = std::variant<Choice, Subset, IntRange, Uniform, Normal>;

// Active only where parameter `parent` (a nested Choice) is active and has the value `branch`.
struct Condition {
  std::size_t parent = 0;
  std::size_t branch = 0;
  bool operator==(const Condition&) const = default;
};

// Where the user expects the best value of a parameter. `sure`, in (0, 1), is the probability that
// the user gives to being right: the best candidate is this one, or the best number is at most a
// tenth of the range away, on the parameter's own scale (space/prior.h).
struct Prior {
  static constexpr double kSure = 0.7;  // if the user does not say how sure

  double value = 0;  // as in a Point
  double sure = kSure;
  bool operator==(const Prior&) const = default;
};

struct Param {
  std::string name;  // key in its own object
  std::string path;  // for messages: "layer0[1].kernel_size"
  Domain domain;
  std::optional<Condition> condition;
  std::optional<double> default_value = {};  // that the user would take without a search
  std::optional<Prior> prior = {};           // not of a Subset
};

// One value per parameter of its Space, in the same order, as a trial sees it: choice index, subset
// mask, integer, or the rounded and clipped real. NaN where the parameter is inactive.
struct Point {
  std::vector<double> values;
  json parameters = nullptr;  // in a space that is `unread`: what the trial gets, never null

  static constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();
  bool active(std::size_t i) const { return values[i] == values[i]; }
  bool operator==(const Point& other) const;  // inactive equals inactive
};

class Constraint;  // space/constraint.h

struct Space {
  std::vector<Param> params;
  std::vector<std::shared_ptr<const Constraint>> constraints = {};  // hard ones; copies share them
  // Unless null: what the manager calls its search space, which only the algorithm reads. Then
  // there are no params and no constraints, and a point may be any JSON but null.
  json unread = nullptr;

  bool feasible(const Point& point) const;  // whether all constraints hold
};

// Whether `param` stands in an option of parameter `ancestor`, at any depth. Valid only for the
// parameters behind `ancestor`, up to the first for which it is false: their order is depth-first.
inline bool is_descendant(const Param& param, std::size_t ancestor) {
  return param.condition && param.condition->parent >= ancestor;
}

// Whether parameter i is active given the values of the parameters before it.
bool is_active(const Space& space, const Point& point, std::size_t i);

// The number of different points, or nothing when a top-level parameter is continuous (unbounded
// and huge counts too: nothing above 2^53, or with multiples of q above 2^40). Equal candidates
// count once; nested branches add up.
std::optional<std::uint64_t> point_count(const Space& space);

// A real without q that is not a constant.
bool is_continuous(const Domain& domain);

// Whether both have the same points and the same constraints: they differ in defaults and priors
// only, if at all. Never true of unread spaces.
bool same_points(const Space& a, const Space& b);

// The space of an algorithm that alone understands `search_space`. The built-in ones cannot search
// it.
Space unread_space(json search_space);

// The user's JSON for a point: keys in declaration order, nested choices as {"_name": ..., ...}.
// What has no value is left out.
json to_json(const Space& space, const Point& point);

// The inverse, for imports and custom trials. Every active parameter must be present and inside its
// domain (reals: inside the bounds, up to 1e-12 relative outside of them is clipped; q is not
// demanded); ints may be written 3.0; candidates are found by equal JSON, then with 1 == 1.0; keys
// that the space does not know are an error. Errors name the path.
Result<Point> point_from_json(const Space& space, const json& parameters);

// The value of each parameter as point_from_json() gives it, for what is only looked at:
// Point::kInactive for those that are inactive, missing, or outside of their domain. What the space
// does not know is left out.
std::vector<double> known_values(const Space& space, const json& parameters);

}  // namespace attune
