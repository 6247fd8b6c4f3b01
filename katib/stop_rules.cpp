#include "katib/stop_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "katib/parameter.h"
#include "katib/settings.h"
#include "math/percentile.h"

namespace attune::katib {
namespace {

using namespace api::v1::beta1;

// Of one call: the next one reads on.
constexpr int kMostRead = 1000;
// Of one call: a trial may have lost its reports, but a manager that does not answer fails for all.
constexpr int kMostFailures = 3;

struct Rule {
  enum class Of { mean, best, bounds };
  Of of = Of::mean;        // what of a trial's first reports is compared with the others'
  double percentile = 50;  // of the better side: a trial that is worse stops
  std::size_t min_trials = 1;
  std::int64_t start_step = 1;  // counts from 1
  std::optional<double> lower = {}, upper = {};
};

constexpr std::string_view kAccepted =
    "medianstop (Katib's), attune-medianstop, attune-medianpruner, attune-percentile, "
    "attune-threshold";

Argument count(std::string name, std::int64_t fallback, std::string help) {
  return {.name = std::move(name),
          .type = Argument::Type::integer,
          .fallback = fallback,
          .help = std::move(help),
          .low = 1,
          .high = 1e9};
}

// The settings of Katib's own median stopping.
std::vector<Argument> katib_arguments() {
  return {count("min_trials_required", 3, "succeeded trials that are needed"),
          count("start_step", 4, "the report from which on trials are stopped")};
}

Result<json> resolved(const std::string& owner, const std::vector<Argument>& declared,
                      const EarlyStoppingSpec& spec) {
  std::vector<Setting> settings;
  for (const EarlyStoppingSetting& each : spec.algorithm_settings()) {
    settings.emplace_back(each.name(), each.value());
  }
  return resolve_arguments(owner, declared, TRY(arguments_of(owner, declared, settings)));
}

Result<Rule> rule_of(const EarlyStoppingSpec& spec, const AssessorRegistry& assessors) {
  const std::string& name = spec.algorithm_name();
  if (name == "medianstop") {
    const json args = TRY(resolved(name, katib_arguments(), spec));
    return Rule{.min_trials = args["min_trials_required"], .start_step = args["start_step"]};
  }
  for (const AssessorEntry& entry : assessors.entries()) {
    if (algorithm_name(entry.name) != name) continue;
    const bool median = entry.name == "Medianstop", bounds = entry.name == "Threshold";
    if (!median && !bounds && entry.name != "MedianPruner" && entry.name != "Percentile") break;
    const json args = TRY(resolved(name, entry.arguments, spec));
    if (median) {
      return Rule{.min_trials = std::max<std::size_t>(1, args["start_trials"]),
                  .start_step = std::max<std::int64_t>(1, args["start_step"])};
    }
    if (args["interval_steps"] != 1) {
      return fail(name + ", setting interval_steps: Katib checks every report; only 1 is possible");
    }
    Rule rule{.of = bounds ? Rule::Of::bounds : Rule::Of::best,
              .start_step = args["n_warmup_steps"].get<std::int64_t>() + 1};
    if (bounds) {
      if (!args["lower"].is_null()) rule.lower = args["lower"].get<double>();
      if (!args["upper"].is_null()) rule.upper = args["upper"].get<double>();
      if (!rule.lower && !rule.upper) return fail(name + ": setting lower or upper expected");
      if (rule.lower && rule.upper && *rule.lower > *rule.upper) {
        return fail(name + ", setting lower: it must not be above upper");
      }
      return rule;
    }
    if (args.contains("percentile")) rule.percentile = args["percentile"];
    rule.min_trials = std::max<std::size_t>(
        {1, args["n_startup_trials"].get<std::size_t>(), args["n_min_trials"].get<std::size_t>()});
    return rule;
  }
  return fail(
      fmt::format("unknown early stopping \"{}\", or one that is no rule of Katib. "
                  "Accepted: {}",
                  name.substr(0, 100), kAccepted));
}

// Of each trial with enough reports: what is compared.
std::optional<double> limit_of(const Rule& rule, bool maximize,
                               const std::map<std::string, std::vector<double>>& reports) {
  SortedNumbers numbers;
  for (const auto& [trial, values] : reports) {
    if (values.empty()) continue;
    if (rule.of == Rule::Of::best) {
      numbers.insert(maximize ? std::ranges::max(values) : std::ranges::min(values));
    } else {
      const double sum = std::accumulate(values.begin(), values.end(), 0.0);
      numbers.insert(sum / static_cast<double>(values.size()));
    }
  }
  if (numbers.size() < rule.min_trials) return std::nullopt;
  return percentile(numbers, maximize ? 100 - rule.percentile : rule.percentile);
}

}  // namespace

Result<void> StopRules::check(const EarlyStoppingSpec& spec) const {
  TRY(rule_of(spec, assessors_));
  return {};
}

// The first reports of trials that have succeeded since the last call.
Result<void> StopRules::read_new(const Request& request, std::int64_t start_step,
                                 const std::function<bool()>& cancelled) {
  const ObjectiveSpec& objective = request.experiment().spec().objective();
  int left = kMostRead, failures = 0;
  for (const Trial& trial : request.trials()) {
    if (left == 0 || failures == kMostFailures) break;
    if (trial.status().condition() != TrialStatus::SUCCEEDED || known_.contains(trial.name())) {
      continue;
    }
    // The others wait for this call, and each of a thousand reads may take seconds.
    if (cancelled()) return fail("the call was cancelled");
    std::vector<double> values;
    if (request.db_manager_address().empty()) {
      // Nobody to ask: the result stands for the reports.
      for (const Metric& metric : trial.status().observation().metrics()) {
        const auto number = number_of(metric.value());
        if (metric.name() == objective.objective_metric_name() && number) values = {*number};
      }
    } else {
      --left;
      auto read =
          read_(request.db_manager_address(), trial.name(), objective.objective_metric_name());
      if (!read) {
        log_.warning("the reports of {} are not read: {}", trial.name(), read.error().message);
        ++failures;
        continue;
      }
      values = *std::move(read);
    }
    if (std::ssize(values) > start_step) {
      values.resize(static_cast<std::size_t>(start_step));
    }
    known_.emplace(trial.name(), std::move(values));
  }
  return {};
}

Result<StopRules::Reply> StopRules::rules(const Request& request,
                                          const std::function<bool()>& cancelled) {
  const ExperimentSpec& experiment = request.experiment().spec();
  const Rule rule = TRY(rule_of(experiment.early_stopping(), assessors_));
  const ObjectiveSpec& objective = experiment.objective();
  if (objective.type() != MINIMIZE && objective.type() != MAXIMIZE) {
    return fail("objective.type: minimize or maximize expected");
  }
  const bool maximize = objective.type() == MAXIMIZE;
  Reply reply;
  const auto add = [&](double value, ComparisonType comparison) {
    EarlyStoppingRule& made = *reply.add_early_stopping_rules();
    made.set_name(objective.objective_metric_name());
    made.set_value(fmt::format("{}", value));
    made.set_comparison(comparison);
    made.set_start_step(static_cast<std::int32_t>(rule.start_step));
  };
  if (rule.of == Rule::Of::bounds) {
    if (rule.lower) add(*rule.lower, LESS);
    if (rule.upper) add(*rule.upper, GREATER);
    return reply;
  }
  const std::lock_guard lock(mutex_);
  const std::string of = request.experiment().name() + '\0' + objective.objective_metric_name() +
                         '\0' + experiment.early_stopping().SerializeAsString();
  if (std::exchange(of_, of) != of) known_.clear();
  TRY(read_new(request, rule.start_step, cancelled));
  if (const auto limit = limit_of(rule, maximize, known_)) {
    add(*limit, maximize ? LESS : GREATER);
  }
  return reply;
}

}  // namespace attune::katib
