// The registry's entry TPE: the multivariate rule, or NNI's univariate one.
#include <fmt/core.h>

#include "tuners/parts/tpe_multivariate.h"
#include "tuners/parts/tpe_univariate.h"
#include "tuners/registry.h"

namespace attune {
namespace tpe_tuner {
namespace {

// A configuration of NNI that has settings of NNI's rule gets that rule; any other one gets the
// rule that finds more. Settings of the rule that is not chosen would be ignored in silence: they
// are an error.
Result<std::unique_ptr<Tuner>> make(const json& args, const Context& context, Rng rng) {
  const json &chosen = args["multivariate"], &univariate = args["tpe_args"],
             &multivariate = args["multivariate_args"];
  const bool joint = chosen.is_null() ? univariate.is_null() : chosen.get<bool>();
  if (joint && !univariate.is_null()) {
    return fail(
        "TPE.tpe_args: these are settings of NNI's rule, which \"multivariate\": true excludes; "
        "leave one of them out, or set multivariate_args");
  }
  if (!joint && !multivariate.is_null()) {
    return fail(fmt::format(
        "TPE.multivariate_args: these are settings of the multivariate rule, which {} excludes; "
        "leave one of them out",
        chosen.is_null() ? "tpe_args" : "\"multivariate\": false"));
  }
  if (joint) {
    return make_multivariate_tpe(
        TRY(resolve_arguments("TPE", multivariate_tpe_arguments(), multivariate)), context, rng);
  }
  return make_univariate_tpe(TRY(resolve_arguments("TPE", univariate_tpe_arguments(), univariate)),
                             rng);
}

}  // namespace
}  // namespace tpe_tuner

extern const TunerEntry tpe_entry = {
    .name = "TPE",
    .aliases = {"TPE_legacy"},
    .summary = "tree-structured Parzen estimator: models where good and where other results lie",
    .arguments = {{.name = "tpe_args",
                   .type = Argument::Type::object,
                   .help = "settings of NNI's rule, which models each parameter by itself",
                   .members = univariate_tpe_arguments()},
                  {.name = "multivariate",
                   .type = Argument::Type::boolean,
                   .help = "true: model all parameters together, which finds more; false: NNI's "
                           "rule; null: false if tpe_args are given"},
                  {.name = "multivariate_args",
                   .type = Argument::Type::object,
                   .help = "settings of the multivariate rule",
                   .members = multivariate_tpe_arguments()}},
    .maximizes = false,
    .make = tpe_tuner::make};

}  // namespace attune
