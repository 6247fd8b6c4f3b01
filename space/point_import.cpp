// A point from the user's JSON.
#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/arguments.h"
#include "space/space.h"
#include "space/value_import.h"

namespace attune {
namespace {

bool is_nested(const Param& param) {
  const auto* choice = std::get_if<Choice>(&param.domain);
  return choice && choice->nested;
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
    const bool nested = is_nested(param);
    const Result<double> found = nested ? option(value, path, std::get<Choice>(param.domain))
                                        : value_from_json(param.domain, value);
    if (!found && !keep_going_) {
      return nested ? std::unexpected(found.error())
                    : fail(fmt::format("{}: {}", path, found.error().message));
    }
    if (found) point_.values[own] = *found;
    if (found && nested) {
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
    const auto found = option_named(choice, value["_name"]);
    if (!found) return fail(fmt::format("{}._name: {}", path, found.error().message));
    return *found;
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
