#include "space/declaration.h"

#include <string>

#include "base/overloaded.h"
#include "space/value_import.h"

namespace attune {
namespace {

json declared(std::string type, json value) {
  return {{"_type", std::move(type)}, {"_value", std::move(value)}};
}

json declared_real(const std::string& kind, bool log, double a, double b,
                   const std::optional<double>& q) {
  json value = {a, b};
  if (q) value.push_back(*q);
  return declared(std::string(q ? "q" : "") + (log ? "log" : "") + kind, std::move(value));
}

json domain_json(const Domain& domain) {
  return std::visit(
      Overloaded{
          [](const Choice& choice) {
            return declared(choice.layer ? "layer_choice" : "choice", choice.candidates);
          },
          [](const Subset& subset) {
            return declared("input_choice",
                            {{"candidates", subset.candidates}, {"n_chosen", subset.chosen}});
          },
          [](const IntRange& range) { return declared("randint", json{range.low, range.high}); },
          [](const Uniform& real) {
            return declared_real("uniform", real.log, real.low, real.high, real.q);
          },
          [](const Normal& real) {
            return declared_real("normal", real.log, real.mu, real.sigma, real.q);
          }},
      domain);
}

// Writes the parameters of one object, from index i on, each with those in its options.
void write_members(const Space& space, std::size_t& i, const std::optional<Condition>& scope,
                   json& object) {
  while (i < space.params.size() && space.params[i].condition == scope) {
    const std::size_t own = i++;
    const Param& param = space.params[own];
    json spec = domain_json(param.domain);
    if (param.default_value) spec["_default"] = stated_json(param.domain, *param.default_value);
    if (param.prior) {
      spec["_prior"] = {{"_value", stated_json(param.domain, param.prior->value)},
                        {"_sure", param.prior->sure}};
    }
    while (i < space.params.size() && is_descendant(space.params[i], own)) {
      const auto& condition = space.params[i].condition;
      write_members(space, i, condition, spec["_value"][condition->branch]);
    }
    // Appends without a search: a space has no name twice.
    object.get_ref<json::object_t&>().emplace_back(param.name, std::move(spec));
  }
}

}  // namespace

json declaration_of(const Space& space) {
  if (!space.unread.is_null()) return space.unread;
  json object = json::object();
  std::size_t i = 0;
  write_members(space, i, std::nullopt, object);
  return object;
}

}  // namespace attune
