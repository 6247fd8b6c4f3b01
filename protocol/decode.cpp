#include <fmt/format.h>

#include "protocol/codec.h"
#include "protocol/plain_metric.h"

namespace attune {
namespace {

// States save steps, like ids, as doubles, which are exact up to 2^53.
constexpr std::int64_t kLargestSequence = std::int64_t{1} << 52;

std::unexpected<Error> expected(std::string_view what, const json& got) {
  std::string shown = dump_json(got);
  if (shown.size() > 64) shown = shown.substr(0, 64) + "...";
  return fail(fmt::format("{} expected, not {} ({})", what, json_type_name(got), shown));
}

// ---- fields

Result<const json*> member(const json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return fail(fmt::format("\"{}\" is missing", key));
  return &*found;
}

Result<std::string> text_member(const json& object, std::string_view key) {
  const json* value = TRY(member(object, key));
  if (!value->is_string())
    return fail(fmt::format("\"{}\": a string expected, not {}", key, json_type_name(*value)));
  return value->get<std::string>();
}

Result<std::string> optional_text(const json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  return text_member(object, key);
}

// Ids are remembered and written into logs and answers; nothing else is made of them.
Result<std::string> within(Result<std::string> id, std::string_view key, const Limits& limits) {
  if (id && id->size() > limits.id) {
    return fail(fmt::format("\"{}\": an id of {} bytes, at most {} are possible (--max-id)", key,
                            id->size(), limits.id));
  }
  return id;
}
Result<std::string> id_member(const json& object, std::string_view key, const Limits& limits) {
  return within(text_member(object, key), key, limits);
}
Result<std::string> optional_id(const json& object, std::string_view key, const Limits& limits) {
  return within(optional_text(object, key), key, limits);
}

Result<std::int64_t> to_integer(const json& value) {
  const bool huge = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  if (!value.is_number_integer() || huge) return expected("an integer", value);
  return value.get<std::int64_t>();
}

Result<std::int64_t> optional_integer(const json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return 0;
  auto value = to_integer(*found);
  if (!value) return fail(fmt::format("\"{}\": {}", key, value.error().message));
  return value;
}

Result<ParameterId> to_parameter_id(const json& object, const Limits& limits) {
  const auto found = object.find("parameter_id");
  if (found == object.end() || found->is_null()) return ParameterId();
  if (found->is_string()) return ParameterId(TRY(id_member(object, "parameter_id", limits)));
  auto number = to_integer(*found);
  if (!number) return fail("\"parameter_id\": " + number.error().message);
  return ParameterId(*number);
}

// A metric travels as JSON text inside a JSON string. Text that is not JSON stays a string, so that
// whoever uses the value can say what was wrong with it; a bare value is taken as it is.
json metric_value(const json& wire, const Limits& limits) {
  if (!wire.is_string()) return wire;
  auto value = parse_json(wire.get_ref<const std::string&>(), limits.json());
  return value ? *std::move(value) : wire;
}

Result<json> parse_object(const std::string& payload, const Limits& limits) {
  json value = TRY(parse_json(payload, limits.json()));
  if (!value.is_object()) return expected("an object", value);
  return value;
}

// ---- one decoder a command

Result<Command> decode_search_space(const std::string& payload, bool initial,
                                    const Limits& limits) {
  json value = TRY(parse_json(payload, limits.json()));
  if (!value.is_object()) return expected("a search space object", value);
  if (initial && value.size() == 2 && value.contains("search_space") &&
      value.value("earlier", json()).is_array()) {
    // A parameter is never a list, so this is no search space of two parameters.
    if (!value["search_space"].is_object()) {
      return expected("\"search_space\": a search space object", value["search_space"]);
    }
    return Initialize{std::move(value["search_space"]), std::move(value["earlier"])};
  }
  if (initial) return Initialize{std::move(value)};
  return UpdateSearchSpace{std::move(value)};
}

Result<Command> decode_request(const std::string& payload, const Limits& limits) {
  return RequestTrialJobs{TRY(to_integer(TRY(parse_json(payload, limits.json()))))};
}

Result<Command> decode_metric(const std::string& payload, const Limits& limits) {
  auto plain = read_plain_metric(payload);
  const bool usual = plain && plain->trial_job_id.size() <= limits.id &&
                     plain->sequence <= kLargestSequence && payload.size() <= limits.string;
  if (usual) return *std::move(plain);
  const json object = TRY(parse_object(payload, limits));
  ReportMetricData metric;
  const std::string type = TRY(text_member(object, "type"));
  if (type == "PERIODICAL") {
    metric.type = ReportMetricData::Type::periodical;
  } else if (type == "FINAL") {
    metric.type = ReportMetricData::Type::final;
  } else if (type == "REQUEST_PARAMETER") {
    metric.type = ReportMetricData::Type::request_parameter;
  } else {
    return fail(fmt::format("\"type\": PERIODICAL, FINAL or REQUEST_PARAMETER expected, not \"{}\"",
                            printable(type)));
  }
  metric.parameter_id = TRY(to_parameter_id(object, limits));
  metric.trial_job_id = TRY(optional_id(object, "trial_job_id", limits));
  metric.sequence = TRY(optional_integer(object, "sequence"));
  if (metric.sequence < 0) return fail("\"sequence\" is negative");
  if (metric.sequence > kLargestSequence) {
    return fail(fmt::format("\"sequence\": at most {} is possible", kLargestSequence));
  }
  if (metric.type == ReportMetricData::Type::request_parameter) {
    if (metric.trial_job_id.empty()) return fail("\"trial_job_id\" is missing");
    metric.parameter_index = TRY(optional_integer(object, "parameter_index"));
  } else {
    metric.value = metric_value(*TRY(member(object, "value")), limits);
  }
  return metric;
}

Result<Command> decode_import(const std::string& payload, const Limits& limits) {
  const json list = TRY(parse_json(payload, limits.json()));
  if (!list.is_array()) return expected("an array of records", list);
  ImportData data;
  data.records.reserve(list.size());
  for (const json& item : list) {
    // An unusable record must not spoil the others: it is kept, and the session logs its index.
    ImportData::Record record;
    if (item.is_object()) {
      record.parameter = item.value("parameter", json());
      if (item.contains("value")) record.value = metric_value(item["value"], limits);
      record.trial_job_id = optional_id(item, "trialJobId", limits).value_or("");
    }
    data.records.push_back(std::move(record));
  }
  return data;
}

Result<AddCustomizedTrialJob::Trial> decode_customized(const json& item, const Limits& limits) {
  if (!item.is_object()) return expected("a trial object", item);
  const auto paused = item.find("paused");
  AddCustomizedTrialJob::Trial trial;
  trial.parameter_id = TRY(to_parameter_id(item, limits));
  trial.parameter_source = TRY(optional_text(item, "parameter_source"));
  trial.parameters = item.value("parameters", json());
  trial.trial_job_id = TRY(optional_id(item, "trial_job_id", limits));
  trial.paused = paused != item.end() && *paused == true;
  trial.checkpoint = TRY(optional_id(item, "checkpoint", limits));
  return trial;
}

Result<Command> decode_add(const std::string& payload, const Limits& limits) {
  const json value = TRY(parse_json(payload, limits.json()));
  AddCustomizedTrialJob command;
  command.resumed = value.is_array();
  if (!value.is_array()) {
    command.trials.push_back(TRY(decode_customized(value, limits)));
    return command;
  }
  for (const json& item : value) command.trials.push_back(TRY(decode_customized(item, limits)));
  return command;
}

Result<Command> decode_trial_end(const std::string& payload, const Limits& limits) {
  const json object = TRY(parse_object(payload, limits));
  TrialEnd end;
  end.trial_job_id = TRY(id_member(object, "trial_job_id", limits));
  const std::string event = TRY(text_member(object, "event"));
  for (int i = 0; i <= static_cast<int>(TrialEnd::Event::unknown); ++i) {
    const auto candidate = static_cast<TrialEnd::Event>(i);
    if (event == to_text(candidate)) end.event = candidate;
  }
  end.checkpoint = TRY(optional_id(object, "checkpoint", limits));
  // hyper_params is the text of the NewTrialJob. If it is damaged the end counts all the same: else
  // the trial would stay alive.
  if (const auto found = object.find("hyper_params"); found != object.end()) {
    const json params = metric_value(*found, limits);
    if (params.is_object()) {
      end.parameter_id = to_parameter_id(params, limits).value_or(ParameterId());
      end.parameters = params.value("parameters", json());
    }
  }
  return end;
}

Result<Command> decode_saved(const std::string& payload, const Limits& limits) {
  const json object = TRY(parse_object(payload, limits));
  CheckpointSaved saved;
  saved.trial_job_id = TRY(id_member(object, "trial_job_id", limits));
  saved.checkpoint = TRY(id_member(object, "checkpoint", limits));
  return saved;
}

Result<Command> decode_received(const std::string& payload, const Limits& limits) {
  const std::int64_t answers = TRY(to_integer(TRY(parse_json(payload, limits.json()))));
  if (answers < 0) return fail("a number of answers expected, not " + std::to_string(answers));
  return Received{static_cast<std::uint64_t>(answers)};
}

Result<Command> decode_initialized(const std::string& payload, const Limits& limits) {
  if (payload.empty()) return Initialized{};
  const json object = TRY(parse_object(payload, limits));
  Initialized initialized;
  initialized.reason = TRY(optional_text(object, "reason"));
  if (!object.contains("through")) return initialized;
  const std::int64_t through = TRY(to_integer(object["through"]));
  if (through < 0) return fail("\"through\" is negative");
  initialized.through = static_cast<std::uint64_t>(through);
  return initialized;
}

Result<Command> decode_new_trial(const std::string& payload, const Limits& limits) {
  const json object = TRY(parse_object(payload, limits));
  NewTrialJob job;
  job.parameter_id = TRY(to_parameter_id(object, limits));
  job.parameter_source = TRY(optional_text(object, "parameter_source"));
  job.parameters = *TRY(member(object, "parameters"));
  job.parameter_index = TRY(optional_integer(object, "parameter_index"));
  job.resume_trial_job_id = TRY(optional_id(object, "resume_trial_job_id", limits));
  job.checkpoint_from = TRY(optional_id(object, "checkpoint_from", limits));
  job.reason = TRY(optional_text(object, "reason"));
  return job;
}

Result<Command> decode_send_parameter(const std::string& payload, const Limits& limits) {
  const json object = TRY(parse_object(payload, limits));
  SendTrialJobParameter sent;
  sent.parameter_id = TRY(to_parameter_id(object, limits));
  sent.parameters = *TRY(member(object, "parameters"));
  sent.trial_job_id = TRY(id_member(object, "trial_job_id", limits));
  sent.parameter_index = TRY(optional_integer(object, "parameter_index"));
  return sent;
}

Result<Command> decode_no_more(const std::string& payload, const Limits& limits) {
  if (payload.empty()) return NoMoreTrialJobs{};
  const json object = TRY(parse_object(payload, limits));
  NoMoreTrialJobs no;
  no.parameter_id = TRY(to_parameter_id(object, limits));
  no.reason = TRY(optional_text(object, "reason"));
  no.transient = object.value("transient", json()) == true;
  return no;
}

Result<Command> decode_kill(const std::string& payload, const Limits& limits) {
  const json value = TRY(parse_json(payload, limits.json()));
  if (value.is_string()) return KillTrialJob{value.get<std::string>(), "", false};
  if (!value.is_object()) return expected("a trial job id", value);
  KillTrialJob kill;
  kill.trial_job_id = TRY(id_member(value, "trial_job_id", limits));
  kill.reason = TRY(optional_text(value, "reason"));
  kill.complete = value.value("complete", json()) == true;
  return kill;
}

Result<Command> decode_pause(const std::string& payload, const Limits& limits) {
  const json object = TRY(parse_object(payload, limits));
  PauseTrialJob pause;
  pause.trial_job_id = TRY(id_member(object, "trial_job_id", limits));
  pause.reason = TRY(optional_text(object, "reason"));
  return pause;
}

Result<Command> decode_ping(const std::string& payload, const Limits& limits) {
  // A snapshot contains the token, and is JSON.
  if (!is_utf8(payload)) return fail("the token is no UTF-8");
  return Ping{TRY(within(payload, "token", limits))};
}

Result<Command> decode_payload(const Frame& frame, const Limits& limits) {
  const auto& [code, payload] = frame;
  if (code == "ME") return decode_metric(payload, limits);
  if (code == "EN") return decode_trial_end(payload, limits);
  if (code == "GE") return decode_request(payload, limits);
  if (code == "PI") return decode_ping(payload, limits);
  if (code == "TR") return decode_new_trial(payload, limits);
  if (code == "IN") return decode_search_space(payload, true, limits);
  if (code == "SS") return decode_search_space(payload, false, limits);
  if (code == "FD") return decode_import(payload, limits);
  if (code == "AD") return decode_add(payload, limits);
  if (code == "TE") return Terminate{};
  if (code == "CK") return decode_saved(payload, limits);
  if (code == "RC") return decode_received(payload, limits);
  if (code == "ID") return decode_initialized(payload, limits);
  if (code == "SP") return decode_send_parameter(payload, limits);
  if (code == "NO") return decode_no_more(payload, limits);
  if (code == "KI") return decode_kill(payload, limits);
  if (code == "ER") return DaemonError{payload};
  if (code == "PO") return Pong{payload};
  if (code == "PA") return decode_pause(payload, limits);
  if (code == "CP") {
    return SaveCheckpoint{
        TRY(id_member(TRY(parse_object(payload, limits)), "trial_job_id", limits))};
  }
  if (code == "CD") {
    return DropCheckpoint{TRY(id_member(TRY(parse_object(payload, limits)), "checkpoint", limits))};
  }
  return fail("unknown command");
}

}  // namespace

Result<Command> decode(const Frame& frame, const Limits& limits) {
  auto command = decode_payload(frame, limits);
  if (command) return command;
  const std::string_view name = name_of(frame.code);
  return fail(fmt::format("{}{}: {}; payload of {} bytes: '{}'", printable(frame.code),
                          name.empty() ? "" : fmt::format(" ({})", name), command.error().message,
                          frame.payload.size(), printable(frame.payload)));
}

}  // namespace attune
