#include "manager/experiment/experiment_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/simulated/simulation_settings.h"
#include "base/names.h"

namespace attune {

const std::vector<std::string> kRuleKeys = {
    "backend",    "pool",        "slurm",         "simulation", "arguments", "outputLimit",
    "resources",  "capacity",    "queueTrials",   "checkpoint", "retries",   "stop",
    "objectives", "constraints", "initialPoints", "fidelity",   kDecisions};

namespace {

constexpr std::int64_t kMany = 1'000'000'000;

Resources read_resources(const Section& top, const std::string& key) {
  Resources resources;
  const auto section = top.section(key);
  if (!section) return resources;
  section->check_keys({"cpu", "gpu", "memory", "custom"});
  resources.cpu = section->number("cpu", 0).value_or(0);
  resources.gpu = section->number("gpu", 0).value_or(0);
  resources.memory = section->bytes("memory").value_or(0);
  resources.custom = section->numbers("custom");
  for (const auto& [name, amount] : resources.custom) {
    if (const auto good = check_name("the resource", name); !good)
      section->error("custom." + name, good.error().message);
    if (amount < 0) section->error("custom." + name, "must not be negative");
  }
  return resources;
}

void read_checkpoint(const Section& top, Experiment& experiment) {
  const auto section = top.section("checkpoint");
  if (!section) return;
  section->check_keys({"frequency", "atEnd", "keep", "budget", "deleteAtEnd"});
  experiment.trial.checkpoint_frequency = section->integer("frequency", 0, kMany).value_or(0);
  experiment.trial.checkpoint_at_end = section->boolean("atEnd").value_or(false);
  experiment.checkpoint.keep = static_cast<int>(section->integer("keep", 1, kMany).value_or(1));
  experiment.checkpoint.budget = section->bytes("budget");
  experiment.checkpoint.delete_at_end = section->boolean("deleteAtEnd").value_or(false);
}

RetryHow read_retry_how(const Section& section, const std::string& key, RetryHow fallback) {
  const auto text = section.text(key);
  const auto how = text ? parse_retry_how(*text) : fallback;
  if (!how)
    section.error(key, fmt::format("\"{}\" is none of {}", *text, fmt::join(kRetryHows, ", ")));
  return how.value_or(fallback);
}

// `failed: 2` is short for `failed: {limit: 2, how: resumeOrRestart}`. `failed: restart` keeps the
// limit of `fallback`, but at least 1.
RetryRule read_retry(const Section& section, const std::string& key, RetryRule fallback) {
  const json* value = section.find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) {
    const RetryHow how = read_retry_how(section, key, fallback.how);
    return RetryRule{how, how == RetryHow::skip ? 0 : std::max(fallback.limit, 1)};
  }
  if (value->is_number()) {
    return RetryRule{RetryHow::resume_or_restart,
                     static_cast<int>(section.integer(key, 0, 1'000'000).value_or(0))};
  }
  const auto object = section.section(key);
  if (!object) return fallback;
  object->check_keys({"limit", "how"});
  RetryRule rule;
  rule.limit = static_cast<int>(object->integer("limit", 0, 1'000'000).value_or(1));
  rule.how = read_retry_how(*object, "how", RetryHow::resume_or_restart);
  return rule;
}

void read_retries(const Section& top, Retries& retries) {
  const auto section = top.section("retries");
  if (!section) return;
  section->check_keys({kFailureClasses.begin(), kFailureClasses.end()});
  for (std::size_t i = 0; i < kFailureClasses.size(); ++i) {
    RetryRule& rule = retries[static_cast<FailureClass>(i)];
    rule = read_retry(*section, std::string(kFailureClasses[i]), rule);
  }
}

void read_objectives(const Section& top, Experiment& experiment) {
  for (const Section& section : top.sections("objectives")) {
    section.check_keys({"metric", "mode", "limit"});
    const auto metric = section.text("metric");
    if (!metric || metric->empty()) section.error("metric", "missing: a key of the metric");
    const std::string mode = section.choice("mode", {"minimize", "maximize"});
    for (const Objective& known : experiment.objectives) {
      if (known.metric == metric) section.error("metric", "there are two of that name");
    }
    const auto limit = section.number("limit", -HUGE_VAL);
    if (limit && experiment.objectives.empty()) {
      section.error("limit",
                    "the first objective is what trials are ranked by; name that one first, "
                    "and what is to be kept to a limit after it");
    }
    experiment.objectives.push_back({metric.value_or(""), mode == "maximize", limit});
  }
}

// A threshold in `metric` is for an objective, and is reached in the direction of that objective.
void read_stop(const Section& top, Experiment& experiment) {
  const auto section = top.section("stop");
  if (!section) return;
  section->check_keys({"metric", "metricAbove", "metricBelow", "plateau", "trials", "wallTime",
                       "trialTime", "cost", "failures", "reports", "trial"});
  StopRules& stop = experiment.stop;
  for (const auto& [name, threshold] : section->numbers("metric")) {
    const auto objective = std::ranges::find(experiment.objectives, name, &Objective::metric);
    if (objective != experiment.objectives.end()) {
      (objective->maximize ? stop.reach_up : stop.reach_down)[name] = threshold;
    } else if (!top.wrong("objectives")) {
      section->error("metric." + name,
                     "it is no metric of `objectives`, so its direction is not known; use "
                     "metricAbove or metricBelow");
    }
  }
  stop.reach_up.merge(section->numbers("metricAbove"));
  stop.reach_down.merge(section->numbers("metricBelow"));
  if (const auto plateau = section->section("plateau")) {
    plateau->check_keys({"trials", "tolerance"});
    const auto trials = plateau->integer("trials", 1, kMany);
    if (!trials) plateau->error("trials", "missing: trials in a row without improvement");
    stop.plateau =
        StopRules::Plateau{trials.value_or(1), plateau->number("tolerance", 0).value_or(0)};
  }
  // - 1, because these two are reached in the file, and StopRules must be exceeded.
  if (const auto n = section->integer("trials", 1, kMany)) stop.max_finished = *n - 1;
  if (const auto n = section->integer("reports", 1, INT64_MAX)) stop.max_evaluations = *n - 1;
  stop.max_failed = section->integer("failures", 0, kMany);
  stop.max_trial_seconds = section->duration("trialTime");
  stop.max_cost = section->number("cost", 0);
  if (const auto seconds = section->duration("wallTime")) {
    auto& limit = experiment.max_experiment_seconds;
    limit = std::min(limit.value_or(*seconds), *seconds);
  }
  experiment.trial.stop = section->numbers("trial");
}

void read_arguments(const Section& top, TaskProgram& program) {
  constexpr double kMost = 1e18;
  const std::string how = top.choice("arguments", {"none", "commandLine", "jsonFile"});
  if (how == "commandLine") program.arguments = TrialArguments::command_line;
  if (how == "jsonFile") program.arguments = TrialArguments::json_file;
  if (const auto bytes = top.bytes("outputLimit"))
    program.output_limit = static_cast<std::uint64_t>(std::min(*bytes, kMost));
}

void read_gpus(const Section& top, Experiment& experiment) {
  const auto gpus = top.integer("trialGpuNumber", 0, 1000);
  if (!gpus) return;
  if (experiment.trial.resources.gpu > 0)
    top.error("trialGpuNumber", "resources.gpu says it too; keep one of them");
  experiment.trial.resources.gpu = static_cast<double>(*gpus);
  if (*gpus == 0) experiment.program.gpus = GpuUse::hide;
}

}  // namespace

void check_simulation(const Section& top) {
  const auto simulation = top.section("simulation");
  if (!simulation) return;
  for (const ArgumentFlaw& flaw : simulation_flaws(simulation->value()))
    simulation->error(fmt::format("{}", fmt::join(flaw.path, ".")), flaw.message);
}

void read_fidelity(const Section& top, Experiment& experiment) {
  const auto given = top.section("fidelity");
  if (!given) return;
  given->check_keys({"metric", "max"});
  Fidelity fidelity;
  fidelity.metric = given->text("metric").value_or(fidelity.metric);
  const auto max = given->integer("max", 1, kMany);
  if (max) {
    fidelity.max = *max;
    experiment.fidelity = fidelity;
  } else if (!given->wrong("max")) {
    given->error("max", "say how far a full training goes, as in max: 81");
  }
}

void read_rules(const Section& top, Experiment& experiment) {
  experiment.backend = top.choice("backend", {"local", "pool", "slurm", "simulated"});
  if (const auto simulation = top.section("simulation"))
    experiment.simulation = simulation->value();
  read_arguments(top, experiment.program);
  experiment.trial.resources = read_resources(top, "resources");
  read_gpus(top, experiment);
  if (experiment.trial.resources.gpu > 0) experiment.program.gpus = GpuUse::assign;
  experiment.capacity = read_resources(top, "capacity");
  experiment.queue_trials = top.boolean("queueTrials").value_or(false);
  read_checkpoint(top, experiment);
  read_retries(top, experiment.trial.retries);
  read_objectives(top, experiment);
  read_stop(top, experiment);
  experiment.constraints = top.texts("constraints");
  read_fidelity(top, experiment);
  experiment.program.in_step = top.choice(kDecisions, {"free", "in-step"}) == "in-step";
  for (const Section& point : top.sections("initialPoints"))
    experiment.initial_points.push_back(point.value());
}

std::vector<std::string> without_effect(const Section& top, const Experiment& experiment) {
  std::vector<std::string> warnings;
  const std::string& backend = experiment.backend;
  const auto warn = [&](const Section& section, const std::string& key,
                        const std::string& instead) {
    if (section.find(key) == nullptr) return;
    warnings.push_back(section.remark(
        key, fmt::format("it has no effect with backend: {}; {}", backend, instead)));
  };
  if (backend == "simulated") {
    warn(top, "export", "attune export writes the same afterwards");
    return warnings;
  }
  for (const char* key : {"pool", "slurm"}) {
    if (backend != key) warn(top, key, fmt::format("it is for backend: {}", key));
  }
  if (backend == "local") return warnings;
  if (const auto service = top.section("trainingService"))
    warn(*service, "gpuIndices", "give the workers only those devices: CUDA_VISIBLE_DEVICES");
  const Resources& said = experiment.capacity;
  if (said.cpu == 0 && said.gpu == 0 && said.memory == 0 && said.custom.empty())
    warn(top, "queueTrials", "a trial waits until a worker has what it needs");
  return warnings;
}

}  // namespace attune
