#include "plugins/abi_values.h"

#include <cstring>
#include <limits>

#include "plugins/answers.h"

namespace attune {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Describe {
  attune_parameter& parameter;
  std::string& candidates;

  void operator()(const Choice& domain) const {
    parameter.type = ATTUNE_CHOICE;
    parameter.count = domain.candidates.size();
    candidates = dump_json(domain.candidates);
  }
  void operator()(const Subset& domain) const {
    parameter.type = ATTUNE_SUBSET;
    parameter.count = domain.candidates.size();
    parameter.chosen = domain.chosen;
    candidates = dump_json(domain.candidates);
  }
  void operator()(const IntRange& domain) const {
    parameter.type = ATTUNE_INTEGER;
    parameter.low = static_cast<double>(domain.low);
    parameter.high = static_cast<double>(domain.high);
  }
  void operator()(const Uniform& domain) const {
    parameter.type = ATTUNE_REAL;
    parameter.low = domain.low;
    parameter.high = domain.high;
    parameter.is_log = domain.log;
    parameter.step = domain.q.value_or(0);
  }
  void operator()(const Normal& domain) const {
    parameter.type = ATTUNE_NORMAL;
    parameter.mean = domain.mu;
    parameter.deviation = domain.sigma;
    parameter.is_log = domain.log;
    parameter.step = domain.q.value_or(0);
  }
};

attune_argument argument_of(const std::string& name, const json& value) {
  attune_argument argument{name.c_str(), ATTUNE_NULL, kNone, nullptr};
  if (value.is_boolean()) {
    argument.type = ATTUNE_BOOLEAN;
    argument.number = value.get<bool>() ? 1 : 0;
  } else if (value.is_number()) {
    argument.type = ATTUNE_NUMBER;
    argument.number = value.get<double>();
  } else if (value.is_string()) {
    argument.type = ATTUNE_TEXT;
    argument.text = value.get_ref<const std::string&>().c_str();
  }
  return argument;
}

}  // namespace

AbiSpace::AbiSpace(const Space& space)
    : candidates_(space.params.size(), "null"), parameters_(space.params.size()) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Param& param = space.params[i];
    attune_parameter& parameter = parameters_[i];
    parameter.path = param.path.c_str();
    std::visit(Describe{parameter, candidates_[i]}, param.domain);
    parameter.candidates = candidates_[i].c_str();
    parameter.parent = param.condition ? static_cast<std::int64_t>(param.condition->parent) : -1;
    parameter.branch = param.condition ? static_cast<std::int64_t>(param.condition->branch) : -1;
  }
  space_ = {parameters_.data(), parameters_.size()};
}

AbiSetup::AbiSetup(const PluginSetup& setup) {
  for (const auto& [name, value] : setup.arguments.items()) {
    arguments_.push_back(argument_of(name, value));
  }
  const Context& context = setup.context;
  for (const Objective& objective : context.objectives) {
    objectives_.push_back({objective.metric.c_str(), objective.maximize,
                           objective.limit.has_value(), objective.limit.value_or(kNone)});
  }
  setup_.seed = setup.seed;
  setup_.arguments = arguments_.data();
  setup_.argument_count = arguments_.size();
  setup_.objectives = objectives_.data();
  setup_.objective_count = objectives_.size();
  setup_.max_trials = context.max_trials.value_or(-1);
  setup_.concurrency = context.concurrency.value_or(-1);
  setup_.fidelity_metric = context.fidelity ? context.fidelity->metric.c_str() : nullptr;
  setup_.fidelity_max = context.fidelity ? context.fidelity->max : -1;
  setup_.pauses = context.pauses;
  setup_.assessed = context.assessed;
}

std::size_t AbiMetrics::add(const Metrics& metrics) {
  const std::size_t start = metrics_.size();
  for (const auto& [name, value] : metrics) metrics_.push_back({name.c_str(), value});
  return start;
}

std::string text_of(const char* text) {
  return text ? std::string(text, ::strnlen(text, kMostReason + 1)) : std::string();
}

Result<Decision> decision_of(const attune_decision& decision) {
  if (decision.action < 0 || decision.action > ATTUNE_DROP_CHECKPOINT) {
    return fail("the action " + std::to_string(decision.action) + " is unknown");
  }
  return Decision{.trial = decision.trial,
                  .action = static_cast<Action>(decision.action),
                  .reason = text_of(decision.reason),
                  .complete = decision.complete != 0};
}

}  // namespace attune
