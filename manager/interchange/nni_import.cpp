#include "manager/interchange/nni_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "manager/store/sqlite.h"

namespace attune {
namespace {

// Keys of NNI's configuration that mean the same in an experiment file.
constexpr std::array kKept = {"experimentName",   "trialCommand",   "trialCodeDirectory",
                              "trialConcurrency", "maxTrialNumber", "maxExperimentDuration",
                              "maxTrialDuration", "trialGpuNumber", "tuner",
                              "assessor",         "advisor"};
// Keys that only concern NNI itself.
constexpr std::array kOfNni = {"experimentType",  "experimentWorkingDirectory",
                               "logLevel",        "debug",
                               "useAnnotation",   "nniManagerIp",
                               "tunerGpuIndices", "searchSpaceFile"};

// A text that is JSON, or the text itself: NNI writes JSON inside of JSON.
json unwrapped(json value) {
  while (value.is_string()) {
    auto inner = parse_json(value.get<std::string>());
    if (!inner) break;
    value = *std::move(inner);
  }
  return value;
}

struct NniTrial {
  std::string id;
  std::string status;  // the newest event
  std::optional<double> started, ended;
  json parameters, parameter_id;
  std::map<std::int64_t, json> reports;
  json result;            // null: none
  bool has_more = false;  // further configurations of a multi-phase trial
};

class NniReader {
 public:
  explicit NniReader(Database database) : database_(std::move(database)) {}

  Result<AdoptedExperiment> read();

 private:
  Result<void> read_profile();
  Result<void> read_events();
  Result<void> read_metrics();
  void add_event(const std::string& id, const std::string& event, double time, const json& data);
  void add_imported(const json& data);
  json row_of(const NniTrial& trial) const;

  Database database_;
  AdoptedExperiment adopted_;
  std::vector<NniTrial> trials_;
  std::map<std::string, std::size_t> by_id_;
  std::vector<json> imported_;
};

Result<void> NniReader::read_profile() {
  auto statement = TRY(
      database_.prepare("SELECT params, id FROM ExperimentProfile ORDER BY revision DESC LIMIT 1"));
  json profile;
  TRY(statement.query({}, [&](const SqlRow& row) {
    profile = unwrapped(row.text(0));
    adopted_.name = row.text(1);
    return false;
  }));
  if (!profile.is_object()) return fail("it holds no experiment");
  json& file = adopted_.file = json::object();
  const json space = unwrapped(profile.value("searchSpace", json()));
  if (!space.is_object()) return fail("its experiment has no search space");
  for (const auto& [key, value] : profile.items()) {
    const auto is = [&key](const char* known) { return key == known; };
    if (key == "searchSpace" || value.is_null() || std::ranges::any_of(kOfNni, is)) continue;
    if (key == "trainingService" && value.is_object() && value.value("platform", json()) == "local")
      continue;
    if (std::ranges::none_of(kKept, is)) {
      adopted_.losses.add(fmt::format("{} is left out of the experiment file", key));
    } else {
      file[key] = value;
    }
  }
  file["searchSpace"] = space;
  return {};
}

void NniReader::add_event(const std::string& id, const std::string& event, double time,
                          const json& data) {
  const auto [at, is_new] = by_id_.try_emplace(id, trials_.size());
  if (is_new) trials_.emplace_back().id = id;
  NniTrial& trial = trials_[at->second];
  // The first configuration counts; later events repeat it, or are of a multi-phase trial.
  if (data.is_object() && data.value("parameters", json()).is_object()) {
    if (trial.parameters.is_null()) {
      trial.parameters = data["parameters"];
      trial.parameter_id = data.value("parameter_id", json());
    } else if (data["parameters"] != trial.parameters) {
      trial.has_more = true;
    }
  }
  if (event == "ADD_HYPERPARAMETER") return;
  trial.status = event;
  if (event == "RUNNING" || (event == "WAITING" && !trial.started)) trial.started = time;
  const bool ends = event == "SUCCEEDED" || event == "FAILED" || event == "EARLY_STOPPED" ||
                    event.ends_with("_CANCELED");
  if (ends) trial.ended = time;
}

void NniReader::add_imported(const json& data) {
  for (const json& each : data.is_array() ? data : json::array({data})) {
    if (!each.is_object() || !each.value("parameter", json()).is_object()) continue;
    imported_.push_back({{"trial_job_id", fmt::format("nni-imported-{}", imported_.size())},
                         {"status", "imported"},
                         {"parameters", each["parameter"]},
                         {"value", unwrapped(each.value("value", json()))}});
  }
}

Result<void> NniReader::read_events() {
  auto statement = TRY(database_.prepare(
      "SELECT trialJobId, event, timestamp, data FROM TrialJobEvent ORDER BY rowid"));
  return statement.query({}, [&](const SqlRow& row) {
    const std::string id = row.text(0), event = row.text(1);
    const json data = unwrapped(row.text(3));
    if (event == "IMPORT_DATA") {
      add_imported(data);
    } else if (!id.empty()) {
      add_event(id, event, row.real(2) / 1000, data);  // milliseconds
    }
    return true;
  });
}

Result<void> NniReader::read_metrics() {
  auto statement = TRY(database_.prepare(
      "SELECT trialJobId, parameterId, type, sequence, data FROM MetricData ORDER BY rowid"));
  return statement.query({}, [&](const SqlRow& row) {
    const auto found = by_id_.find(row.text(0));
    if (found == by_id_.end()) return true;
    NniTrial& trial = trials_[found->second];
    const json value = unwrapped(row.text(4));
    if (row.text(2) == "PERIODICAL") {
      trial.reports[row.integer(3)] = value;
    } else if (row.text(2) == "FINAL") {
      const bool of_another = trial.has_more && unwrapped(row.text(1)) != trial.parameter_id;
      if (!of_another) trial.result = value;
    }
    return true;
  });
}

json NniReader::row_of(const NniTrial& trial) const {
  const std::map<std::string, const char*> words = {{"SUCCEEDED", "succeeded"},
                                                    {"FAILED", "failed"},
                                                    {"EARLY_STOPPED", "early_stopped"},
                                                    {"USER_CANCELED", "user_canceled"},
                                                    {"SYS_CANCELED", "user_canceled"},
                                                    {"USER_TO_CANCEL", "user_canceled"},
                                                    {"RUNNING", "running"}};
  const auto word = words.find(trial.status);
  json row = {{"trial_job_id", trial.id},
              {"status", word == words.end() ? "pending" : word->second}};
  if (trial.started) row["started"] = *trial.started;
  if (trial.ended) row["ended"] = *trial.ended;
  row["parameters"] = trial.parameters;
  if (trial.status == "SUCCEEDED" && !trial.result.is_null()) row["value"] = trial.result;
  json curve = json::object();
  for (const auto& [step, value] : trial.reports)
    curve.get_ref<json::object_t&>().emplace_back(std::to_string(step), value);
  if (!curve.empty()) row["reports"] = std::move(curve);
  return row;
}

Result<AdoptedExperiment> NniReader::read() {
  TRY(read_profile());
  TRY(read_events());
  TRY(read_metrics());
  adopted_.rows = std::move(imported_);
  std::size_t silent = 0;
  for (const NniTrial& trial : trials_) {
    if (!trial.parameters.is_object()) continue;  // never got a configuration
    if (trial.has_more)
      adopted_.losses.add(
          "of trials with several configurations (multi-phase) only the first is known");
    adopted_.rows.push_back(row_of(trial));
    if (!adopted_.rows.back().contains("value")) ++silent;
  }
  if (silent > 0)
    adopted_.losses.add(fmt::format("{} trials have no result for the tuner", silent));
  return std::move(adopted_);
}

}  // namespace

Result<AdoptedExperiment> adopt_nni(const std::filesystem::path& file) {
  auto adopted = NniReader(TRY(Database::open(file, Database::Mode::read))).read();
  if (!adopted) return fail(fmt::format("{}: {}", file.string(), adopted.error().message));
  return adopted;
}

}  // namespace attune
