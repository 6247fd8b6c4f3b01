// A point from the user's JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/arguments.h"
#include "space/space.h"

namespace attune {
namespace {

// Written by other programs, bounds may come back with a digit lost.
constexpr double kOvershoot = 1e-12;

bool is_nested(const Param& param) {
  const auto* choice = std::get_if<Choice>(&param.domain);
  return choice && choice->nested;
}

// Equal as JSON, whatever the order of keys. exact: 1 and 1.0 differ.
bool equal(const json& a, const json& b, bool exact) {
  if (a.is_number() && b.is_number()) {
    return a == b && (!exact || a.is_number_float() == b.is_number_float());
  }
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_array()) {
    return std::ranges::equal(a, b,
                              [&](const json& x, const json& y) { return equal(x, y, exact); });
  }
  if (!a.is_object()) return a == b;
  for (const auto& [key, value] : a.items()) {
    const auto other = b.find(key);
    if (other == b.end() || !equal(value, *other, exact)) return false;
  }
  return true;
}

std::optional<std::size_t> find_candidate(const std::vector<json>& candidates, const json& value) {
  for (const bool exact : {true, false}) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (equal(candidates[i], value, exact)) return i;
    }
  }
  return std::nullopt;
}

std::unexpected<Error> not_a_candidate(const std::string& path, const json& value,
                                       const std::vector<json>& candidates) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> texts;
  for (const json& candidate : candidates) {
    if (texts.size() == kShown) {
      texts.emplace_back("...");
      break;
    }
    const bool named = candidate.is_object() && candidate.contains("_name");
    texts.push_back(dump_json(named ? candidate["_name"] : candidate));
  }
  return fail(fmt::format("{}: {} is not a candidate; candidates: {}", path, dump_json(value),
                          fmt::join(texts, ", ")));
}

Result<double> number(const std::string& path, const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    return fail(fmt::format("{}: must be a finite number, not {}", path, dump_json(value)));
  }
  return value.get<double>();
}

Result<double> read(const std::string& path, const json& value, const Choice& domain) {
  if (!domain.layer) {
    if (const auto i = find_candidate(domain.candidates, value)) return static_cast<double>(*i);
    return not_a_candidate(path, value, domain.candidates);
  }
  const json* i = value.is_object() && value.contains("_idx") ? &value["_idx"] : nullptr;
  if (!i || !i->is_number_integer() || !value.contains("_value")) {
    return fail(fmt::format("{}: must be {{\"_value\": candidate, \"_idx\": index}}", path));
  }
  if (*i < 0 || *i >= domain.candidates.size() ||
      !equal(domain.candidates[i->get<std::size_t>()], value["_value"], false)) {
    return fail(fmt::format("{}: _value is not the candidate number _idx", path));
  }
  return i->get<double>();
}

Result<double> read(const std::string& path, const json& value, const Subset& domain) {
  if (!value.is_object() || !value.contains("_value") || !value.contains("_idx") ||
      !value["_value"].is_array() || !value["_idx"].is_array()) {
    return fail(fmt::format("{}: must be {{\"_value\": [...], \"_idx\": [...]}}", path));
  }
  const json& chosen = value["_idx"];
  if (chosen.size() != domain.chosen || value["_value"].size() != domain.chosen) {
    return fail(fmt::format("{}: must have {} chosen candidates", path, domain.chosen));
  }
  std::uint64_t mask = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const json& i = chosen[k];
    if (!i.is_number_integer() || i < 0 || i >= domain.candidates.size() ||
        !equal(domain.candidates[i.get<std::size_t>()], value["_value"][k], false)) {
      return fail(fmt::format("{}: _value[{}] is not the candidate number _idx[{}]", path, k, k));
    }
    const std::uint64_t bit = std::uint64_t{1} << i.get<std::size_t>();
    if ((mask & bit) != 0) return fail(fmt::format("{}: _idx has {} twice", path, dump_json(i)));
    mask |= bit;
  }
  return static_cast<double>(mask);
}

Result<double> read(const std::string& path, const json& value, const IntRange& domain) {
  const double x = TRY(number(path, value));
  if (x != std::trunc(x)) {
    return fail(fmt::format("{}: must be an integer, not {}", path, dump_json(value)));
  }
  if (x < static_cast<double>(domain.low) || x >= static_cast<double>(domain.high)) {
    return fail(fmt::format("{}: {} is outside of [{}, {})", path, dump_json(value), domain.low,
                            domain.high));
  }
  return x;
}

Result<double> read(const std::string& path, const json& value, const Uniform& domain) {
  const double x = TRY(number(path, value));
  const double slack = kOvershoot * std::max(std::abs(domain.low), std::abs(domain.high));
  if (x < domain.low - slack || x > domain.high + slack) {
    return fail(fmt::format("{}: {} is outside of [{}, {}]", path, dump_json(value), domain.low,
                            domain.high));
  }
  return std::clamp(x, domain.low, domain.high);
}

Result<double> read(const std::string& path, const json& value, const Normal& domain) {
  const double x = TRY(number(path, value));
  if (domain.log && x < 0) {
    return fail(
        fmt::format("{}: {} is negative, which a lognormal is not", path, dump_json(value)));
  }
  return x;
}

class Reader {
 public:
  // keep_going: leaves out what cannot be read, and does not fail.
  Reader(const Space& space, bool keep_going) : space_(space), keep_going_(keep_going) {
    point_.values.assign(space.params.size(), Point::kInactive);
  }

  // The members of `object` from index i_ on; i_ ends behind them.
  Result<void> members(const json& object, const std::string& path,
                       const std::optional<Condition>& scope) {
    std::map<std::string_view, const json*> unread;
    for (const auto& [key, value] : object.items()) unread.emplace(key, &value);
    if (scope) unread.erase("_name");
    std::vector<std::string> names;
    while (i_ < space_.params.size() && space_.params[i_].condition == scope) {
      names.push_back(space_.params[i_].name);
      const auto it = unread.find(names.back());
      const std::string own_path = path + "." + names.back();
      if (it == unread.end()) {
        if (!keep_going_) return fail(fmt::format("{}: missing", own_path));
        skip_descendants(i_++);
        continue;
      }
      TRY(member(*it->second, own_path));
      unread.erase(it);
    }
    if (unread.empty() || keep_going_) return {};
    const std::string unknown(unread.begin()->first);
    const std::string near = nearest_name(unknown, names);
    return fail(fmt::format("{}.{}: not in the search space{}", path, unknown,
                            near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
  }

  Point take() { return std::move(point_); }

 private:
  Result<void> member(const json& value, const std::string& path) {
    const std::size_t own = i_++;
    const Param& param = space_.params[own];
    const auto value_of = [&]() -> Result<double> {
      if (is_nested(param)) return option(value, path, std::get<Choice>(param.domain));
      return std::visit([&](const auto& d) { return read(path, value, d); }, param.domain);
    };
    const Result<double> found = value_of();
    if (!found && !keep_going_) return std::unexpected(found.error());
    if (found) point_.values[own] = *found;
    if (found && is_nested(param)) {
      const auto branch = static_cast<std::size_t>(*found);
      const Condition scope{own, branch};
      while (i_ < space_.params.size() && is_descendant(space_.params[i_], own) &&
             space_.params[i_].condition != scope) {
        ++i_;  // of an option before the chosen one
      }
      TRY(members(value, path, scope));
    }
    skip_descendants(own);
    return {};
  }

  void skip_descendants(std::size_t own) {
    while (i_ < space_.params.size() && is_descendant(space_.params[i_], own)) ++i_;
  }

  Result<double> option(const json& value, const std::string& path, const Choice& choice) {
    if (!value.is_object() || !value.contains("_name")) {
      return fail(
          fmt::format("{}: must be an object with _name, not {}", path, json_type_name(value)));
    }
    const json name = {{"_name", value["_name"]}};
    if (const auto i = find_candidate(choice.candidates, name)) return static_cast<double>(*i);
    return not_a_candidate(path + "._name", value["_name"], choice.candidates);
  }

  const Space& space_;
  const bool keep_going_;
  Point point_;
  std::size_t i_ = 0;
};

}  // namespace

Result<Point> point_from_json(const Space& space, const json& parameters) {
  if (!space.unread.is_null()) {
    if (parameters.is_null()) return fail("parameters: must not be null");
    return Point{.values = {}, .parameters = parameters};
  }
  if (!parameters.is_object()) {
    return fail(fmt::format("parameters: must be an object, not {}", json_type_name(parameters)));
  }
  Reader reader(space, false);
  TRY(reader.members(parameters, "parameters", std::nullopt));
  return reader.take();
}

std::vector<double> known_values(const Space& space, const json& parameters) {
  Reader reader(space, true);
  if (parameters.is_object())
    std::ignore = reader.members(parameters, "parameters", std::nullopt);  // it cannot fail
  return reader.take().values;
}

}  // namespace attune
