// The tools add, update, kill and stop. They ask the manager of a running experiment, as the
// commands of the same names do.
#include "manager/cli/commands/manager_answer.h"
#include "manager/mcp/tool_arguments.h"

namespace attune {
namespace {

constexpr std::int64_t kMostTrials = 100;  // in one call

// The manager's answer, with the experiment that it is about. `options`: as for manager_answer().
Result<json> ask(const StoredExperiment& experiment, const ControlRequest& request,
                 const std::string& options = "") {
  auto answer = manager_answer(experiment, request, options);
  if (!answer) return fail(answer.error().message);
  (*answer)["experiment_id"] = experiment.id;
  return *std::move(answer);
}

Result<json> add(const ToolContext& context, const json& arguments) {
  const StoredExperiment experiment = TRY(find_experiment(context, arguments)).experiment;
  return ask(experiment, AddRequest{arguments["trials"].get<std::vector<json>>()});
}

Result<json> update(const ToolContext& context, const json& arguments) {
  UpdateRequest request;
  if (arguments.contains("concurrency")) request.concurrency = arguments["concurrency"].get<int>();
  if (arguments.contains("max_seconds"))
    request.max_seconds = arguments["max_seconds"].get<double>();
  if (arguments.contains("max_trials"))
    request.max_trials = arguments["max_trials"].get<std::int64_t>();
  if (!request.concurrency && !request.max_seconds && !request.max_trials)
    return fail("nothing to change: give concurrency, max_seconds or max_trials");
  const StoredExperiment experiment = TRY(find_experiment(context, arguments)).experiment;
  return ask(experiment, request, resume_options(request));
}

Result<json> kill(const ToolContext& context, const json& arguments) {
  auto [reader, experiment] = TRY(find_experiment(context, arguments));
  KillRequest request;
  for (const json& name : arguments["trials"])
    request.trials.push_back(TRY(reader.trial(experiment, name.get<std::string>())).job_id);
  return ask(experiment, request);
}

// Does not wait until the trials have ended: they may take long, and the client would hear nothing.
Result<json> stop(const ToolContext& context, const json& arguments) {
  const StoredExperiment experiment = TRY(find_experiment(context, arguments)).experiment;
  return ask(experiment, StopRequest{arguments.value("kill", false)});
}

}  // namespace

std::vector<Tool> changing_tools() {
  const json experiment = named_experiment_schema();
  return {
      {.name = "add",
       .title = "Add trials",
       .description = "Adds trials with the given parameters to a running experiment. They must "
                      "lie in its search space (tool config); if one does not, none is added. "
                      "Gives the job ids.",
       .schema =
           object_schema({{"experiment", experiment},
                          {"trials", list_schema("The parameters of each trial.",
                                                 open_object_schema("A value for each parameter."),
                                                 1, kMostTrials)}},
                         {"experiment", "trials"}),
       .changes = true,
       .call = add},
      {.name = "update",
       .title = "Change limits",
       .description = "Changes limits of a running experiment: how many trials run at once, how "
                      "long it runs in all, how many trials it runs in all. An experiment that "
                      "has reached its new limits ends.",
       .schema = object_schema(
           {{"experiment", experiment},
            {"concurrency", integer_schema("How many trials run at once.", 1, 100'000)},
            {"max_seconds", number_schema("How long the experiment runs in all.", 1, 1e12)},
            {"max_trials",
             integer_schema("How many trials the experiment runs in all.", 1, 1'000'000'000)}},
           {"experiment"}),
       .changes = true,
       .destructive = true,
       .idempotent = true,
       .call = update},
      {.name = "kill",
       .title = "Stop trials",
       .description = "Stops some trials of a running experiment; the experiment goes on.",
       .schema =
           object_schema({{"experiment", experiment},
                          {"trials", list_schema("Which trials.", trial_schema(), 1, kMostTrials)}},
                         {"experiment", "trials"}),
       .changes = true,
       .destructive = true,
       .idempotent = true,
       .call = kill},
      {.name = "stop",
       .title = "Stop an experiment",
       .description = "Stops a running experiment and its trials. `attune resume` can continue "
                      "it later. Does not wait for the end: the tool status shows it.",
       .schema = object_schema(
           {{"experiment", experiment},
            {"kill",
             with_default(flag_schema("Kill the trials at once, without time to save."), false)}},
           {"experiment"}),
       .changes = true,
       .destructive = true,
       .idempotent = true,
       .call = stop},
  };
}

}  // namespace attune
