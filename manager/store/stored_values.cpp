#include "manager/store/stored_values.h"

#include <limits>
#include <utility>

#include "base/python_json.h"

namespace attune {
std::string metric_column(const json& metric) {
  return metric.is_null() ? std::string() : dump_python_json(metric);
}

std::optional<double> number_of(const json& metric, const std::string& objective) {
  const json* value = &metric;
  if (metric.is_object()) {
    const auto found = metric.find(objective);
    if (found == metric.end()) return std::nullopt;
    value = &*found;
  }
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;  // as the daemon counts them
  if (!value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string_view to_text(ReportMetricData::Type type) {
  switch (type) {
    case ReportMetricData::Type::periodical:
      return "periodical";
    case ReportMetricData::Type::final:
      return "final";
    case ReportMetricData::Type::request_parameter:
      return "request_parameter";
  }
  return "";
}

std::optional<TrialStatus> trial_status_of(std::string_view text) {
  for (const TrialStatus status : kTrialStatuses) {
    if (to_text(status) == text) return status;
  }
  return std::nullopt;
}

std::optional<TrialSource> trial_source_of(std::string_view text) {
  for (const TrialSource source :
       {TrialSource::algorithm, TrialSource::customized, TrialSource::initial}) {
    if (to_text(source) == text) return source;
  }
  return std::nullopt;
}

std::string state_column(const RunnerState& state) {
  json object = {{"requests", state.requests},    {"exhausted", state.exhausted},
                 {"declined", state.declined},    {"saving", state.saving},
                 {"answers", state.answers},      {"held", state.held},
                 {"deleting", state.deleting},    {"releasing", state.releasing},
                 {"since_best", state.since_best}};
  if (state.best) object["best"] = *state.best;
  return dump_json(object);  // scores are finite
}

Result<RunnerState> runner_state_of(const std::string& text) {
  const json object = TRY(parse_json(text));
  RunnerState state;
  const auto number = [](const json& value) { return value.is_number_integer(); };
  const auto count = [&](const char* name) -> std::int64_t {
    const auto found = object.find(name);
    return found != object.end() && number(*found) ? found->get<std::int64_t>() : 0;
  };
  const auto list = [&](const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_array() ? *found : json::array();
  };
  if (!object.is_object()) return fail("the manager's state is no object");
  for (const json& lacks : list("requests")) {
    if (!number(lacks) || lacks < 1 || lacks > std::numeric_limits<int>::max())
      return fail("a request lacks " + dump_json(lacks) + " proposals");
    state.requests.push_back(lacks.get<int>());
  }
  for (const auto& [name, ids] : {std::pair("saving", &state.saving),
                                  {"answers", &state.answers},
                                  {"held", &state.held},
                                  {"deleting", &state.deleting},
                                  {"releasing", &state.releasing}}) {
    for (const json& id : list(name)) {
      if (!id.is_string()) return fail("a checkpoint or a trial is called " + dump_json(id));
      ids->push_back(id.get<std::string>());
    }
  }
  state.exhausted = object.value("exhausted", json()) == true;
  state.declined = static_cast<int>(count("declined"));
  state.since_best = count("since_best");
  if (const auto best = object.find("best"); best != object.end() && best->is_number())
    state.best = best->get<double>();
  return state;
}

ParameterId parameter_id_of(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return value.get<std::string>();
  return std::monostate{};
}

}  // namespace attune
