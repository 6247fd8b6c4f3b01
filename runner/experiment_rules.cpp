#include "runner/experiment_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/names.h"

namespace attune {

const std::vector<std::string> kRuleKeys = {
    "backend",     "pool",      "slurm",      "simulation",  "arguments",
    "outputLimit", "resources", "capacity",   "queueTrials", "checkpoint",
    "retries",     "stop",      "objectives", "constraints", "initialPoints"};

namespace {

constexpr std::int64_t kMany = 1'000'000'000;

Result<std::string> choice(const Section& section, const std::string& key,
                           const std::vector<std::string>& choices) {
  std::string given = TRY(section.text(key)).value_or(choices.front());
  if (std::ranges::find(choices, given) == choices.end())
    return section.error(key, fmt::format("\"{}\" is none of {}", given, fmt::join(choices, ", ")));
  return given;
}

Result<Resources> read_resources(const Section& top, const std::string& key) {
  Resources resources;
  const auto section = TRY(top.section(key));
  if (!section) return resources;
  TRY(section->check_keys({"cpu", "gpu", "memory", "custom"}));
  resources.cpu = TRY(section->number("cpu", 0)).value_or(0);
  resources.gpu = TRY(section->number("gpu", 0)).value_or(0);
  resources.memory = TRY(section->bytes("memory")).value_or(0);
  resources.custom = TRY(section->numbers("custom"));
  for (const auto& [name, amount] : resources.custom) {
    if (const auto good = check_name("the resource", name); !good)
      return section->error("custom", good.error().message);
    if (amount < 0) return section->error("custom", fmt::format("{} must not be negative", name));
  }
  return resources;
}

Result<void> read_checkpoint(const Section& top, Experiment& experiment) {
  const auto section = TRY(top.section("checkpoint"));
  if (!section) return {};
  TRY(section->check_keys({"frequency", "atEnd", "keep", "budget", "deleteAtEnd"}));
  experiment.trial.checkpoint_frequency = TRY(section->integer("frequency", 0, kMany)).value_or(0);
  experiment.trial.checkpoint_at_end = TRY(section->boolean("atEnd")).value_or(false);
  experiment.checkpoint.keep =
      static_cast<int>(TRY(section->integer("keep", 1, kMany)).value_or(1));
  experiment.checkpoint.budget = TRY(section->bytes("budget"));
  experiment.checkpoint.delete_at_end = TRY(section->boolean("deleteAtEnd")).value_or(false);
  return {};
}

// `failed: 2` is short for `failed: {limit: 2, how: resumeOrRestart}`; `failed: restart` allows it
// once.
Result<RetryRule> read_retry(const Section& section, const std::string& key, RetryRule fallback) {
  const json* value = section.find(key);
  if (value == nullptr) return fallback;
  const auto how_of = [&](const Section& in, const std::string& name,
                          const std::string& text) -> Result<RetryHow> {
    const auto how = parse_retry_how(text);
    if (!how)
      return in.error(name, fmt::format("\"{}\" is none of {}", text, fmt::join(kRetryHows, ", ")));
    return *how;
  };
  if (value->is_string()) {
    const RetryHow how = TRY(how_of(section, key, value->get<std::string>()));
    return RetryRule{how, how == RetryHow::skip ? 0 : std::max(fallback.limit, 1)};
  }
  if (value->is_number()) {
    return RetryRule{RetryHow::resume_or_restart,
                     static_cast<int>(*TRY(section.integer(key, 0, 1'000'000)))};
  }
  const auto object = TRY(section.section(key));
  TRY(object->check_keys({"limit", "how"}));
  RetryRule rule;
  rule.limit = static_cast<int>(TRY(object->integer("limit", 0, 1'000'000)).value_or(1));
  rule.how = TRY(how_of(*object, "how", TRY(object->text("how")).value_or("resumeOrRestart")));
  return rule;
}

Result<void> read_retries(const Section& top, Retries& retries) {
  const auto section = TRY(top.section("retries"));
  if (!section) return {};
  TRY(section->check_keys({kFailureClasses.begin(), kFailureClasses.end()}));
  for (std::size_t i = 0; i < kFailureClasses.size(); ++i) {
    RetryRule& rule = retries[static_cast<FailureClass>(i)];
    rule = TRY(read_retry(*section, std::string(kFailureClasses[i]), rule));
  }
  return {};
}

Result<void> read_objectives(const Section& top, Experiment& experiment) {
  for (const Section& section : TRY(top.sections("objectives"))) {
    TRY(section.check_keys({"metric", "mode", "limit"}));
    const auto metric = TRY(section.text("metric"));
    if (!metric || metric->empty()) return section.error("metric", "missing: a key of the metric");
    const std::string mode = TRY(choice(section, "mode", {"minimize", "maximize"}));
    for (const Objective& known : experiment.objectives) {
      if (known.metric == *metric) return section.error("metric", "there are two of that name");
    }
    const auto limit = TRY(section.number("limit", -HUGE_VAL));
    if (limit && experiment.objectives.empty()) {
      return section.error("limit",
                           "the first objective is what trials are ranked by; name that one first, "
                           "and what is to be kept to a limit after it");
    }
    experiment.objectives.push_back({*metric, mode == "maximize", limit});
  }
  return {};
}

// A threshold of the first objective's metric is reached in its direction, any other upwards.
Result<void> read_stop(const Section& top, Experiment& experiment) {
  const auto section = TRY(top.section("stop"));
  if (!section) return {};
  TRY(section->check_keys({"metric", "metricAbove", "metricBelow", "plateau", "trials", "wallTime",
                           "trialTime", "cost", "failures", "reports", "trial"}));
  StopRules& stop = experiment.stop;
  for (const auto& [name, threshold] : TRY(section->numbers("metric"))) {
    const auto objective = std::ranges::find(experiment.objectives, name, &Objective::metric);
    if (objective == experiment.objectives.end()) {
      return section->error("metric",
                            fmt::format("\"{}\" is no metric of `objectives`, so its direction is "
                                        "not known; use metricAbove or metricBelow",
                                        name));
    }
    (objective->maximize ? stop.reach_up : stop.reach_down)[name] = threshold;
  }
  stop.reach_up.merge(TRY(section->numbers("metricAbove")));
  stop.reach_down.merge(TRY(section->numbers("metricBelow")));
  if (const auto plateau = TRY(section->section("plateau"))) {
    TRY(plateau->check_keys({"trials", "tolerance"}));
    const auto trials = TRY(plateau->integer("trials", 1, kMany));
    if (!trials) return plateau->error("trials", "missing: trials in a row without improvement");
    stop.plateau = StopRules::Plateau{*trials, TRY(plateau->number("tolerance", 0)).value_or(0)};
  }
  // What may be used up; the rules say what must be exceeded.
  if (const auto n = TRY(section->integer("trials", 1, kMany))) stop.max_finished = *n - 1;
  if (const auto n = TRY(section->integer("reports", 1, INT64_MAX))) stop.max_evaluations = *n - 1;
  stop.max_failed = TRY(section->integer("failures", 0, kMany));
  stop.max_trial_seconds = TRY(section->duration("trialTime"));
  stop.max_cost = TRY(section->number("cost", 0));
  if (const auto seconds = TRY(section->duration("wallTime"))) {
    auto& limit = experiment.max_experiment_seconds;
    limit = std::min(limit.value_or(*seconds), *seconds);
  }
  experiment.trial.stop = TRY(section->numbers("trial"));
  return {};
}

Result<void> read_gpus(const Section& top, Experiment& experiment) {
  const auto gpus = TRY(top.integer("trialGpuNumber", 0, 1000));
  if (!gpus) return {};
  if (experiment.trial.resources.gpu > 0)
    return top.error("trialGpuNumber", "resources.gpu says it too; keep one of them");
  experiment.trial_gpu_number = static_cast<int>(*gpus);
  experiment.trial.resources.gpu = static_cast<double>(*gpus);
  return {};
}

}  // namespace

Result<void> read_rules(const Section& top, Experiment& experiment) {
  experiment.backend = TRY(choice(top, "backend", {"local", "pool", "slurm", "simulated"}));
  if (const auto simulation = TRY(top.section("simulation"))) {
    experiment.simulation = simulation->value();
  }
  experiment.arguments = TRY(choice(top, "arguments", {"none", "commandLine", "jsonFile"}));
  experiment.output_limit = TRY(top.bytes("outputLimit")).value_or(experiment.output_limit);
  experiment.trial.resources = TRY(read_resources(top, "resources"));
  TRY(read_gpus(top, experiment));
  experiment.capacity = TRY(read_resources(top, "capacity"));
  experiment.queue_trials = TRY(top.boolean("queueTrials")).value_or(false);
  TRY(read_checkpoint(top, experiment));
  TRY(read_retries(top, experiment.trial.retries));
  TRY(read_objectives(top, experiment));
  TRY(read_stop(top, experiment));
  experiment.constraints = TRY(top.texts("constraints"));
  for (const Section& point : TRY(top.sections("initialPoints")))
    experiment.initial_points.push_back(point.value());
  return {};
}

std::vector<std::string> without_effect(const Section& top, const Experiment& experiment) {
  std::vector<std::string> warnings;
  const std::string& backend = experiment.backend;
  if (backend == "simulated") return warnings;
  const auto warn = [&](const Section& section, const std::string& key,
                        const std::string& instead) {
    if (section.find(key) == nullptr) return;
    warnings.push_back(
        section.error(key, fmt::format("it has no effect with backend: {}; {}", backend, instead))
            .error()
            .message);
  };
  for (const char* key : {"pool", "slurm"}) {
    if (backend != key) warn(top, key, fmt::format("it is for backend: {}", key));
  }
  if (backend == "local") return warnings;
  if (const auto service = top.section("trainingService"); service && *service)
    warn(**service, "gpuIndices", "give the workers only those devices: CUDA_VISIBLE_DEVICES");
  const Resources& said = experiment.capacity;
  if (said.cpu == 0 && said.gpu == 0 && said.memory == 0 && said.custom.empty())
    warn(top, "queueTrials", "a trial waits until a worker has what it needs");
  return warnings;
}

}  // namespace attune
