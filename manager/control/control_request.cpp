#include "manager/control/control_request.h"

#include <fmt/format.h>

#include <cmath>

namespace attune {
namespace {

// The smallest max_seconds. The experiment file must have more than 0, and 1 ns ends the experiment
// at once.
constexpr double kLeastSeconds = 1e-9;

std::unexpected<Error> wrong(const std::string& key, const std::string& wanted, const json& found) {
  return fail(fmt::format("'{}' must be {}, not {}", key, wanted, json_type_name(found)));
}

Result<std::vector<json>> objects(const json& request, const std::string& key) {
  const json& list = request.contains(key) ? request[key] : json();
  if (!list.is_array()) return wrong(key, "an array of objects", list);
  std::vector<json> found;
  for (const json& each : list) {
    if (!each.is_object()) return wrong(key, "an array of objects", each);
    found.push_back(each);
  }
  return found;
}

template <class Number>
Result<std::optional<Number>> number(const json& request, const std::string& key, Number least,
                                     Number most) {
  if (!request.contains(key)) return std::optional<Number>();
  const json& value = request[key];
  if (!value.is_number() || (std::is_integral_v<Number> && !value.is_number_integer()))
    return wrong(key, std::is_integral_v<Number> ? "a whole number" : "a number", value);
  const auto found = value.get<double>();  // exact up to 2^53; all limits are smaller
  if (!(found >= static_cast<double>(least) && found <= static_cast<double>(most)))
    return fail(fmt::format("'{}' must be from {} to {}", key, least, most));
  return std::optional(static_cast<Number>(found));
}

// NaN and infinity as texts, because dump_json() would write null.
json finite_or_text(const json& value) {
  if (!value.is_number_float() || std::isfinite(value.get<double>())) return value;
  const auto number = value.get<double>();
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

struct Writer {
  json operator()(const StopRequest& stop) const {
    return {{"command", "stop"}, {"kill", stop.kill}};
  }
  json operator()(const KillRequest& kill) const {
    return {{"command", "kill"}, {"trials", kill.trials}};
  }
  json operator()(const AddRequest& add) const {
    return {{"command", "add"}, {"trials", add.trials}};
  }
  json operator()(const ImportRequest& import) const {
    json records = json::array();
    for (const ImportData::Record& record : import.records)
      records.push_back({{"parameters", record.parameter},
                         {"score", finite_or_text(record.value)},
                         {"trial_job_id", record.trial_job_id}});
    return {{"command", "import"}, {"records", std::move(records)}};
  }
  json operator()(const UpdateRequest& update) const {
    json request = {{"command", "update"}};
    if (!update.search_space.is_null()) request["search_space"] = update.search_space;
    if (update.concurrency) request["concurrency"] = *update.concurrency;
    if (update.max_seconds) request["max_seconds"] = *update.max_seconds;
    if (update.max_trials) request["max_trials"] = *update.max_trials;
    return request;
  }
  json operator()(const StatusRequest&) const { return {{"command", "status"}}; }
};

Result<ControlRequest> parse_kill(const json& request) {
  const json& list = request.contains("trials") ? request["trials"] : json();
  if (!list.is_array()) return wrong("trials", "an array of job ids", list);
  KillRequest kill;
  for (const json& each : list) {
    if (!each.is_string()) return wrong("trials", "an array of job ids", each);
    kill.trials.push_back(each.get<std::string>());
  }
  return kill;
}

Result<ControlRequest> parse_import(const json& request) {
  ImportRequest import;
  for (const json& each : TRY(objects(request, "records"))) {
    ImportData::Record record;
    record.parameter = each.value("parameters", json());
    if (!record.parameter.is_object())
      return wrong("records[].parameters", "an object", record.parameter);
    record.value = each.value("score", each.value("value", json()));
    if (record.value == "NaN") record.value = std::nan("");
    if (record.value == "Infinity") record.value = INFINITY;
    if (record.value == "-Infinity") record.value = -INFINITY;
    if (each.contains("trial_job_id") && each["trial_job_id"].is_string())
      record.trial_job_id = each["trial_job_id"].get<std::string>();
    import.records.push_back(std::move(record));
  }
  return import;
}

Result<ControlRequest> parse_update(const json& request) {
  UpdateRequest update;
  update.search_space = request.value("search_space", json());
  if (!update.search_space.is_null() && !update.search_space.is_object())
    return wrong("search_space", "an object", update.search_space);
  update.concurrency = TRY(number<int>(request, "concurrency", 1, 100'000));
  update.max_seconds = TRY(number<double>(request, "max_seconds", kLeastSeconds, 1e12));
  update.max_trials = TRY(number<std::int64_t>(request, "max_trials", 1, 1'000'000'000));
  return update;
}

}  // namespace

json to_json(const ControlRequest& request) { return std::visit(Writer(), request); }

Result<ControlRequest> parse_control_request(const json& request) {
  if (!request.is_object()) return wrong("the request", "an object", request);
  const json command = request.value("command", json());
  if (!command.is_string()) return wrong("command", "a text", command);
  if (command == "stop") {
    const json kill = request.value("kill", json(false));
    if (!kill.is_boolean()) return wrong("kill", "true or false", kill);
    return StopRequest{kill.get<bool>()};
  }
  if (command == "kill") return parse_kill(request);
  if (command == "add") return AddRequest{TRY(objects(request, "trials"))};
  if (command == "import") return parse_import(request);
  if (command == "update") return parse_update(request);
  if (command == "status") return StatusRequest{};
  return fail(fmt::format("unknown command '{}'; known: stop, kill, add, import, update, status",
                          command.get<std::string>()));
}

}  // namespace attune
