// The registry's entry TPE: NNI's univariate rule, or the multivariate one.
#include <algorithm>

#include "tuners/registry.h"
#include "tuners/tpe_multivariate.h"
#include "tuners/tpe_univariate.h"

namespace attune {
namespace {

// Whether resolved arguments are what they would be if none were given.
bool all_defaults(const std::vector<Argument>& arguments, const json& given) {
  return std::ranges::all_of(arguments, [&](const Argument& argument) {
    return given[argument.name] == argument.fallback;
  });
}

// The settings of the other rule would be ignored in silence.
Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  if (args["multivariate"]) {
    if (!all_defaults(univariate_tpe_arguments(), args["tpe_args"])) {
      return fail("TPE.tpe_args: not with multivariate, whose settings are multivariate_args");
    }
    return make_multivariate_tpe(args["multivariate_args"], context, rng);
  }
  if (!all_defaults(multivariate_tpe_arguments(), args["multivariate_args"])) {
    return fail("TPE.multivariate_args: only with \"multivariate\": true");
  }
  return make_univariate_tpe(args["tpe_args"], rng);
}

}  // namespace

extern const TunerEntry tpe_entry = {
    .name = "TPE",
    .aliases = {"TPE_legacy"},
    .summary = "tree-structured Parzen estimator: models good and other results per parameter",
    .arguments = {{.name = "tpe_args",
                   .type = Argument::Type::object,
                   .fallback = json::object(),
                   .help = "settings of the estimator",
                   .members = univariate_tpe_arguments()},
                  {.name = "multivariate",
                   .type = Argument::Type::boolean,
                   .fallback = false,
                   .help = "model all parameters together, which finds more; not NNI's rule"},
                  {.name = "multivariate_args",
                   .type = Argument::Type::object,
                   .fallback = json::object(),
                   .help = "settings of the multivariate estimator",
                   .members = multivariate_tpe_arguments()}},
    .maximizes = false,
    .make = make};

}  // namespace attune
