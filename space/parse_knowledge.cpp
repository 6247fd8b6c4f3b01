#include "space/parse_knowledge.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/arguments.h"
#include "space/value_import.h"

namespace attune {
namespace {

using ParsedPrior = std::expected<Prior, DomainFlaw>;

ParsedPrior parse_prior(const Domain& domain, const json& spec) {
  const auto wrong = [](const char* at, std::string message) {
    return std::unexpected(DomainFlaw{std::string("._prior") + at, std::move(message)});
  };
  if (std::holds_alternative<Subset>(domain)) return wrong("", "an input_choice can have none");
  if (!spec.is_object()) {
    return wrong("", fmt::format("must be {{\"_value\": ..., \"_sure\": {}}}, not {}", Prior::kSure,
                                 json_type_name(spec)));
  }
  for (const auto& [key, value] : spec.items()) {
    if (key != "_value" && key != "_sure")
      return wrong("", fmt::format("unknown key \"{}\"; known are _value and _sure", key));
  }
  if (!spec.contains("_value")) return wrong("._value", "missing; it is the value you prefer");
  const auto value = stated_from_json(domain, spec["_value"]);
  if (!value) return wrong("._value", value.error().message);
  Prior prior{.value = *value};
  if (!spec.contains("_sure")) return prior;
  const json& sure = spec["_sure"];
  if (sure.is_number()) prior.sure = sure.get<double>();
  if (!sure.is_number() || !(prior.sure > 0 && prior.sure < 1))
    return wrong("._sure", "must be a probability between 0 and 1, such as 0.7");
  return prior;
}

}  // namespace

std::expected<Knowledge, DomainFlaw> parse_knowledge(const Domain& domain, const json& spec) {
  Knowledge known;
  for (const auto& [key, value] : spec.items()) {
    if (key == "_default") {
      const auto stated = stated_from_json(domain, value);
      if (!stated) return std::unexpected(DomainFlaw{"._default", stated.error().message});
      known.default_value = *stated;
    } else if (key == "_prior") {
      auto prior = parse_prior(domain, value);
      if (!prior) return std::unexpected(std::move(prior.error()));
      known.prior = *prior;
    } else if (key.starts_with("_") && key != "_type" && key != "_value") {
      const std::string near = nearest_name(key, {"_default", "_prior"});
      if (!near.empty())
        return std::unexpected(DomainFlaw{"." + key, fmt::format("did you mean \"{}\"?", near)});
    }
  }
  return known;
}

}  // namespace attune
