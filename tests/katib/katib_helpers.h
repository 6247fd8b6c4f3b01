#pragma once
// Experiments and requests of Katib in one line each.
#include <string>
#include <vector>

#include "base/result.h"
#include "katib/api.pb.h"
#include "katib/plan.h"
#include "tuners/registry.h"

namespace attune::katib {

namespace pb = ::api::v1::beta1;

inline pb::ParameterSpec spec_of(const std::string& name, pb::ParameterType type,
                                 const std::string& min, const std::string& max,
                                 const std::string& step = "",
                                 pb::Distribution distribution = pb::UNIFORM) {
  pb::ParameterSpec spec;
  spec.set_name(name);
  spec.set_parameter_type(type);
  spec.mutable_feasible_space()->set_min(min);
  spec.mutable_feasible_space()->set_max(max);
  spec.mutable_feasible_space()->set_step(step);
  spec.mutable_feasible_space()->set_distribution(distribution);
  return spec;
}

inline pb::ParameterSpec spec_of(const std::string& name, pb::ParameterType type,
                                 const std::vector<std::string>& list) {
  pb::ParameterSpec spec;
  spec.set_name(name);
  spec.set_parameter_type(type);
  for (const std::string& each : list) spec.mutable_feasible_space()->add_list(each);
  return spec;
}

inline pb::Experiment experiment_of(const std::vector<pb::ParameterSpec>& parameters,
                                    const std::string& algorithm = "attune-random") {
  pb::Experiment experiment;
  experiment.set_name("e");
  for (const auto& each : parameters) {
    *experiment.mutable_spec()->mutable_parameter_specs()->add_parameters() = each;
  }
  experiment.mutable_spec()->mutable_objective()->set_type(pb::MINIMIZE);
  experiment.mutable_spec()->mutable_objective()->set_objective_metric_name("loss");
  experiment.mutable_spec()->mutable_algorithm()->set_algorithm_name(algorithm);
  return experiment;
}

// The error's text, or "" without an error.
template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "" : result.error().message;
}

}  // namespace attune::katib
