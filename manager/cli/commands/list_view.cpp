// The commands attune list and attune status.
#include <fmt/format.h>

#include "base/saved_numbers.h"
#include "manager/cli/commands/best_text.h"
#include "manager/cli/commands/failure_causes.h"
#include "manager/cli/commands/status_table.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/views.h"
#include "manager/cli/commands/wait_reasons.h"
#include "manager/cli/progress.h"
#include "manager/control/json_format.h"
#include "manager/store/store_reader.h"

namespace attune {
namespace {

constexpr std::int64_t kFailuresShown = 5;
constexpr double kMostIterations = 1e15;  // below, each integer is a double

struct Summary {
  Tally tally;
  std::optional<BestSoFar> best;
};

struct Details {
  Summary summary;
  std::vector<TrialRecord> alive, failures;
  std::vector<FailureCause> causes;
};

Result<Summary> sum_up(StoreReader& reader, const StoredExperiment& experiment) {
  Summary summary;
  summary.tally = TRY(reader.tally(experiment));
  summary.best = TRY(reader.best_so_far(experiment));
  return summary;
}

double seconds_of(const StoredExperiment& experiment, double now) {
  if (experiment.status != ExperimentStatus::running) return experiment.seconds;
  // The stored number lags behind while the manager cannot write the store; but the manager has run
  // since it started.
  return std::max(experiment.seconds, now - experiment.manager_started);
}

// A limit in the stored experiment file; nothing: there is none.
template <class Number>
std::optional<Number> limit_of(const json& file, const char* key) {
  const auto found = file.find(key);
  if (found == file.end() || !found->is_number()) return std::nullopt;
  return found->get<Number>();
}

std::optional<double> member(const json& metric, const char* name) {
  if (!metric.is_object()) return std::nullopt;
  const auto found = metric.find(name);
  if (found == metric.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string list_text(const std::optional<BestSoFar>& best, const StoredExperiment& experiment) {
  if (!best) return "";
  const auto value = best->trial.score(experiment.objective().metric);
  if (!value) return "";  // the row in the store is damaged
  std::string score = number_text(*value);
  if (best->violation > 0) return score + " (limits not kept)";
  if (!several(experiment.objectives)) return score;
  return fmt::format("{} ({} trade-off{})", score, best->trade_offs,
                     best->trade_offs == 1 ? "" : "s");
}

// The row of a trial that has not ended.
StatusRow row_of(const TrialRecord& trial, double now) {
  TrialProgress progress;
  progress.state = status_word(trial.status);
  progress.failures = trial.failures;
  progress.failure = trial.failures > 0 ? "see attune show " + trial.job_id : "";
  if (trial.attempts > 0) progress.location = fmt::format("attempt {}", trial.attempts);
  progress.seconds = trial.start_time > 0 ? now - trial.start_time : 0;
  // A trial that goes on from an older checkpoint, or from that of another trial, has made other
  // reports than it has iterations.
  const auto iteration = member(trial.last_metric, "training_iteration");
  const bool counts = iteration && is_index(*iteration, kMostIterations);
  progress.iterations = counts ? static_cast<std::int64_t>(*iteration) : trial.reports;
  progress.loss = member(trial.last_metric, "loss");
  progress.accuracy = member(trial.last_metric, "accuracy");
  progress.reward = member(trial.last_metric, "reward");
  std::string text = progress_text(progress);
  if (!trial.last_metric.is_null() && !trial.last_metric.is_object())
    text += ", last " + dump_json(trial.last_metric);
  if (!trial.reason.empty()) text += ": " + trial.reason;
  return {progress.state, trial.job_id, text};
}

// The trials of these states, in the given order.
Result<std::vector<TrialRecord>> trials_in(StoreReader& reader, const StoredExperiment& experiment,
                                           std::vector<TrialStatus> statuses,
                                           TrialFilter::Order order,
                                           std::optional<std::int64_t> limit) {
  TrialFilter filter;
  filter.statuses = std::move(statuses);
  filter.order = order;
  filter.limit = limit;
  return reader.trials(experiment, filter);
}

Result<Details> read_details(StoreReader& reader, const StoredExperiment& experiment) {
  Details details;
  TRY(reader.consistently([&]() -> Result<void> {
    details.summary = TRY(sum_up(reader, experiment));
    details.alive = TRY(trials_in(reader, experiment,
                                  {TrialStatus::pending, TrialStatus::running, TrialStatus::paused},
                                  TrialFilter::Order::sequence, std::nullopt));
    details.failures = TRY(trials_in(reader, experiment, {TrialStatus::failed},
                                     TrialFilter::Order::newest, kFailuresShown));
    details.causes = TRY(failure_causes(reader, experiment));
    return {};
  }));
  fill_wait_reasons(experiment, details.alive);
  return details;
}

std::string status_text(const StoredExperiment& experiment, const Details& details, double now) {
  const Summary& summary = details.summary;
  std::string text = fmt::format(
      "experiment {}{}: {}{}\n", experiment.id,
      experiment.name.empty() ? "" : fmt::format(" ({})", experiment.name),
      to_text(experiment.status), experiment.reason.empty() ? "" : ", " + experiment.reason);
  text += fmt::format("began {}, manager {}, in {}\n", time_text(experiment.started),
                      experiment.manager_pid, experiment.directory.string());
  ProgressOptions options;
  options.max_trials = limit_of<std::int64_t>(experiment.file, "maxTrialNumber");
  options.max_seconds = limit_of<double>(experiment.file, "maxExperimentDuration");
  const std::string best = best_text(summary.best, experiment.objectives);
  if (experiment.status == ExperimentStatus::running) {
    text += status_line(summary.tally, best, seconds_of(experiment, now), options) + "\n";
  } else {
    const Tally& tally = summary.tally;
    text += fmt::format(
        "{} in {}: {} succeeded, {} stopped early, {} failed, {} cancelled, {} not ended\n",
        trials_text(tally.added()), duration_text(seconds_of(experiment, now)), tally.succeeded,
        tally.early_stopped, tally.failed, tally.user_canceled, tally.added() - tally.finished());
    if (!best.empty()) text += best + "\n";
  }
  std::vector<StatusRow> rows;
  for (const TrialRecord& trial : details.alive) rows.push_back(row_of(trial, now));
  text += status_table(std::move(rows));
  text += failure_causes_text(details.causes, experiment);
  if (!details.failures.empty()) text += "Last failures:\n";
  for (const TrialRecord& trial : details.failures)
    text += fmt::format(" - {}:\t{}\n", trial.job_id, trial.reason);
  return text;
}

}  // namespace

Result<int> view(const ListOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.directory));
  json array = json::array();
  TextTable table({"ID", "NAME", "STATUS", "BEGAN", "TOOK", "TRIALS", "BEST", "REASON"});
  for (const StoredExperiment& experiment : TRY(reader.experiments())) {
    const Summary summary = TRY(sum_up(reader, experiment));
    if (options.json) {
      array.push_back(with_format(experiment_json(experiment, summary.tally, summary.best)));
      continue;
    }
    table.add({experiment.id, experiment.name, std::string(to_text(experiment.status)),
               time_text(experiment.started),
               experiment.status == ExperimentStatus::killed
                   ? ""  // it is not known when it was killed
                   : duration_text(seconds_of(experiment, console.now)),
               std::to_string(summary.tally.finished()), list_text(summary.best, experiment),
               experiment.reason});
  }
  if (options.json) {
    print_json(console, array);
  } else {
    print_text(console, table.text(console.width));
  }
  return kExitOk;
}

Result<json> status_json(StoreReader& reader, const StoredExperiment& experiment, double now) {
  const Details details = TRY(read_details(reader, experiment));
  json object =
      with_format(experiment_json(experiment, details.summary.tally, details.summary.best));
  object["seconds"] = seconds_of(experiment, now);
  object["unfinished"] = json::array();
  for (const TrialRecord& trial : details.alive)
    object["unfinished"].push_back(trial_json(trial, experiment.objectives));
  object["last_failures"] = json::array();
  for (const TrialRecord& trial : details.failures)
    object["last_failures"].push_back(trial_json(trial, experiment.objectives));
  object["failure_causes"] = failure_causes_json(details.causes);
  return object;
}

Result<int> view(const StatusOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  if (options.which.json) {
    print_json(console, TRY(status_json(reader, experiment, console.now)));
    return kExitOk;
  }
  const Details details = TRY(read_details(reader, experiment));
  print_text(console, status_text(experiment, details, console.now));
  return kExitOk;
}

}  // namespace attune
