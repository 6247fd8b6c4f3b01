// The routes that change a running experiment, as those of NNI's manager (nni_routes.cpp).
#include <fmt/format.h>

#include "manager/cli/commands/manager_answer.h"
#include "manager/control/schema.h"
#include "manager/dashboard/stored_view.h"
#include "manager/experiment/section.h"

namespace attune::nni_changing {
namespace {

constexpr std::int64_t kMostImported = 1'000'000;

std::expected<json, ApiError> ask(const StoredExperiment& experiment, const ControlRequest& request,
                                  const std::string& options = "") {
  auto answer = manager_answer(experiment, request, options);
  if (!answer) return std::unexpected(ApiError(500, answer.error().message));
  return *std::move(answer);
}

HttpResponse done() { return HttpResponse::text(200, "text/plain; charset=utf-8", ""); }

ApiResult add(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  const json answer = TRY(ask(found.experiment, AddRequest{{call.body}}));
  const auto name = answer["trials"].at(0).get<std::string>();
  const TrialRecord trial = TRY(found.reader.trial(found.experiment, name));
  return HttpResponse::text(200, "application/json", dump_json({{"sequenceId", trial.sequence}}));
}

ApiResult cancel(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  const auto trial = found.reader.trial(found.experiment, call.names[0]);
  if (!trial) return std::unexpected(ApiError(404, trial.error().message));
  TRY(ask(found.experiment, KillRequest{{trial->job_id}}));
  return done();
}

// In NNI a client sends back the whole experiment, of which one member has changed.
Result<UpdateRequest> changed_member(const json& profile, const std::string& type) {
  const json none;
  const json& params = profile.contains("params") ? profile["params"] : none;
  const auto wanted = [&params](const char* key) {
    return params.is_object() && params.contains(key) ? params[key] : json();
  };
  const auto number = [&wanted](const char* key, std::int64_t most) -> Result<std::int64_t> {
    const json value = wanted(key);
    TRY(check_schema(integer_schema("", 1, most), value, key));
    return value.get<std::int64_t>();
  };
  UpdateRequest request;
  if (type == "TRIAL_CONCURRENCY") {
    request.concurrency = static_cast<int>(TRY(number("trialConcurrency", 100'000)));
  } else if (type == "MAX_TRIAL_NUM") {
    request.max_trials = TRY(number("maxTrialNumber", 1'000'000'000));
  } else if (type == "MAX_EXEC_DURATION") {
    request.max_seconds = TRY(parse_duration(wanted("maxExperimentDuration")));
  } else if (type == "SEARCH_SPACE") {
    request.search_space = wanted("searchSpace");
    TRY(check_schema(open_object_schema(""), request.search_space, "searchSpace"));
  } else {
    return fail("?update_type: what is to be changed?");
  }
  return request;
}

ApiResult update(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  const UpdateRequest request = TRY(changed_member(call.body, call.query.value("update_type", "")));
  TRY(ask(found.experiment, request, resume_options(request)));
  return done();
}

ApiResult import(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  ImportRequest request;
  for (const json& each : call.body) {
    json value = each.value("value", json());
    if (value.is_string())  // as /export-data writes it
      if (auto inner = parse_json(value.get<std::string>())) value = *std::move(inner);
    request.records.push_back({each.value("parameter", json()), value, ""});
  }
  TRY(ask(found.experiment, request));
  return done();
}

// An experiment that does not run is stopped already.
ApiResult stop(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  if (found.experiment.status == ExperimentStatus::running)
    TRY(ask(found.experiment, StopRequest{}));
  return done();
}

ApiResult create(ApiCall& call) {
  const auto found = TRY(call.view.find_own(TRY(call.view.nni_experiment()).experiment.id));
  return std::unexpected(
      ApiError(500, fmt::format("this server shows experiment {}; attune run starts others",
                                found.experiment.id)));
}

Route change(const char* method, const std::string& path, const json& body,
             ApiResult (*call)(ApiCall&)) {
  return {.method = method,
          .path = "/api/v1/nni" + path,
          .summary = "As NNI's manager",
          .body = body,
          .changes = true,
          .hidden = true,
          .call = call};
}

}  // namespace

std::vector<Route> routes() {
  const json object = open_object_schema("");
  Route put = change("PUT", "/experiment", object, update);
  put.query["update_type"] =
      word_schema("What is changed.",
                  {"TRIAL_CONCURRENCY", "MAX_EXEC_DURATION", "SEARCH_SPACE", "MAX_TRIAL_NUM"});
  return {
      change("POST", "/trial-jobs", object, add),
      change("DELETE", "/trial-jobs/{trial}", nullptr, cancel),
      std::move(put),
      change("POST", "/experiment/import-data", list_schema("", object, 1, kMostImported), import),
      change("DELETE", "/experiment", nullptr, stop),
      change("POST", "/experiment", nullptr, create),
  };
}

}  // namespace attune::nni_changing
