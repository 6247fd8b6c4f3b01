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

using Parsed = std::expected<Domain, DomainFlaw>;

std::unexpected<DomainFlaw> flaw(std::string at, std::string message) {
  return std::unexpected(DomainFlaw{std::move(at), std::move(message)});
}

std::unexpected<DomainFlaw> unknown_type(std::string_view type) {
  std::vector<std::string> names;
  for (const Type& known : kTypes) names.emplace_back(known.name);
  const std::string near = nearest_name(type, names);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near);
  return flaw("._type", fmt::format("unknown type \"{}\"{} Known: {}", type,
                                    hint.empty() ? "." : hint, fmt::join(names, ", ")));
}

std::expected<std::vector<double>, DomainFlaw> numbers(const json& value, const Type& type) {
  if (!value.is_array() || value.size() != type.length) {
    const auto got = value.is_array() ? fmt::format("a list of {}", value.size())
                                      : std::string(json_type_name(value));
    return flaw("._value", fmt::format("{} takes {}, not {}", type.name, type.shape, got));
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string at = fmt::format("._value[{}]", i);
    if (!value[i].is_number())
      return flaw(at, fmt::format("must be a number, not {}", json_type_name(value[i])));
    result.push_back(value[i].get<double>());
    if (!std::isfinite(result.back())) return flaw(at, "must be a finite number");
  }
  return result;
}

Parsed int_range(const std::vector<double>& v) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string at = fmt::format("._value[{}]", i);
    if (v[i] != std::trunc(v[i])) return flaw(at, fmt::format("must be an integer, not {}", v[i]));
    if (std::abs(v[i]) >= kMaxInteger) return flaw(at, "magnitude must be below 2^53");
  }
  if (v[0] >= v[1]) return flaw("._value", "upper must exceed lower");
  return IntRange{static_cast<std::int64_t>(v[0]), static_cast<std::int64_t>(v[1])};
}

Parsed uniform(const std::vector<double>& v, bool log) {
  if (v[1] < v[0]) return flaw("._value", "high must exceed low");
  if (log && v[0] <= 0) return flaw("._value", "low must be above 0 on a logarithmic scale");
  if (!std::isfinite(v[1] - v[0])) return flaw("._value", "high - low is too large for a double");
  return Uniform{v[0], v[1], log, v.size() > 2 ? std::optional(v[2]) : std::nullopt};
}

Parsed normal(const std::vector<double>& v, bool log) {
  if (v[1] < 0) return flaw("._value", "sigma must not be negative");
  return Normal{v[0], v[1], log, v.size() > 2 ? std::optional(v[2]) : std::nullopt};
}

Parsed choice(const json& value, bool layer) {
  if (auto wrong = flaw_of_candidates("._value", value)) return std::unexpected(*std::move(wrong));
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

Parsed subset(const json& value, const Type& type) {
  if (!value.is_object() || !value.contains("candidates") || !value.contains("n_chosen"))
    return flaw("._value", fmt::format("input_choice takes {}", type.shape));
  const json& candidates = value["candidates"];
  const std::string at = "._value.candidates";
  if (auto wrong = flaw_of_candidates(at, candidates)) return std::unexpected(*std::move(wrong));
  if (candidates.size() > kMaxSubsetCandidates)
    return flaw(at, fmt::format("{} candidates; at most {} are possible", candidates.size(),
                                kMaxSubsetCandidates));
  const json& chosen = value["n_chosen"];
  if (!chosen.is_number_integer() || chosen.get<double>() < 1 ||
      chosen.get<double>() > static_cast<double>(candidates.size()))
    return flaw("._value.n_chosen",
                fmt::format("must be an integer from 1 to {}", candidates.size()));
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

std::optional<DomainFlaw> flaw_of_candidates(const std::string& at, const json& value) {
  if (!value.is_array())
    return DomainFlaw{at,
                      fmt::format("must be a list of candidates, not {}", json_type_name(value))};
  if (value.empty()) return DomainFlaw{at, "needs at least one candidate"};
  if (value.size() > kMaxCandidates)
    return DomainFlaw{
        at, fmt::format("{} candidates; at most {} are possible", value.size(), kMaxCandidates)};
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!all_finite(value[i]))
      return DomainFlaw{fmt::format("{}[{}]", at, i),
                        "NaN and infinities cannot be written to a trial"};
  }
  return std::nullopt;
}

std::string canonical_text(const json& value) {
  if (!value.is_structured()) return dump_json(value);
  return nlohmann::json(value).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::expected<Domain, DomainFlaw> parse_domain(std::string_view name, const json& value) {
  const auto* type = std::ranges::find(kTypes, name, &Type::name);
  if (type == std::end(kTypes)) return unknown_type(name);
  if (name == "choice") return choice(value, false);
  if (name == "layer_choice") return choice(value, true);
  if (name == "input_choice") return subset(value, *type);
  const auto v = numbers(value, *type);
  if (!v) return std::unexpected(v.error());
  if (name == "randint") return int_range(*v);
  if (v->size() > 2 && (*v)[2] <= 0) return flaw("._value", "q must be above 0");
  const bool log = name.find("log") != name.npos;
  return name.ends_with("uniform") ? uniform(*v, log) : normal(*v, log);
}

}  // namespace attune
