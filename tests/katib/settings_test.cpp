#include "katib/settings.h"

#include <catch2/catch.hpp>

#include "tests/katib/katib_helpers.h"

using namespace attune;
using namespace attune::katib;

namespace {

std::string found(std::string_view algorithm) {
  static const TunerRegistry tuners = builtin_tuners();
  const auto entry = find_tuner(tuners, algorithm);
  return entry ? (*entry)->name : entry.error().message;
}

Result<json> arguments(const std::vector<Setting>& settings) {
  const TunerRegistry tuners = builtin_tuners();
  return arguments_of("attune-tpe", all_arguments(**tuners.find("TPE", "tuner")), settings);
}

}  // namespace

TEST_CASE("settings: names of algorithms") {
  CHECK(algorithm_name("CMA-ES") == "attune-cma-es");
  CHECK(found("attune-auto") == "auto");
  CHECK(found("attune-cma-es") == "CMA-ES");
  CHECK(found("attune-cmaes") == "CMA-ES");
  CHECK(found("TPE") == "TPE");
  CHECK(found("attune-sobol") == "QMC");
  CHECK(found("attune-grid") == "GridSearch");
  CHECK(found("attune-").starts_with("unknown algorithm \"attune-\". Accepted: attune-auto, "));
  CHECK(found("attune-r").starts_with("unknown algorithm"));  // several begin so
  CHECK(found("attune-asha").find("ASHA needs reports") != std::string::npos);
  CHECK(found("attune-batch").find("Batch needs reports") != std::string::npos);
}

TEST_CASE("settings: every name that is accepted finds its tuner") {
  const TunerRegistry tuners = builtin_tuners();
  const auto names = accepted_algorithms(tuners);
  CHECK(names.size() > 10);
  for (const std::string& name : names) {
    INFO(name);
    const auto entry = find_tuner(tuners, name);
    REQUIRE(entry);
    CHECK(algorithm_name((*entry)->name) == name);
  }
}

TEST_CASE("settings: texts become arguments") {
  CHECK(*arguments({{"seed", "5"}, {"multivariate", "True"}}) ==
        json{{"seed", 5}, {"multivariate", true}});
  CHECK(*arguments({{"random_state", "5"}}) == json{{"seed", 5}});
  CHECK(*arguments({{"multivariate", "None"}}) == json{{"multivariate", nullptr}});
  const json nested = {{"tpe_args", {{"gamma", 0.3}, {"constant_liar_type", "best"}}}};
  CHECK(*arguments({{"tpe_args.gamma", "0.3"}, {"tpe_args.constant_liar_type", "best"}}) == nested);
  CHECK(*arguments({{"tpe_args", R"({"gamma": 0.3, "constant_liar_type": "best"})"}}) == nested);
}

TEST_CASE("settings: mistakes name the setting and what is accepted") {
  CHECK(error_of(arguments({{"sed", "5"}})).find("Accepted: optimize_mode, seed") !=
        std::string::npos);
  CHECK(error_of(arguments({{"seed", "five"}})) ==
        "attune-tpe, setting seed: \"five\" is not understood");
  CHECK(error_of(arguments({{"seed", "1.5"}})).starts_with("attune-tpe, setting seed: "));
  CHECK(error_of(arguments({{"tpe_args.gama", "1"}})).find("gamma") != std::string::npos);
  CHECK(error_of(arguments({{"seed", "1"}, {"seed", "1"}})) ==
        "attune-tpe, setting seed: given twice");
  CHECK(error_of(arguments({{"tpe_args", "5"}, {"tpe_args.gamma", "1"}})).find("no object") !=
        std::string::npos);
}
