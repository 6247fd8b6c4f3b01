#include "space/parse_domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/arguments.h"

namespace attune {
namespace {

struct Type {
  std::string_view name;
  std::string_view shape;  // of _value
  std::size_t length;      // of _value; 0: any
};

constexpr Type kTypes[] = {
    {"choice", "[candidate, ...]", 0},
    {"randint", "[lower, upper]", 2},
    {"uniform", "[low, high]", 2},
    {"quniform", "[low, high, q]", 3},
    {"loguniform", "[low, high]", 2},
    {"qloguniform", "[low, high, q]", 3},
    {"normal", "[mu, sigma]", 2},
    {"qnormal", "[mu, sigma, q]", 3},
    {"lognormal", "[mu, sigma]", 2},
    {"qlognormal", "[mu, sigma, q]", 3},
    {"layer_choice", "[candidate, ...]", 0},
    {"input_choice", "{\"candidates\": [candidate, ...], \"n_chosen\": k}", 0},
};

constexpr std::size_t kMaxSubsetCandidates = 52;  // bits that a double holds
constexpr double kMaxInteger = 0x1p53;

std::unexpected<Error> unknown_type(std::string_view path, std::string_view type) {
  std::vector<std::string> names;
  for (const Type& known : kTypes) names.emplace_back(known.name);
  const std::string near = nearest_name(type, names);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
  return fail(fmt::format("{}._type: unknown type \"{}\"{} Known: {}", path, type,
                          hint.empty() ? "." : hint, fmt::join(names, ", ")));
}

Result<std::vector<double>> numbers(std::string_view path, const json& value, const Type& type) {
  if (!value.is_array() || value.size() != type.length) {
    const auto got = value.is_array() ? fmt::format("a list of {}", value.size())
                                      : std::string(json_type_name(value));
    return fail(fmt::format("{}._value: {} takes {}, not {}", path, type.name, type.shape, got));
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_number()) {
      return fail(fmt::format("{}._value[{}]: must be a number, not {}", path, i,
                              json_type_name(value[i])));
    }
    result.push_back(value[i].get<double>());
    if (!std::isfinite(result.back())) {
      return fail(fmt::format("{}._value[{}]: must be a finite number", path, i));
    }
  }
  return result;
}

Result<Domain> int_range(std::string_view path, const std::vector<double>& v) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (v[i] != std::trunc(v[i])) {
      return fail(fmt::format("{}._value[{}]: must be an integer, not {}", path, i, v[i]));
    }
    if (std::abs(v[i]) >= kMaxInteger) {
      return fail(fmt::format("{}._value[{}]: magnitude must be below 2^53", path, i));
    }
  }
  if (v[0] >= v[1]) return fail(fmt::format("{}._value: upper must exceed lower", path));
  return IntRange{static_cast<std::int64_t>(v[0]), static_cast<std::int64_t>(v[1])};
}

Result<Domain> uniform(std::string_view path, const std::vector<double>& v, bool log) {
  if (v[1] < v[0]) return fail(fmt::format("{}._value: high must exceed low", path));
  if (log && v[0] <= 0) {
    return fail(fmt::format("{}._value: low must be above 0 on a logarithmic scale", path));
  }
  if (!std::isfinite(v[1] - v[0])) {
    return fail(fmt::format("{}._value: high - low is too large for a double", path));
  }
  return Uniform{v[0], v[1], log, v.size() > 2 ? std::optional(v[2]) : std::nullopt};
}

Result<Domain> normal(std::string_view path, const std::vector<double>& v, bool log) {
  if (v[1] < 0) return fail(fmt::format("{}._value: sigma must not be negative", path));
  return Normal{v[0], v[1], log, v.size() > 2 ? std::optional(v[2]) : std::nullopt};
}

Result<Domain> choice(std::string_view path, const json& value, bool layer) {
  TRY(check_candidates(fmt::format("{}._value", path), value));
  Choice domain{.candidates = value.get<std::vector<json>>(), .canonical = {}, .layer = layer};
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < value.size(); ++i) {
    // The output of layer_choice has the index in it, so equal candidates differ there.
    const std::size_t same =
        layer ? i : first.try_emplace(canonical_text(value[i]), i).first->second;
    domain.canonical.push_back(same);
  }
  return domain;
}

Result<Domain> subset(std::string_view path, const json& value, const Type& type) {
  if (!value.is_object() || !value.contains("candidates") || !value.contains("n_chosen")) {
    return fail(fmt::format("{}._value: input_choice takes {}", path, type.shape));
  }
  const json& candidates = value["candidates"];
  TRY(check_candidates(fmt::format("{}._value.candidates", path), candidates));
  if (candidates.size() > kMaxSubsetCandidates) {
    return fail(fmt::format("{}._value.candidates: {} candidates; at most {} are possible", path,
                            candidates.size(), kMaxSubsetCandidates));
  }
  const json& chosen = value["n_chosen"];
  if (!chosen.is_number_integer() || chosen.get<double>() < 1 ||
      chosen.get<double>() > static_cast<double>(candidates.size())) {
    return fail(fmt::format("{}._value.n_chosen: must be an integer from 1 to {}", path,
                            candidates.size()));
  }
  return Subset{candidates.get<std::vector<json>>(), chosen.get<std::size_t>()};
}

bool all_finite(const json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  if (!value.is_structured()) return true;
  for (const json& element : value) {
    if (!all_finite(element)) return false;
  }
  return true;
}

}  // namespace

Result<void> check_candidates(std::string_view path, const json& value) {
  if (!value.is_array()) {
    return fail(
        fmt::format("{}: must be a list of candidates, not {}", path, json_type_name(value)));
  }
  if (value.empty()) return fail(fmt::format("{}: needs at least one candidate", path));
  if (value.size() > kMaxCandidates) {
    return fail(fmt::format("{}: {} candidates; at most {} are possible", path, value.size(),
                            kMaxCandidates));
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!all_finite(value[i])) {
      return fail(fmt::format("{}[{}]: NaN and infinities cannot be written to a trial", path, i));
    }
  }
  return {};
}

std::string canonical_text(const json& value) {
  if (!value.is_structured()) return dump_json(value);
  return nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Result<Domain> parse_domain(std::string_view path, std::string_view name, const json& value) {
  const auto* type = std::ranges::find(kTypes, name, &Type::name);
  if (type == std::end(kTypes)) return unknown_type(path, name);
  if (name == "choice") return choice(path, value, false);
  if (name == "layer_choice") return choice(path, value, true);
  if (name == "input_choice") return subset(path, value, *type);
  const std::vector<double> v = TRY(numbers(path, value, *type));
  if (name == "randint") return int_range(path, v);
  if (v.size() > 2 && v[2] <= 0) return fail(fmt::format("{}._value: q must be above 0", path));
  const bool log = name.find("log") != name.npos;
  return name.ends_with("uniform") ? uniform(path, v, log) : normal(path, v, log);
}

}  // namespace attune
