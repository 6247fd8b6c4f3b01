#include "conformance/damaged.h"

namespace attune::conformance {

void expect_damage_is_refused(const json& good, const std::function<bool(const json&)>& load,
                              const std::vector<json>& replacements, Findings& findings) {
  findings.require(good.is_object(), "a state that is an object", [&] { return dump_json(good); });
  const auto refused = [&](const json& damaged, const std::string& what) {
    if (damaged == good) return;  // it may be saved, after all
    findings.expect(!load(damaged), "an error for " + what, [] { return "it is loaded"; });
  };
  for (const json& damaged : {json(), json(3), json::array(), json("x"), json::object()}) {
    refused(damaged, "the state " + dump_json(damaged));
  }
  for (const auto& [key, value] : good.items()) {
    for (const json& replacement : replacements) {
      json damaged = good;
      damaged[key] = replacement;
      refused(damaged, "a state whose \"" + key + "\" is " + dump_json(replacement));
    }
    json damaged = good;
    damaged.erase(key);
    refused(damaged, "a state without \"" + key + "\"");
  }
}

}  // namespace attune::conformance
