#include "protocol/codec.h"

#include <array>

#include "base/python_json.h"

namespace attune {
namespace {

struct CodeName {
  std::string_view code, name;
};
constexpr std::array<CodeName, 21> kNames{{
    {"IN", "Initialize"},
    {"GE", "RequestTrialJobs"},
    {"ME", "ReportMetricData"},
    {"SS", "UpdateSearchSpace"},
    {"FD", "ImportData"},
    {"AD", "AddCustomizedTrialJob"},
    {"EN", "TrialEnd"},
    {"TE", "Terminate"},
    {"PI", "Ping"},
    {"CK", "CheckpointSaved"},
    {"RC", "Received"},
    {"ID", "Initialized"},
    {"TR", "NewTrialJob"},
    {"SP", "SendTrialJobParameter"},
    {"NO", "NoMoreTrialJobs"},
    {"KI", "KillTrialJob"},
    {"ER", "Error"},
    {"PO", "Pong"},
    {"PA", "PauseTrialJob"},
    {"CP", "SaveCheckpoint"},
    {"CD", "DropCheckpoint"},
}};

// In the order of TrialEnd::Event.
constexpr std::array<std::string_view, 8> kEvents = {
    "SUCCEEDED",     "FAILED", "USER_CANCELED", "SYS_CANCELED",
    "EARLY_STOPPED", "PAUSED", "PAUSE_FAILED",  "UNKNOWN"};

void put_text(json& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[std::string(key)] = text;
}

std::string payload_of(const Initialize& c) {
  if (c.earlier.is_null()) return dump_json(c.search_space);
  return dump_json({{"search_space", c.search_space}, {"earlier", c.earlier}});
}
std::string payload_of(const RequestTrialJobs& c) { return std::to_string(c.count); }
std::string payload_of(const UpdateSearchSpace& c) { return dump_json(c.search_space); }
std::string payload_of(const Terminate&) { return {}; }
std::string payload_of(const Ping& c) { return c.token; }
std::string payload_of(const Pong& c) { return c.token; }
std::string payload_of(const DaemonError& c) { return c.text; }

std::string payload_of(const ReportMetricData& c) {
  constexpr std::array<std::string_view, 3> kTypes = {"PERIODICAL", "FINAL", "REQUEST_PARAMETER"};
  json object = {{"parameter_id", to_json(c.parameter_id)},
                 {"trial_job_id", c.trial_job_id},
                 {"type", kTypes.at(static_cast<std::size_t>(c.type))},
                 {"sequence", c.sequence}};
  if (c.type == ReportMetricData::Type::request_parameter) {
    object["parameter_index"] = c.parameter_index;
  } else {
    object["value"] = dump_python_json(c.value);
  }
  return dump_json(object);
}

std::string payload_of(const ImportData& c) {
  json list = json::array();
  for (const auto& record : c.records) {
    json item = {{"parameter", record.parameter}, {"value", dump_python_json(record.value)}};
    put_text(item, "trialJobId", record.trial_job_id);
    list.push_back(std::move(item));
  }
  return dump_json(list);
}

std::string payload_of(const AddCustomizedTrialJob& c) {
  json list = json::array();
  for (const auto& trial : c.trials) {
    json item = {{"parameter_id", to_json(trial.parameter_id)},
                 {"parameter_source", trial.parameter_source},
                 {"parameters", trial.parameters},
                 {"parameter_index", 0}};
    put_text(item, "trial_job_id", trial.trial_job_id);
    if (trial.paused) item["paused"] = true;
    put_text(item, "checkpoint", trial.checkpoint);
    list.push_back(std::move(item));
  }
  return dump_json(c.resumed || list.empty() ? list : list[0]);
}

std::string payload_of(const TrialEnd& c) {
  json params = {{"parameter_id", to_json(c.parameter_id)}, {"parameters", c.parameters}};
  json object = {{"trial_job_id", c.trial_job_id},
                 {"event", to_text(c.event)},
                 {"hyper_params", dump_json(params)}};
  put_text(object, "checkpoint", c.checkpoint);
  return dump_json(object);
}

std::string payload_of(const CheckpointSaved& c) {
  return dump_json({{"trial_job_id", c.trial_job_id}, {"checkpoint", c.checkpoint}});
}

std::string payload_of(const Received& c) { return std::to_string(c.answers); }

std::string payload_of(const Initialized& c) {
  if (c.through) return dump_json({{"through", *c.through}});
  return c.reason.empty() ? std::string() : dump_json({{"reason", c.reason}});
}

std::string payload_of(const NewTrialJob& c) {
  json object = {{"parameter_id", to_json(c.parameter_id)},
                 {"parameter_source", c.parameter_source},
                 {"parameters", c.parameters},
                 {"parameter_index", c.parameter_index}};
  put_text(object, "resume_trial_job_id", c.resume_trial_job_id);
  put_text(object, "checkpoint_from", c.checkpoint_from);
  put_text(object, "reason", c.reason);
  return dump_json(object);
}

std::string payload_of(const SendTrialJobParameter& c) {
  return dump_json({{"parameter_id", to_json(c.parameter_id)},
                    {"parameter_source", "algorithm"},
                    {"parameters", c.parameters},
                    {"trial_job_id", c.trial_job_id},
                    {"parameter_index", c.parameter_index}});
}

std::string payload_of(const NoMoreTrialJobs& c) {
  json object = {{"parameter_id", to_json(c.parameter_id)},
                 {"parameter_source", "algorithm"},
                 {"parameters", ""},
                 {"parameter_index", 0}};
  put_text(object, "reason", c.reason);
  if (c.transient) object["transient"] = true;
  return dump_json(object);
}

std::string payload_of(const KillTrialJob& c) {
  if (c.reason.empty() && !c.complete) return dump_json(c.trial_job_id);
  json object = {{"trial_job_id", c.trial_job_id}, {"reason", c.reason}};
  if (c.complete) object["complete"] = true;
  return dump_json(object);
}

std::string payload_of(const PauseTrialJob& c) {
  return dump_json({{"trial_job_id", c.trial_job_id}, {"reason", c.reason}});
}
std::string payload_of(const SaveCheckpoint& c) {
  return dump_json({{"trial_job_id", c.trial_job_id}});
}
std::string payload_of(const DropCheckpoint& c) {
  return dump_json({{"checkpoint", c.checkpoint}});
}

}  // namespace

std::string_view code_of(const Command& command) {
  static_assert(std::variant_size_v<Command> == kNames.size(), "kNames is in Command's order");
  return kNames.at(command.index()).code;
}

std::string_view name_of(std::string_view code) {
  for (const auto& entry : kNames) {
    if (entry.code == code) return entry.name;
  }
  return {};
}

json to_json(const ParameterId& id) {
  if (const auto* number = std::get_if<std::int64_t>(&id)) return *number;
  if (const auto* text = std::get_if<std::string>(&id)) return *text;
  return nullptr;
}

std::string to_text(const ParameterId& id) { return dump_json(to_json(id)); }

std::string_view to_text(TrialEnd::Event event) {
  return kEvents.at(static_cast<std::size_t>(event));
}

Frame encode(const Command& command) {
  return Frame{std::string(code_of(command)),
               std::visit([](const auto& c) { return payload_of(c); }, command)};
}

}  // namespace attune
