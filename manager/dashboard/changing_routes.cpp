// The routes that change a running experiment, as the commands add, kill, stop, update and resume
// do.
#include <fmt/format.h>

#include "manager/cli/commands/manager_answer.h"
#include "manager/control/schema.h"
#include "manager/dashboard/stored_view.h"

namespace attune {
namespace {

constexpr std::int64_t kMostAdded = 1'000;  // in one call

ApiResult ask(const StoredExperiment& experiment, const ControlRequest& request,
              const std::string& options = "") {
  auto answer = manager_answer(experiment, request, options);
  if (!answer)
    return std::unexpected(ApiError(answer.error().no_manager ? 409 : 400, answer.error().message));
  return json_answer(*answer);
}

ApiResult add(ApiCall& call) {
  const auto found = TRY(call.view.find_own(call.names[0]));
  return ask(found.experiment, AddRequest{call.body["trials"].get<std::vector<json>>()});
}

ApiResult kill(ApiCall& call) {
  const auto found = TRY(call.view.find_own(call.names[0]));
  const auto trial = found.reader.trial(found.experiment, call.names[1]);
  if (!trial) return std::unexpected(ApiError(404, trial.error().message));
  return ask(found.experiment, KillRequest{{trial->job_id}});
}

ApiResult stop(ApiCall& call) {
  const auto found = TRY(call.view.find_own(call.names[0]));
  return ask(found.experiment, StopRequest{call.body.value("kill", false)});
}

ApiResult update(ApiCall& call) {
  const auto found = TRY(call.view.find_own(call.names[0]));
  UpdateRequest request;
  const json& body = call.body;
  if (body.contains("search_space")) request.search_space = body["search_space"];
  if (body.contains("concurrency")) request.concurrency = body["concurrency"].get<int>();
  if (body.contains("max_seconds")) request.max_seconds = body["max_seconds"].get<double>();
  if (body.contains("max_trials")) request.max_trials = body["max_trials"].get<std::int64_t>();
  if (body.empty())
    return std::unexpected(ApiError(400,
                                    "the body: nothing to change; give concurrency, "
                                    "max_seconds, max_trials or search_space"));
  return ask(found.experiment, request, resume_options(request));
}

ApiResult resume(ApiCall& call) {
  const auto found = TRY(call.view.find_own(call.names[0]));
  if (found.experiment.status == ExperimentStatus::running)
    return std::unexpected(
        ApiError(409, fmt::format("experiment {} runs already", found.experiment.id)));
  TRY(call.view.resume(found.experiment));
  return json_answer({{"started", true}});
}

}  // namespace

std::vector<Route> changing_routes() {
  return {
      {.method = "POST",
       .path = "/api/v1/experiments/{experiment}/trials",
       .summary = "Add trials with the given parameters: all, or none if one is wrong",
       .body = object_schema({{"trials", list_schema("The parameters of each trial.",
                                                     open_object_schema("A value for each "
                                                                        "parameter."),
                                                     1, kMostAdded)}},
                             {"trials"}),
       .changes = true,
       .call = add},
      {.method = "POST",
       .path = "/api/v1/experiments/{experiment}/trials/{trial}/kill",
       .summary = "Stop one trial; the experiment goes on",
       .body = object_schema(json::object()),
       .changes = true,
       .call = kill},
      {.method = "POST",
       .path = "/api/v1/experiments/{experiment}/stop",
       .summary = "Stop an experiment and its trials; resume continues it",
       .body = object_schema({{"kill", flag_schema("Kill the trials, without time to save.")}}),
       .changes = true,
       .call = stop},
      {.method = "POST",
       .path = "/api/v1/experiments/{experiment}/resume",
       .summary = "Start a manager that continues the experiment",
       .body = object_schema(json::object()),
       .changes = true,
       .call = resume},
      {.method = "PATCH",
       .path = "/api/v1/experiments/{experiment}",
       .summary = "Change limits or the search space of a running experiment",
       .body = object_schema(
           {{"concurrency", integer_schema("How many trials run at once.", 1, 100'000)},
            {"max_seconds", number_schema("How long the experiment runs in all.", 1, 1e12)},
            {"max_trials",
             integer_schema("How many trials the experiment runs in all.", 1, 1'000'000'000)},
            {"search_space", open_object_schema("The new search space.")}}),
       .changes = true,
       .call = update},
  };
}

}  // namespace attune
