#include "katib/plan.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "katib/settings.h"
#include "space/parse.h"

namespace attune::katib {
namespace {

using namespace api::v1::beta1;

Result<void> read_parameters(const ExperimentSpec& spec, Plan& plan) {
  if (spec.has_nas_config()) {
    return fail("nas_config: attune searches no architectures; use parameters");
  }
  const auto& specs = spec.parameter_specs().parameters();
  if (specs.empty()) return fail("parameters: at least one expected");
  plan.search_space = json::object();
  std::set<std::string> names;
  for (const ParameterSpec& each : specs) {
    Parameter parameter = TRY(Parameter::make(each));
    if (!names.insert(parameter.name()).second) {
      return fail_at("parameters", "\"" + parameter.name() + "\" is defined twice");
    }
    // Without the search for the key that operator[] would make: names differ already.
    plan.search_space.get_ref<json::object_t&>().emplace_back(parameter.name(), parameter.domain());
    plan.parameters.push_back(std::move(parameter));
  }
  TRY(parse_space(plan.search_space));
  return {};
}

Result<void> read_objective(const ExperimentSpec& spec, Plan& plan) {
  const ObjectiveSpec& objective = spec.objective();
  if (objective.type() != MINIMIZE && objective.type() != MAXIMIZE) {
    return fail("objective.type: minimize or maximize expected");
  }
  plan.objective = {objective.objective_metric_name(), objective.type() == MAXIMIZE};
  // No metric has an empty name. Katib asks for one, but some of its own checks have none.
  if (plan.objective.metric.empty()) plan.objective.metric = "objective";
  for (const std::string& name : objective.additional_metric_names()) {
    if (name != plan.objective.metric) plan.additional_metrics.push_back(name);
  }
  return {};
}

Result<void> read_algorithm(const ExperimentSpec& spec, const TunerRegistry& tuners, Plan& plan) {
  const TunerEntry& entry = *TRY(find_tuner(tuners, spec.algorithm().algorithm_name()));
  plan.tuner = entry.name;
  std::vector<Setting> settings;
  for (const AlgorithmSetting& setting : spec.algorithm().algorithm_settings()) {
    if (setting.name() == kEchoSetting) {
      plan.echo = setting.value();
    } else {
      settings.emplace_back(setting.name(), setting.value());
    }
  }
  const std::string owner = algorithm_name(entry.name);
  plan.tuner_arguments = TRY(arguments_of(owner, all_arguments(entry), settings));
  if (spec.objective().type() == api::v1::beta1::UNKNOWN) return {};
  const char* mode = spec.objective().type() == MAXIMIZE ? "maximize" : "minimize";
  json& given = plan.tuner_arguments["optimize_mode"];
  if (!given.is_null() && given != mode) {
    return fail(owner + ", setting optimize_mode: the objective of the experiment says " + mode);
  }
  given = mode;
  return {};
}

std::optional<int> positive(std::int32_t number) {
  return number > 0 ? std::optional<int>(number) : std::nullopt;
}

}  // namespace

std::uint64_t hash_of(std::string_view text) { return Rng(0).fork(text)(); }

Result<Plan> read_plan(const Experiment& experiment, const TunerRegistry& tuners) {
  const ExperimentSpec& spec = experiment.spec();
  Plan plan;
  plan.experiment = experiment.name();
  TRY(read_parameters(spec, plan));
  TRY(read_objective(spec, plan));
  TRY(read_algorithm(spec, tuners, plan));
  plan.max_trials = positive(spec.max_trial_count());
  plan.concurrency = positive(spec.parallel_trial_count());
  json metrics = json::array();
  for (const std::string& name : plan.additional_metrics) metrics.push_back(name);
  json identity = {plan.experiment, plan.objective.metric, plan.objective.maximize, metrics,
                   plan.tuner,      plan.tuner_arguments,  plan.search_space};
  // The search space does not say how values are written.
  for (const ParameterSpec& each : spec.parameter_specs().parameters()) {
    identity.push_back(hash_of(each.SerializeAsString()));
  }
  plan.identity = dump_json(identity);
  return plan;
}

Result<void> check_experiment(const Experiment& experiment, const TunerRegistry& tuners) {
  const ExperimentSpec& spec = experiment.spec();
  const bool has_parameters = spec.has_parameter_specs() || spec.has_nas_config();
  Plan plan;
  if (has_parameters) TRY(read_parameters(spec, plan));
  if (spec.has_objective()) TRY(read_objective(spec, plan));
  TRY(read_algorithm(spec, tuners, plan));
  Context context{positive(spec.max_trial_count()), positive(spec.parallel_trial_count()), {}};
  MadeTuner made = TRY(make_tuner(tuners, plan.tuner, plan.tuner_arguments, context, 0));
  if (made.wants_reports) {
    return fail(algorithm_name(plan.tuner) +
                ": with these settings it needs reports of running trials, which Katib does not "
                "send");
  }
  if (has_parameters) TRY(made.tuner->set_space(TRY(parse_space(plan.search_space))));
  return {};
}

json parameters_of(const Plan& plan, const Values& values) {
  json parameters = json::object();
  auto& members = parameters.get_ref<json::object_t&>();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    const Parameter& parameter = plan.parameters[i];
    if (auto value = parameter.value_of(values[i])) {
      members.emplace_back(parameter.name(), *std::move(value));
    }
  }
  return parameters;
}

Values values_of(const Plan& plan, const json& parameters) {
  Values values;
  // The session writes the parameters in the order of the space.
  auto member = parameters.begin();
  for (const Parameter& parameter : plan.parameters) {
    values.push_back(parameter.text_of(*member));
    ++member;
  }
  return values;
}

}  // namespace attune::katib
