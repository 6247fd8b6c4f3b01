// The commands attune trials, attune best and attune show.
#include <fmt/format.h>

#include <utility>

#include "base/python_json.h"
#include "manager/cli/commands/best_by_model.h"
#include "manager/cli/commands/best_text.h"
#include "manager/cli/commands/parameter_text.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/views.h"
#include "manager/cli/commands/wait_reasons.h"
#include "manager/cli/progress.h"
#include "manager/control/json_format.h"
#include "manager/store/store_reader.h"
#include "manager/store/stored_values.h"
#include "os/standard_output.h"

namespace attune {
namespace {

std::string took(const TrialRecord& trial, double now) {
  if (trial.start_time == 0) return "";
  return duration_text(
      std::max((has_ended(trial.status) ? trial.end_time : now) - trial.start_time, 0.0));
}

std::string score_text(const TrialRecord& trial, const std::string& objective) {
  const auto score = trial.score(objective);
  return score ? number_text(*score) : "";
}

TrialFilter::Order order_of(const std::string& word) {
  if (word == "newest") return TrialFilter::Order::newest;
  return word == "best" ? TrialFilter::Order::best : TrialFilter::Order::sequence;
}

std::string pretty(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::vector<std::string> metric_names(const StoredExperiment& experiment) {
  std::vector<std::string> names;
  for (const Objective& each : experiment.objectives) names.push_back(each.metric);
  return names;
}

// "  with seconds 1.5 (limit: at most 2)", a line for each limit.
std::string limits_text(const TrialRecord& trial, const StoredExperiment& experiment) {
  std::string text;
  for (const Objective& each : experiment.objectives) {
    if (each.limit)
      text += fmt::format("  with {} {}{}\n", each.metric, score_text(trial, each.metric),
                          limit_note(trial, each));
  }
  return text;
}

// "signalled: killed by signal 11 (Segmentation fault)"
std::string ending_text(const StoredAttempt& attempt) {
  if (!attempt.ending) return "not ended";
  std::string text(to_text(*attempt.ending));
  return attempt.detail.empty() ? text : text + ": " + attempt.detail;
}

// Why a report did not count, or holds no score; empty: it counted.
std::string ignored_text(const StoredReport& report) {
  if (!report.ignored.empty()) return report.ignored;
  return report.late ? "late: the decision was taken without it" : "";
}

// Where the attempt ran; empty: on the machine of its manager, without a GPU of its own.
std::string place_text(const StoredAttempt& attempt) {
  std::string text = attempt.worker;
  if (!attempt.host.empty()) text += " on " + attempt.host;
  if (!attempt.gpus.empty()) text += (text.empty() ? "gpu " : ", gpu ") + attempt.gpus;
  return text;
}

std::string attempts_text(const StoredTrial& whole, std::size_t width) {
  std::vector<std::string> headings = {"ATTEMPT", "BEGAN", "TOOK", "CPU",
                                       "MEMORY",  "FROM",  "ENDED"};
  const bool placed = std::ranges::any_of(
      whole.attempts, [](const StoredAttempt& attempt) { return !place_text(attempt).empty(); });
  if (placed) headings.insert(headings.begin() + 1, "WORKER");
  TextTable table(std::move(headings));
  for (const StoredAttempt& attempt : whole.attempts) {
    std::vector<std::string> cells = {
        std::to_string(attempt.attempt),
        time_text(attempt.started),
        attempt.ended ? duration_text(std::max(*attempt.ended - attempt.started, 0.0)) : "",
        attempt.ended ? fmt::format("{:.1f} s", attempt.cpu_seconds) : "",
        attempt.ended && attempt.max_rss > 0 ? bytes_text(attempt.max_rss) : "",
        attempt.from_checkpoint.empty() ? "-" : attempt.from_checkpoint,
        ending_text(attempt)};
    if (placed) cells.insert(cells.begin() + 1, place_text(attempt));
    table.add(std::move(cells));
  }
  return table.empty() ? "" : "\n" + table.text(width);
}

std::string reports_text(const StoredTrial& whole, std::size_t width) {
  TextTable table({"REPORT", "ATTEMPT", "TYPE", "SEQUENCE", "TIME", "VALUE", "DID NOT COUNT"});
  for (const StoredReport& report : whole.reports)
    table.add({std::to_string(report.report), std::to_string(report.attempt), report.type,
               std::to_string(report.sequence), time_text(report.time),
               report.value ? number_text(*report.value) : "", ignored_text(report)});
  return table.empty() ? "" : "\n" + table.text(width);
}

std::string decisions_text(const StoredTrial& whole, std::size_t width) {
  TextTable table({"DECISION", "TIME", "BY", "REASON"});
  for (const StoredDecision& decision : whole.decisions)
    table.add({decision.action, time_text(decision.time), decision.by, decision.reason});
  return table.empty() ? "" : "\n" + table.text(width);
}

std::string checkpoints_text(const StoredTrial& whole, std::size_t width) {
  TextTable table({"CHECKPOINT", "ATTEMPT", "SAVED", "SIZE", "STATE"});
  for (const StoredCheckpoint& checkpoint : whole.checkpoints)
    table.add({checkpoint.checkpoint, std::to_string(checkpoint.attempt),
               time_text(checkpoint.saved), bytes_text(checkpoint.bytes),
               checkpoint.dropped         ? "dropped " + time_text(*checkpoint.dropped)
               : checkpoint.error.empty() ? checkpoint.state
                                          : checkpoint.state + ": " + checkpoint.error});
  return table.empty() ? "" : "\n" + table.text(width);
}

std::string events_text(const StoredTrial& whole, std::size_t width) {
  TextTable table({"EVENT", "TIME", "TEXT"});
  for (const StoredEvent& event : whole.events)
    table.add({event.kind, time_text(event.time), event.text});
  return table.empty() ? "" : "\n" + table.text(width);
}

std::string whole_text(const StoredExperiment& experiment, const StoredTrial& whole,
                       const Console& console) {
  const TrialRecord& trial = whole.trial;
  std::string text =
      fmt::format("trial {} of {}: {}{}\n", trial.job_id, experiment.id, status_word(trial.status),
                  trial.reason.empty() ? "" : ", " + trial.reason);
  text += fmt::format("source {}", to_text(trial.source));
  if (trial.start_time > 0)
    text += fmt::format(", began {}, {}", time_text(trial.start_time), took(trial, console.now));
  text += fmt::format(", {} attempts, {} failures, {} reports\n", trial.attempts, trial.failures,
                      trial.reports);
  // Not by dump_json(), which writes NaN as null: a user looks here to find it.
  if (!trial.final_metric.is_null()) text += "final " + dump_python_json(trial.final_metric) + "\n";
  if (!trial.last_metric.is_null())
    text += "last report " + dump_python_json(trial.last_metric) + "\n";
  const json* before = nullptr;  // a trial that goes on after a pause mostly keeps its parameters
  for (const StoredParameter& each : whole.parameters) {
    if (each.index == 0) {
      const json* last = std::exchange(before, &each.proposed.parameters);
      if (last == nullptr) {
        text += "parameters " + pretty(*before);
      } else if (*last != *before) {
        text += fmt::format("from attempt {} on {}", each.attempt, pretty(*before));
      }
    } else {
      text += fmt::format("number {} {}", each.index, pretty(each.proposed.parameters));
    }
  }
  return text + attempts_text(whole, console.width) + decisions_text(whole, console.width) +
         checkpoints_text(whole, console.width) + events_text(whole, console.width) +
         reports_text(whole, console.width);
}

// Prints the parameters for other programs. Notes go to standard error, since standard output must
// contain nothing else.
Result<int> print_parameters(const std::vector<TrialRecord>& best,
                             const StoredExperiment& experiment, const std::string& format,
                             const Console& console) {
  std::string text;
  for (const TrialRecord& trial : best) {
    if (format == "yaml" && !text.empty()) text += "---\n";
    text += TRY(parameter_text(trial.proposed.parameters, format));
  }
  if (limits_broken(best, experiment.objectives))
    put_text(console.err, fmt::format("attune: {}; nearest\n", kNoneKeepsLimits));
  print(console, text);
  return kExitOk;
}

}  // namespace

Result<int> view(const TrialsOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  TrialFilter filter;
  filter.statuses = options.statuses;
  filter.order = order_of(options.sort);
  filter.limit = options.limit;
  if (options.which.json) {
    JsonArray array(console);
    TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
      array.add(with_format(trial_json(trial, experiment.objectives)));
      return true;
    }));
    array.end();
    return kExitOk;
  }
  TextTable table(
      {"TRIAL", "STATUS", "SCORE", "TOOK", "ATTEMPTS", "REPORTS", "REASON", "PARAMETERS"});
  TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
    table.add({trial.job_id, status_word(trial.status),
               score_text(trial, experiment.objective().metric), took(trial, console.now),
               std::to_string(trial.attempts), std::to_string(trial.reports), trial.reason,
               dump_json(trial.proposed.parameters)});
    return true;
  }));
  print_text(console, table.text(console.width));
  return kExitOk;
}

namespace {

Result<int> view_by_model(StoreReader& reader, const StoredExperiment& experiment,
                          const BestOptions& options, const Console& console) {
  const BestByModel best = TRY(best_by_model(reader, experiment));
  if (!options.format.empty())
    return print_parameters({best.trial}, experiment, options.format, console);
  if (options.which.json) {
    json trial = with_format(trial_json(best.trial, experiment.objectives));
    trial["expected"] = expectation_json(best);
    JsonArray array(console);
    array.add(trial);
    array.end();
    return kExitOk;
  }
  print_text(console, fmt::format("{}\n{}", text_of(best), pretty(best.trial.proposed.parameters)));
  return kExitOk;
}

// What the model sees, below the best observed trial. Nothing where it cannot see anything, or
// where that may take seconds: the user has not asked for it.
void print_model(StoreReader& reader, const StoredExperiment& experiment,
                 const TrialRecord& observed, const Console& console) {
  constexpr std::size_t kMostParameters = 60;
  const auto space = searched_space(experiment);
  if (!space || space->params.size() > kMostParameters) return;
  const Result<BestByModel> best = best_by_model(reader, experiment);
  if (!best) return;
  print_text(console, text_of(*best) + "\n");
  if (best->trial.job_id != observed.job_id) {
    print_text(console, "attune best --by model shows that trial\n");
  }
}

}  // namespace

Result<int> view(const BestOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  if (options.by_model) return view_by_model(reader, experiment, options, console);
  const bool table =
      several(experiment.objectives) && !options.which.json && options.format.empty();
  const std::vector<TrialRecord> best =
      TRY(reader.best(experiment, table ? std::nullopt : options.count));
  if (best.empty() && !options.which.json)
    return fail(fmt::format("experiment {} has no succeeded trial with a finite {} yet",
                            experiment.id, fmt::join(metric_names(experiment), ", ")));
  if (options.which.json) {
    JsonArray array(console);
    for (const TrialRecord& trial : best)
      array.add(with_format(trial_json(trial, experiment.objectives)));
    array.end();
    return kExitOk;
  }
  if (!options.format.empty()) return print_parameters(best, experiment, options.format, console);
  if (table) {
    print_text(console, trade_offs_text(best, experiment.objectives, console.width, options.count));
    return kExitOk;
  }
  if (limits_broken(best, experiment.objectives))
    print_text(console, fmt::format("{}; nearest:\n", kNoneKeepsLimits));
  for (const TrialRecord& trial : best) {
    print_text(
        console,
        fmt::format("{} ({}, trial {})\n{}{}", score_text(trial, experiment.objective().metric),
                    experiment.objective().maximize ? "highest" : "lowest", trial.job_id,
                    limits_text(trial, experiment), pretty(trial.proposed.parameters)));
  }
  if (best.size() == 1) print_model(reader, experiment, best.front(), console);
  return kExitOk;
}

Result<int> view(const ShowOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.which.directory));
  const StoredExperiment experiment = TRY(reader.find(options.which.experiment));
  StoredTrial whole = TRY(reader.whole_trial(experiment, options.trial));
  std::vector<TrialRecord> alone = {std::move(whole.trial)};
  fill_wait_reasons(experiment, alone);
  whole.trial = std::move(alone.front());
  if (options.which.json) {
    print_json(console, with_format(whole_trial_json(whole, experiment.objectives)));
  } else {
    print_text(console, whole_text(experiment, whole, console));
  }
  return kExitOk;
}

}  // namespace attune
