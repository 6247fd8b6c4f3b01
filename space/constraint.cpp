#include "space/constraint.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/arguments.h"

namespace attune {

// An expression that has been compiled. May be used by any thread: those that evaluate it at the
// same time wait for each other, as the values are handed to it in shared variables.
class Constraint {
 public:
  explicit Constraint(const std::string& text) : text_(text) { parser_.SetExpr(text); }
  const std::string& text() const { return text_; }
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

  // Names that are no constants or functions, in alphabetical order.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [name, unused] : parser_.GetUsedVar()) names.push_back(name);
    return names;
  }

  // `values`: of each candidate, when the parameter is a choice.
  void define(const std::string& name, std::size_t param, std::vector<double> values) {
    auto& variable = variables_[name];
    variable = {.param = param, .values = std::move(values)};
    parser_.DefineVar(name, &variable.value);
  }

  // Evaluates once. Returns the number of results, which must be 1.
  int try_out() {
    parser_.Eval();
    return parser_.GetNumResults();
  }

  // True if a parameter of the constraint is inactive: then it does not apply.
  bool holds(const Point& point) const {
    const std::lock_guard lock(mutex_);
    for (auto& [name, variable] : variables_) {
      if (!point.active(variable.param)) return true;
      const double value = point.values[variable.param];
      variable.value =
          variable.values.empty() ? value : variable.values[static_cast<std::size_t>(value)];
    }
    const double result = parser_.Eval();
    return !std::isnan(result) && result != 0;
  }

 private:
  struct Variable {
    std::size_t param = 0;
    std::vector<double> values = {};
    double value = 1;
  };
  const std::string text_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Variable> variables_;  // whose addresses are stable
  mu::Parser parser_;
};

namespace {

constexpr const char* kNameCharacters =
    "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool is_name(const std::string& name) {
  return !name.empty() && name.find_first_not_of(kNameCharacters) == name.npos &&
         !(name[0] >= '0' && name[0] <= '9');
}

std::size_t position_of(const std::string& name, const std::string& text) {
  auto inside = [&text](std::size_t at) {
    return at < text.size() &&
           std::string_view(kNameCharacters).find(text[at]) != std::string::npos;
  };
  std::size_t at = text.find(name);
  while (at != text.npos && ((at > 0 && inside(at - 1)) || inside(at + name.size()))) {
    at = text.find(name, at + 1);
  }
  return at;
}

// The position of a "=" that is part of no comparison, or npos. muParser would take it for an
// assignment.
std::size_t lone_equals(const std::string& text) {
  for (std::size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '=') {
      ++at;
    } else if (at == 0 || std::string_view("<>!").find(text[at - 1]) == std::string::npos) {
      return at;
    }
  }
  return text.npos;
}

std::unexpected<Error> unknown(const Space& space, const std::string& name, std::size_t position) {
  std::vector<std::string> usable;
  std::string hint;
  for (const Param& param : space.params) {
    if (is_name(param.name)) {
      usable.push_back(param.name);
    } else if (hint.empty()) {
      hint = fmt::format(
          "; \"{}\" cannot stand in a constraint: its name is not letters, digits and _ alone",
          param.name);
    }
  }
  const std::string near = nearest_name(name, usable);
  if (!near.empty()) hint = fmt::format("; did you mean \"{}\"?", near);
  return fail(fmt::format("unknown parameter \"{}\" at position {}{}", name, position, hint));
}

// What each candidate of a choice counts as; empty for other domains.
Result<std::vector<double>> values_of(const Domain& domain, const std::string& name) {
  std::vector<double> values;
  const auto* choice = std::get_if<Choice>(&domain);
  const bool wrong = std::holds_alternative<Subset>(domain) || (choice && choice->layer);
  if (choice && !wrong) {
    for (const json& candidate : choice->candidates) {
      if (candidate.is_boolean()) {
        values.push_back(candidate.get<bool>() ? 1 : 0);
      } else if (candidate.is_number()) {
        values.push_back(candidate.get<double>());
      } else {
        return fail(fmt::format("parameter \"{}\" is not a number: it may be {}", name,
                                dump_json(candidate)));
      }
    }
  }
  if (wrong) return fail(fmt::format("parameter \"{}\" is not a number", name));
  return values;
}

Result<void> bind(Constraint& constraint, const std::string& name, const Space& space,
                  const std::string& text) {
  const auto found = std::ranges::find(space.params, name, &Param::name);
  if (found == space.params.end()) return unknown(space, name, position_of(name, text));
  if (std::ranges::count(space.params, name, &Param::name) > 1) {
    return fail(fmt::format("several parameters have the name \"{}\"", name));
  }
  constraint.define(name, static_cast<std::size_t>(found - space.params.begin()),
                    TRY(values_of(found->domain, name)));
  return {};
}

Result<std::shared_ptr<const Constraint>> compile(const Space& space, const std::string& text) {
  if (const auto at = lone_equals(text); at != text.npos) {
    return fail(fmt::format("\"=\" at position {} assigns; equality is \"==\"", at));
  }
  try {
    auto constraint = std::make_shared<Constraint>(text);
    for (const std::string& name : constraint->names()) TRY(bind(*constraint, name, space, text));
    if (constraint->try_out() != 1) {
      return fail("several expressions; write each as a constraint of its own");
    }
    return constraint;
  } catch (const mu::ParserError& error) {
    return fail(error.GetMsg());
  }
}

}  // namespace

Result<void> set_constraints(Space& space, const std::vector<std::string>& texts) {
  if (!space.unread.is_null() && !texts.empty()) {
    return fail(
        "constraints: this algorithm alone reads the search space, and must keep to them "
        "itself");
  }
  std::vector<std::shared_ptr<const Constraint>> constraints;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto constraint = compile(space, texts[i]);
    if (!constraint) {
      return fail(
          fmt::format("constraints[{}] \"{}\": {}", i, texts[i], constraint.error().message));
    }
    constraints.push_back(*std::move(constraint));
  }
  space.constraints = std::move(constraints);
  return {};
}

Result<void> check_constraint(const Space& space, const std::string& text) {
  TRY(compile(space, text));
  return {};
}

bool same_points(const Space& a, const Space& b) {
  const auto equal = [](const Param& x, const Param& y) {
    return x.name == y.name && x.domain == y.domain && x.condition == y.condition;
  };
  const auto same_text = [](const auto& x, const auto& y) { return x->text() == y->text(); };
  return a.unread.is_null() && b.unread.is_null() &&
         std::ranges::equal(a.params, b.params, equal) &&
         std::ranges::equal(a.constraints, b.constraints, same_text);
}

bool Space::feasible(const Point& point) const {
  return std::ranges::all_of(constraints,
                             [&](const auto& constraint) { return constraint->holds(point); });
}

}  // namespace attune
