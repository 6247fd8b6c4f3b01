// The routes that read, as those of NNI's manager (nni_json.h). They are for NNI's own clients,
// which read whole lists: so lists are written trial by trial, not made as one object.
#include <fmt/format.h>

#include "manager/cli/commands/log_end.h"
#include "manager/control/schema.h"
#include "manager/dashboard/nni_json.h"
#include "manager/dashboard/stored_view.h"
#include "os/trust.h"

namespace attune::nni_reading {
namespace {

constexpr std::size_t kMostBytes = 256 << 20;  // of one list
constexpr std::int64_t kMostLog = 4 << 20;     // of the end of an output or a log
constexpr std::size_t kMostFile = 256 << 20;   // of a log that is read for its end
constexpr const char* kVersion = "3.0";        // of NNI: the newest whose forms these are

HttpResponse exactly(const json& value) {  // without the key `format`
  return HttpResponse::text(200, "application/json", dump_json(value));
}

HttpResponse plain_text(std::string text) {
  return HttpResponse::text(200, "text/plain; charset=utf-8", std::move(text));
}

// A JSON array, as text.
class List {
 public:
  void add(const std::optional<json>& element) {
    if (!element || !has_room()) return;
    if (text_.size() > 1) text_ += ',';
    text_ += dump_json(*element);
  }
  bool has_room() const { return text_.size() < kMostBytes; }
  ApiResult answer() {
    if (!has_room())
      return std::unexpected(ApiError(
          500, "the list is too long for NNI's clients; attune export writes it to a file"));
    return HttpResponse::text(200, "application/json", text_ + "]");
  }

 private:
  std::string text_ = "[";
};

ApiResult version(ApiCall&) { return plain_text(kVersion); }

ApiResult status(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  return exactly(nni_status(found.experiment, TRY(found.reader.tally(found.experiment))));
}

ApiResult profile(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const Tally tally = TRY(found.reader.tally(found.experiment));
  return exactly(nni_profile(found.experiment, tally, call.view.now()));
}

ApiResult metadata(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  return exactly(nni_entry(found.experiment, TRY(found.reader.tally(found.experiment))));
}

ApiResult all_metadata(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const json entry = nni_entry(found.experiment, TRY(found.reader.tally(found.experiment)));
  return exactly(json::array({entry}));
}

ApiResult statistics(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  return exactly(nni_statistics(TRY(found.reader.tally(found.experiment))));
}

// Of all trials, or of those whose status in NNI is `status`.
ApiResult trials(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const std::string status = call.query.value("status", "");
  List list;
  TRY(found.reader.trials(found.experiment, {}, [&](const TrialRecord& trial) {
    const json object = nni_trial(found.experiment, trial, call.view.now());
    if (status.empty() || object["status"] == status) list.add(object);
    return list.has_room();
  }));
  return list.answer();
}

ApiResult trial(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const auto trial = found.reader.trial(found.experiment, call.names[0]);
  if (!trial) return plain_text("");  // as NNI does
  return exactly(nni_trial(found.experiment, *trial, call.view.now()));
}

ApiResult results(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  TrialFilter filter;
  filter.statuses = {TrialStatus::succeeded};
  List list;
  TRY(found.reader.trials(found.experiment, filter, [&](const TrialRecord& trial) {
    list.add(nni_result(found.experiment, trial));
    return list.has_room();
  }));
  return list.answer();
}

Result<void> add_finals(List& list, const StoredView::Found& found) {
  return found.reader.trials(found.experiment, {}, [&](const TrialRecord& trial) {
    list.add(nni_final(found.experiment, trial));
    return list.has_room();
  });
}

// Of a trial: its intermediate results, then its final one.
Result<void> add_metrics(List& list, const StoredView::Found& found, const std::string& job_id,
                         const std::string& type) {
  const StoredTrial whole = TRY(found.reader.whole_trial(found.experiment, job_id));
  std::int64_t sequence = 0;
  for (const StoredReport& report : whole.reports) {
    if (type == "FINAL") break;
    const auto metric = nni_intermediate(found.experiment, job_id, report, sequence);
    if (metric) ++sequence;
    list.add(metric);
  }
  if (type != "PERIODICAL") list.add(nni_final(found.experiment, whole.trial));
  return {};
}

ApiResult metrics(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const std::string type = call.query.value("type", "");
  List list;
  if (type != "FINAL") {
    std::string current;
    std::int64_t sequence = 0;
    TRY(found.reader.intermediate_reports(
        found.experiment, [&](const std::string& job_id, const StoredReport& report) {
          if (!list.has_room()) return;
          if (job_id != current) sequence = 0;
          current = job_id;
          const auto metric = nni_intermediate(found.experiment, job_id, report, sequence);
          if (metric) ++sequence;
          list.add(metric);
        }));
  }
  if (type != "PERIODICAL") TRY(add_finals(list, found));
  return list.answer();
}

ApiResult trial_metrics(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  List list;
  const auto trial = found.reader.trial(found.experiment, call.names[0]);
  if (trial) TRY(add_metrics(list, found, trial->job_id, call.query.value("type", "")));
  return list.answer();
}

// Of the trials with these numbers, the last one included.
ApiResult range_metrics(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const auto first = parse_json(call.names[0]), last = parse_json(call.names[1]);
  if (!first || !last || !first->is_number_integer() || !last->is_number_integer())
    return std::unexpected(ApiError(500, "numbers of trials expected"));
  TrialFilter filter;
  filter.from = first->get<std::int64_t>();
  std::vector<std::string> names;
  TRY(found.reader.trials(found.experiment, filter, [&](const TrialRecord& trial) {
    if (trial.sequence > last->get<std::int64_t>()) return false;
    names.push_back(trial.job_id);
    return true;
  }));
  List list;
  for (const std::string& name : names) {
    if (!list.has_room()) break;
    TRY(add_metrics(list, found, name, ""));
  }
  return list.answer();
}

ApiResult latest_metrics(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  List list;
  TRY(found.reader.trials(found.experiment, {}, [&](const TrialRecord& trial) {
    list.add(nni_final(found.experiment, trial));
    list.add(nni_latest(found.experiment, trial, call.view.now()));
    return list.has_room();
  }));
  return list.answer();
}

ApiResult imported(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  json records = json::array();
  for (const ImportData::Record& record : TRY(found.reader.imports(found.experiment)))
    records.push_back({{"parameter", record.parameter}, {"value", record.value}});
  return exactly(records.empty() ? records : json::array({dump_json(records)}));
}

// NNI's page asks for trial.log, too, which here is what the trial has printed.
ApiResult trial_file(ApiCall& call) {
  const auto found = TRY(call.view.nni_experiment());
  const std::string& name = call.names[1];
  const bool known = name == "stdout" || name == "stderr" || name == "trial.log";
  const auto trial = found.reader.trial(found.experiment, call.names[0]);
  if (!known || !trial)
    return std::unexpected(ApiError(404, fmt::format("there is no file {}", name)));
  const std::string stream = name == "stderr" ? "stderr" : "stdout";
  const auto ending = trial_log_end(found.experiment, *trial, stream, kMostLog);
  if (!ending) return std::unexpected(ApiError(404, ending.error().message));
  return plain_text(ending->text.empty() ? name + " is empty." : ending->text);
}

// The end of a log of the experiment.
ApiResult log(ApiCall& call, const char* name) {
  const auto found = TRY(call.view.nni_experiment());
  const std::string file = (found.experiment.directory / "log" / name).string();
  std::string text = TRY(read_trusted_file(file, kMostFile));
  if (std::ssize(text) > kMostLog) text.erase(0, text.size() - static_cast<std::size_t>(kMostLog));
  return plain_text(std::move(text));
}
ApiResult manager_log(ApiCall& call) { return log(call, "runner.log"); }
ApiResult dispatcher_log(ApiCall& call) { return log(call, "dispatcher.log"); }

ApiResult nothing(ApiCall&) { return exactly(json::array()); }

Route reading(const std::string& path, ApiResult (*call)(ApiCall&), bool heavy = false) {
  return {.method = "GET",
          .path = path,
          .summary = "As NNI's manager",
          .heavy = heavy,
          .hidden = true,
          .call = call};
}

Route with_word(Route route, const char* name, const std::vector<std::string>& words) {
  route.query[name] = word_schema("Only these.", words);
  return route;
}

}  // namespace

std::vector<Route> routes() {
  const std::string base = "/api/v1/nni";
  const std::vector<std::string> types = {"PERIODICAL", "FINAL"};
  const std::vector<std::string> statuses = {"UNKNOWN",      "WAITING",      "RUNNING",
                                             "SUCCEEDED",    "FAILED",       "USER_CANCELED",
                                             "SYS_CANCELED", "EARLY_STOPPED"};
  return {
      reading(base + "/version", version),
      reading(base + "/check-status", status),
      reading(base + "/experiment", profile),
      reading(base + "/experiment-metadata", metadata),
      reading(base + "/experiments-info", all_metadata),
      reading(base + "/experiment/imported-data", imported),
      reading(base + "/job-statistics", statistics),
      with_word(reading(base + "/trial-jobs", trials, true), "status", statuses),
      reading(base + "/trial-jobs/{trial}", trial),
      reading(base + "/export-data", results, true),
      with_word(reading(base + "/metric-data", metrics, true), "type", types),
      with_word(reading(base + "/metric-data/{trial}", trial_metrics, true), "type", types),
      reading(base + "/metric-data-range/{first}/{last}", range_metrics, true),
      reading(base + "/metric-data-latest", latest_metrics, true),
      reading(base + "/trial-file/{trial}/{file}", trial_file),
      reading(base + "/tensorboard-tasks", nothing),
      reading("/logs/nnimanager.log", manager_log),
      reading("/logs/dispatcher.log", dispatcher_log),
  };
}

}  // namespace attune::nni_reading
