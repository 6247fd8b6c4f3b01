#include "space/value_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace attune {
namespace {

// Written by other programs, bounds may come back with a digit lost.
constexpr double kOvershoot = 1e-12;

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

std::unexpected<Error> not_a_candidate(const json& value, const std::vector<json>& candidates) {
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
  return fail(fmt::format("{} is not a candidate; candidates: {}", dump_json(value),
                          fmt::join(texts, ", ")));
}

Result<double> number(const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    return fail(fmt::format("must be a finite number, not {}", dump_json(value)));
  }
  return value.get<double>();
}

Result<double> read(const json& value, const Choice& domain) {
  if (!domain.layer) {
    if (const auto i = find_candidate(domain.candidates, value)) return static_cast<double>(*i);
    return not_a_candidate(value, domain.candidates);
  }
  const json* i = value.is_object() && value.contains("_idx") ? &value["_idx"] : nullptr;
  if (!i || !i->is_number_integer() || !value.contains("_value")) {
    return fail("must be {\"_value\": candidate, \"_idx\": index}");
  }
  if (*i < 0 || *i >= domain.candidates.size() ||
      !equal(domain.candidates[i->get<std::size_t>()], value["_value"], false)) {
    return fail("_value is not the candidate number _idx");
  }
  return i->get<double>();
}

Result<double> read(const json& value, const Subset& domain) {
  if (!value.is_object() || !value.contains("_value") || !value.contains("_idx") ||
      !value["_value"].is_array() || !value["_idx"].is_array()) {
    return fail("must be {\"_value\": [...], \"_idx\": [...]}");
  }
  const json& chosen = value["_idx"];
  if (chosen.size() != domain.chosen || value["_value"].size() != domain.chosen) {
    return fail(fmt::format("must have {} chosen candidates", domain.chosen));
  }
  std::uint64_t mask = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const json& i = chosen[k];
    if (!i.is_number_integer() || i < 0 || i >= domain.candidates.size() ||
        !equal(domain.candidates[i.get<std::size_t>()], value["_value"][k], false)) {
      return fail(fmt::format("_value[{}] is not the candidate number _idx[{}]", k, k));
    }
    const std::uint64_t bit = std::uint64_t{1} << i.get<std::size_t>();
    if ((mask & bit) != 0) return fail(fmt::format("_idx has {} twice", dump_json(i)));
    mask |= bit;
  }
  return static_cast<double>(mask);
}

Result<double> read(const json& value, const IntRange& domain) {
  const double x = TRY(number(value));
  if (x != std::trunc(x)) {
    return fail(fmt::format("must be an integer, not {}", dump_json(value)));
  }
  if (x < static_cast<double>(domain.low) || x >= static_cast<double>(domain.high)) {
    return fail(
        fmt::format("{} is outside of [{}, {})", dump_json(value), domain.low, domain.high));
  }
  return x;
}

Result<double> read(const json& value, const Uniform& domain) {
  const double x = TRY(number(value));
  const double slack = kOvershoot * std::max(std::abs(domain.low), std::abs(domain.high));
  if (x < domain.low - slack || x > domain.high + slack) {
    return fail(
        fmt::format("{} is outside of [{}, {}]", dump_json(value), domain.low, domain.high));
  }
  return std::clamp(x, domain.low, domain.high);
}

Result<double> read(const json& value, const Normal& domain) {
  const double x = TRY(number(value));
  if (domain.log && x < 0) {
    return fail(fmt::format("{} is negative, which a lognormal is not", dump_json(value)));
  }
  return x;
}

// The candidates themselves, without their indices.
Result<double> read_stated(const json& value, const Subset& domain) {
  if (!value.is_array() || value.size() != domain.chosen) {
    return fail(fmt::format("must be a list of {} candidates", domain.chosen));
  }
  std::uint64_t mask = 0;
  for (const json& one : value) {
    const auto i = find_candidate(domain.candidates, one);
    if (!i) return not_a_candidate(one, domain.candidates);
    const std::uint64_t bit = std::uint64_t{1} << *i;
    if ((mask & bit) != 0) return fail(fmt::format("has {} twice", dump_json(one)));
    mask |= bit;
  }
  return static_cast<double>(mask);
}

}  // namespace

Result<double> value_from_json(const Domain& domain, const json& value) {
  return std::visit([&](const auto& d) { return read(value, d); }, domain);
}

Result<double> option_named(const Choice& choice, const json& name) {
  if (const auto i = find_candidate(choice.candidates, {{"_name", name}})) {
    return static_cast<double>(*i);
  }
  return not_a_candidate(name, choice.candidates);
}

Result<double> stated_from_json(const Domain& domain, const json& value) {
  if (const auto* subset = std::get_if<Subset>(&domain)) return read_stated(value, *subset);
  const auto* choice = std::get_if<Choice>(&domain);
  if (!choice) return value_from_json(domain, value);
  if (choice->nested) return option_named(*choice, value);
  if (const auto i = find_candidate(choice->candidates, value)) return static_cast<double>(*i);
  return not_a_candidate(value, choice->candidates);
}

json stated_json(const Domain& domain, double value) {
  if (const auto* choice = std::get_if<Choice>(&domain)) {
    const json& candidate = choice->candidates[static_cast<std::size_t>(value)];
    return choice->nested ? candidate["_name"] : candidate;
  }
  if (const auto* subset = std::get_if<Subset>(&domain)) {
    json chosen = json::array();
    for (std::size_t i = 0; i < subset->candidates.size(); ++i) {
      if ((static_cast<std::uint64_t>(value) >> i & 1) == 1) {
        chosen.push_back(subset->candidates[i]);
      }
    }
    return chosen;
  }
  if (std::holds_alternative<IntRange>(domain)) return static_cast<std::int64_t>(value);
  return value;
}

}  // namespace attune
