#include "study/growing_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace attune {
namespace {

// The types whose first two values are bounds. All values are numbers.
constexpr std::array<std::string_view, 5> kRanges = {"uniform", "loguniform", "quniform",
                                                     "qloguniform", "randint"};
constexpr std::string_view kIntegers = "randint";  // its upper bound is not in the range

// The values of a numeric range; null: `declared` is none.
const json* range_of(const json& declared) {
  if (!declared.is_object()) return nullptr;
  const auto type = declared.find("_type"), values = declared.find("_value");
  if (type == declared.end() || values == declared.end() || !type->is_string() ||
      std::ranges::find(kRanges, type->get_ref<const std::string&>()) == kRanges.end()) {
    return nullptr;
  }
  const bool numbers = values->is_array() && values->size() >= 2 &&
                       std::ranges::all_of(*values, [](const json& x) { return x.is_number(); });
  return numbers ? &*values : nullptr;
}

bool same_but_for_bounds(const json& a, const json& b) {
  const json &of_a = *range_of(a), &of_b = *range_of(b);
  return a["_type"] == b["_type"] &&
         std::equal(of_a.begin() + 2, of_a.end(), of_b.begin() + 2, of_b.end());
}

// Nothing: they cannot be one parameter.
std::optional<json> joined(const json& known, const json& added) {
  if (known == added) return known;
  if (!range_of(known) || !range_of(added) || !same_but_for_bounds(known, added)) {
    return std::nullopt;
  }
  json both = known;
  json& values = both["_value"];
  values[0] = std::min(values[0], (*range_of(added))[0]);
  values[1] = std::max(values[1], (*range_of(added))[1]);
  return both;
}

}  // namespace

Result<json> merged(const json& known, const json& added) {
  if (!added.is_object()) return fail("a search space must be an object");
  json all = known;
  for (const auto& [name, declared] : added.items()) {
    const auto former = all.find(name);
    if (former == all.end()) {
      all[name] = declared;
      continue;
    }
    auto both = joined(*former, declared);
    if (!both) {
      return fail(
          fmt::format("parameter \"{}\" was declared as {}, and is now {}; only the bounds "
                      "of a range may change: give it another name",
                      name, dump_json(*former), dump_json(declared)));
    }
    *former = *std::move(both);
  }
  return all;
}

json fitted(const json& value, const json& declared) {
  const json* const range = range_of(declared);
  if (!range || !value.is_number()) return value;
  const bool integers = declared["_type"] == kIntegers;
  const json low = (*range)[0];
  const json high = integers ? json((*range)[1].get<std::int64_t>() - 1) : (*range)[1];
  if (value < low) return value.is_number_float() ? json(low.get<double>()) : low;
  if (value > high) return value.is_number_float() ? json(high.get<double>()) : high;
  return value;
}

}  // namespace attune
