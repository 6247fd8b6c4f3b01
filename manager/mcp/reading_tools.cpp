// The tools list, status, best, trials, show and config. They read the store, as the commands of
// the same names do, and give the same JSON.
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/wait_reasons.h"
#include "manager/mcp/bounds.h"
#include "manager/mcp/tool_arguments.h"
#include "manager/mcp/trial_log.h"
#include "manager/store/stored_values.h"

namespace attune {
namespace {

constexpr std::int64_t kUsual = 20, kMost = 200;
constexpr std::int64_t kMostOffset = 1'000'000'000;  // above the number of trials of an experiment

json offset_schema() {
  return with_default(
      integer_schema("Skip so many elements first: next_offset of the answer before.", 0,
                     kMostOffset),
      0);
}

Page page_of(const json& arguments) {
  return {integer_of(arguments, "offset", 0), integer_of(arguments, "limit", kUsual)};
}

json about(const StoredExperiment& experiment) {
  return with_format({{"experiment_id", experiment.id}, {"name", experiment.name}});
}

Result<json> list(const ToolContext& context, const json& arguments) {
  StoreReader reader = TRY(StoreReader::open(context.directory));
  Page page = page_of(arguments);
  for (const StoredExperiment& experiment : TRY(reader.experiments())) {
    if (page.skip()) continue;
    const Tally tally = TRY(reader.tally(experiment));
    if (!page.add(experiment_json(experiment, tally, TRY(reader.best_so_far(experiment))))) break;
  }
  json answer = with_format({{"directory", reader.working_directory().string()}});
  page.put(answer, "experiments");
  return answer;
}

Result<json> status(const ToolContext& context, const json& arguments) {
  auto [reader, experiment] = TRY(find_experiment(context, arguments));
  json answer = TRY(status_json(reader, experiment, context.clock.wall()));
  keep_few(answer, "unfinished", integer_of(arguments, "limit", kUsual), false);
  return answer;
}

Result<json> best(const ToolContext& context, const json& arguments) {
  auto [reader, experiment] = TRY(find_experiment(context, arguments));
  Page page = page_of(arguments);
  for (const TrialRecord& trial : TRY(reader.best(experiment, page.wanted()))) {
    if (!page.skip() && !page.add(trial_json(trial, experiment.objectives))) break;
  }
  json answer = about(experiment);
  answer["objective"] = experiment.objective().metric;
  answer["optimize_mode"] = experiment.objective().maximize ? "maximize" : "minimize";
  page.put(answer, "trials");
  return answer;
}

TrialFilter filter_of(const json& arguments, const Page& page) {
  TrialFilter filter;
  filter.limit = page.wanted();
  for (const json& word : arguments.value("status", json::array())) {
    for (const TrialStatus each : kTrialStatuses)
      if (word == status_word(each)) filter.statuses.push_back(each);
  }
  const std::string sort = text_of(arguments, "sort", "sequence");
  if (sort == "newest") filter.order = TrialFilter::Order::newest;
  if (sort == "best") filter.order = TrialFilter::Order::best;
  return filter;
}

Result<json> trials(const ToolContext& context, const json& arguments) {
  auto [reader, experiment] = TRY(find_experiment(context, arguments));
  Page page = page_of(arguments);
  TRY(reader.trials(experiment, filter_of(arguments, page), [&](const TrialRecord& trial) {
    return page.skip() || page.add(trial_json(trial, experiment.objectives));
  }));
  json answer = about(experiment);
  page.put(answer, "trials");
  return answer;
}

Result<json> show(const ToolContext& context, const json& arguments) {
  auto [reader, experiment] = TRY(find_experiment(context, arguments));
  StoredTrial whole = TRY(reader.whole_trial(experiment, text_of(arguments, "trial", "")));
  std::vector<TrialRecord> alone = {std::move(whole.trial)};
  fill_wait_reasons(experiment, alone);
  whole.trial = std::move(alone.front());
  json answer = about(experiment);
  answer.update(whole_trial_json(whole, experiment.objectives));
  for (const char* key : {"attempt_list", "parameter_list", "report_list", "decision_list",
                          "checkpoint_list", "event_list"})
    keep_few(answer, key, integer_of(arguments, "limit", kUsual), true);
  return answer;
}

Result<json> config(const ToolContext& context, const json& arguments) {
  return config_json(TRY(find_experiment(context, arguments)).experiment);
}

json status_words() {
  json words = json::array();
  for (const TrialStatus status : kTrialStatuses) words.push_back(status_word(status));
  return words;
}

}  // namespace

std::vector<Tool> reading_tools() {
  const json experiment = read_experiment_schema();
  const json limit = limit_schema(kUsual, kMost);
  const json statuses =
      list_schema("Only trials in one of these states.", word_schema("A state.", status_words()), 1,
                  std::ssize(kTrialStatuses));
  return {
      {.name = "list",
       .title = "List experiments",
       .description = "Lists the tuning experiments of the working directory, the newest first: "
                      "state, number of trials in each state, the best trial so far.",
       .schema = object_schema({{"limit", limit}, {"offset", offset_schema()}}),
       .call = list},
      {.name = "status",
       .title = "Status of an experiment",
       .description = "Shows how an experiment goes: progress, the trials that run or wait and "
                      "why, the best so far, the last failures and their commonest causes.",
       .schema = object_schema({{"experiment", experiment}, {"limit", limit}}),
       .call = status},
      {.name = "best",
       .title = "Best trials",
       .description = "Shows the best succeeded trials and their parameters, the best first. With "
                      "several objectives these are the trade-offs (the Pareto front). An empty "
                      "list: no trial has a result yet. `violation` above 0: the trial breaks a "
                      "limit.",
       .schema = object_schema(
           {{"experiment", experiment}, {"limit", limit}, {"offset", offset_schema()}}),
       .call = best},
      {.name = "trials",
       .title = "Trials of an experiment",
       .description = "Lists trials with their state, parameters and results.",
       .schema = object_schema(
           {{"experiment", experiment},
            {"status", statuses},
            {"sort", with_default(word_schema("Order: of submission, newest first, best first.",
                                              {"sequence", "newest", "best"}),
                                  "sequence")},
            {"limit", limit},
            {"offset", offset_schema()}}),
       .call = trials},
      {.name = "show",
       .title = "One trial",
       .description = "Shows everything that is known about a trial: its attempts, parameters, "
                      "intermediate reports, decisions, checkpoints and events; of each list the "
                      "newest elements.",
       .schema = object_schema(
           {{"experiment", experiment}, {"trial", trial_schema()}, {"limit", limit}}, {"trial"}),
       .call = show},
      trial_log_tool(),
      {.name = "config",
       .title = "Experiment file",
       .description = "Shows the experiment file as it is stored: the search space (which "
                      "parameters there are, and their ranges), tuner, objectives, limits, and "
                      "the command of a trial.",
       .schema = object_schema({{"experiment", experiment}}),
       .call = config},
  };
}

}  // namespace attune
