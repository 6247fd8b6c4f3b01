#pragma once
// What a plug-in in C++ is made of: search spaces, points, answers, and the classes to derive from.
// Part of attune_plugin.hpp, which says how to use it.
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/attune_plugin.h"

namespace attune::plugin {

inline constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();

// As attune_parameter, whose comments say what each member means.
struct Parameter {
  attune_parameter_type type = ATTUNE_REAL;
  std::string path, candidates;
  bool log = false;
  double low = 0, high = 0, mean = 0, deviation = 0, step = 0;
  std::uint64_t count = 0, chosen = 0;
  std::int64_t parent = -1, branch = -1;
};
using Space = std::vector<Parameter>;
using Point = std::vector<double>;  // one for each parameter; NaN: not active

// Whether parameter i is active, given the values before it.
inline bool is_active(const Space& space, const Point& point, std::size_t i) {
  const Parameter& parameter = space[i];
  if (parameter.parent < 0) return true;
  const double chosen = point[static_cast<std::size_t>(parameter.parent)];
  return chosen == static_cast<double>(parameter.branch);
}

struct Objective {
  std::string metric;
  bool maximize = false;
  std::optional<double> limit;
};

// What an algorithm is told when it is made.
class Setup {
 public:
  explicit Setup(const attune_setup& given) : given_(given) {
    for (std::size_t i = 0; i < given.objective_count; ++i) {
      const attune_objective& o = given.objectives[i];
      objectives.push_back(
          {o.metric, o.maximize != 0, o.has_limit ? std::optional<double>(o.limit) : std::nullopt});
    }
    if (given.max_trials >= 0) max_trials = given.max_trials;
    if (given.concurrency >= 0) concurrency = given.concurrency;
    if (given.fidelity_metric) fidelity_metric = given.fidelity_metric;
  }

  std::uint64_t seed() const { return given_.seed; }
  // Of a declared argument. number() is also for booleans and integers; NaN: it is null.
  double number(const std::string& name) const {
    const attune_argument& argument = find(name);
    return argument.type == ATTUNE_NULL ? kInactive : argument.number;
  }
  std::string text(const std::string& name) const {
    const attune_argument& argument = find(name);
    return argument.text ? argument.text : "";
  }
  bool pauses() const { return given_.pauses != 0; }
  bool assessed() const { return given_.assessed != 0; }

  std::vector<Objective> objectives;  // at least one
  std::optional<std::int64_t> max_trials, concurrency;
  std::string fidelity_metric;  // empty: not known
  std::int64_t fidelity_max() const { return given_.fidelity_max; }

 private:
  const attune_argument& find(const std::string& name) const {
    for (std::size_t i = 0; i < given_.argument_count; ++i) {
      if (name == given_.arguments[i].name) return given_.arguments[i];
    }
    throw std::logic_error("the argument " + name + " is not declared");
  }

  const attune_setup& given_;  // valid in the constructor of the algorithm
};

struct Answer {
  attune_answer_kind kind = ATTUNE_NOT_YET;
  Point point = {};
  std::optional<double> budget = {};
  std::optional<std::int64_t> resume = {}, checkpoint_from = {};
  std::string reason = {};

  static Answer proposal(Point point) { return {ATTUNE_PROPOSAL, std::move(point)}; }
  static Answer exhausted() { return {ATTUNE_EXHAUSTED}; }
  static Answer not_yet() { return {ATTUNE_NOT_YET}; }
};

using Metrics = std::map<std::string, double>;

struct Outcome {
  std::int64_t trial = 0;
  attune_end end = ATTUNE_COMPLETED;
  std::optional<double> loss;  // to be minimised; nothing: no usable result
  std::optional<double> budget;
  Point point;
  Metrics metrics;
};
struct Report {
  std::int64_t trial = 0;
  std::int64_t step = 0;
  Metrics metrics;
};
struct Decision {
  std::int64_t trial = 0;
  attune_action action = ATTUNE_KEEP_GOING;
  std::string reason = {};
  bool complete = false;
};

// What all algorithms can do. save() and load() are called only if the description says saves().
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual std::string save() { throw std::logic_error("save() is not written"); }
  virtual void load(const std::string& /*state*/) {
    throw std::logic_error("load() is not written");
  }
};

// A class derived from it has a constructor that takes a const Setup&. The contracts are in
// attune_plugin.h.
class Tuner : public Algorithm {
 public:
  virtual void set_space(const Space& space) = 0;
  virtual Answer ask(std::int64_t id) = 0;
  virtual void tell(const Outcome& outcome) = 0;
  virtual void adopt(std::int64_t trial, const Point& point) = 0;
  virtual void withdraw(std::int64_t /*trial*/) {}
  virtual std::vector<Decision> report(const Report&) { return {}; }
  virtual void skip_ahead() {}
};

// The same.
class Assessor : public Algorithm {
 public:
  virtual Decision assess(std::int64_t trial, const std::vector<Report>& reports) = 0;
  virtual void trial_end(std::int64_t /*trial*/, attune_end /*end*/) {}
};

}  // namespace attune::plugin
