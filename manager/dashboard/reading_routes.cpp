// The routes that read the store and the folders of trials, as the commands list, status, trials,
// show, logs and config do.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/names.h"
#include "manager/cli/commands/log_end.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/control/schema.h"
#include "manager/dashboard/experiment_facts.h"
#include "manager/dashboard/stored_view.h"
#include "manager/store/stored_values.h"
#include "os/atomic_file.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUsual = 100, kMost = 1'000, kMostTrials = 1'000'000'000;
constexpr std::int64_t kMostReports = 2'000;  // of one trial in one answer
constexpr std::int64_t kUsualLog = 64 << 10, kMostLog = 1 << 20;
constexpr std::size_t kMostFiles = 1'000;
constexpr std::size_t kMostFileBytes = 64 << 20;

ApiResult openapi(ApiCall& call) {
  return HttpResponse::text(200, "application/json",
                            dump_json(openapi_document(call.view.routes())));
}

ApiResult experiments(ApiCall& call) { return json_answer(call.view.experiments()); }

ApiResult experiment(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  json object = TRY(call.view.state(found));
  object["file"] = found.experiment.file;
  object["space"] = space_json(found.experiment);
  return json_answer(object);
}

ApiResult events(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  json list = json::array();
  for (const StoredEvent& event :
       TRY(found.reader.events(found.experiment, call.query.value("newest", kUsual))))
    list.push_back({{"time", event.time}, {"kind", event.kind}, {"text", event.text}});
  return json_answer({{"events", list}});
}

ApiResult trials(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const std::int64_t offset = call.query.value("offset", std::int64_t{0});
  const std::int64_t limit = call.query.value("limit", kUsual);
  TrialFilter filter;
  filter.limit = offset + limit + 1;
  const std::string status = call.query.value("status", "");
  for (const TrialStatus each : kTrialStatuses)
    if (status == status_word(each)) filter.statuses.push_back(each);
  const std::string sort = call.query.value("sort", "sequence");
  if (sort == "newest") filter.order = TrialFilter::Order::newest;
  if (sort == "best") filter.order = TrialFilter::Order::best;
  json list = json::array();
  std::int64_t seen = 0;
  TRY(found.reader.trials(found.experiment, filter, [&](const TrialRecord& trial) {
    ++seen;
    if (seen > offset && seen <= offset + limit)
      list.push_back(trial_json(trial, found.experiment.objectives));
    return seen <= offset + limit;
  }));
  const bool more = seen > offset + limit;
  return json_answer({{"trials", list}, {"next_offset", more ? json(offset + limit) : json()}});
}

// Error: 404.
std::expected<TrialRecord, ApiError> trial_of(const StoredView::Found& found,
                                              const std::string& name) {
  auto trial = found.reader.trial(found.experiment, name);
  if (!trial) return std::unexpected(ApiError(404, trial.error().message));
  return *std::move(trial);
}

ApiResult trial(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const TrialRecord record = TRY(trial_of(found, call.names[1]));
  StoredTrial whole = TRY(found.reader.whole_trial(found.experiment, record.job_id, kMostReports));
  std::vector<TrialRecord> alone = {std::move(whole.trial)};
  call.view.fill_reasons(found.experiment, alone);
  whole.trial = std::move(alone.front());
  json object = whole_trial_json(whole, found.experiment.objectives);
  object["left_out_reports"] = whole.reports.empty() ? 0 : whole.reports.front().report;
  return json_answer(object);
}

// Only trusted users can put something else where the folders of the trials are. Error: 403.
std::expected<void, ApiError> check_folder(const StoredView::Found& found) {
  const auto trusted = check_trusted(found.experiment.directory);
  if (!trusted) return std::unexpected(ApiError(403, trusted.error().message));
  return {};
}

ApiResult log(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const TrialRecord record = TRY(trial_of(found, call.names[1]));
  TRY(check_folder(found));
  const std::string stream = call.query.value("stream", "stdout");
  const auto ending =
      trial_log_end(found.experiment, record, stream, call.query.value("bytes", kUsualLog));
  if (!ending) return std::unexpected(ApiError(404, ending.error().message));
  return json_answer(
      {{"stream", stream}, {"text", ending->text}, {"left_out_bytes", ending->left_out}});
}

std::expected<fs::path, ApiError> folder_of(const StoredView::Found& found,
                                            const std::string& name) {
  const TrialRecord record = TRY(trial_of(found, name));
  TRY(check_name("the trial", record.job_id));  // a damaged store may hold any path
  TRY(check_folder(found));
  return found.experiment.directory / "trials" / record.job_id;
}

ApiResult files(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const fs::path folder = TRY(folder_of(found, call.names[1]));
  json list = json::array();
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    struct stat status = {};
    const bool plain = ::lstat(each->path().c_str(), &status) == 0 && S_ISREG(status.st_mode);
    const std::string name = each->path().filename().string();
    if (plain && is_utf8(name) && list.size() < kMostFiles)
      list.push_back({{"name", name},
                      {"bytes", status.st_size},
                      {"modified", static_cast<double>(status.st_mtim.tv_sec)}});
  }
  std::sort(list.begin(), list.end(),
            [](const json& a, const json& b) { return a["name"] < b["name"]; });
  return json_answer({{"files", list}});
}

// The segments of a path hold no slash and are not "..", and no link is followed: so the file lies
// in the trial's folder.
ApiResult file(ApiCall& call) {
  const auto found = TRY(call.view.find(call.names[0]));
  const fs::path path = TRY(folder_of(found, call.names[1])) / call.names[2];
  const auto opened = open_private(path, O_RDONLY | O_NOFOLLOW);
  if (!opened || !check_owner(opened->get(), path.string()))
    return std::unexpected(ApiError(404, fmt::format("the trial has no file {}", call.names[2])));
  struct stat status = {};
  if (::fstat(opened->get(), &status) != 0 || status.st_size > static_cast<off_t>(kMostFileBytes))
    return std::unexpected(ApiError(413, path.string() + " is too large to send; copy it"));
  std::string data(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t have = 0;
  while (have < data.size()) {
    const ssize_t count =
        ::pread(opened->get(), data.data() + have, data.size() - have, static_cast<off_t>(have));
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  data.resize(have);
  HttpResponse response = HttpResponse::text(200, "application/octet-stream", std::move(data));
  response.headers.emplace_back("Content-Disposition", "attachment");
  return response;
}

json status_schema() {
  std::vector<std::string> words;
  for (const TrialStatus status : kTrialStatuses) words.push_back(status_word(status));
  return word_schema("Only trials in this state.", words);
}

json offset_schema() {
  return with_default(
      integer_schema("Skip so many: next_offset of the answer before.", 0, kMostTrials), 0);
}

json limit_schema() { return with_default(integer_schema("At most so many.", 1, kMost), kUsual); }

}  // namespace

std::vector<Route> reading_routes() {
  return {
      {.method = "GET",
       .path = "/api/v1/openapi.json",
       .summary = "This document",
       .call = openapi},
      {.method = "GET",
       .path = "/api/v1/experiments",
       .summary = "All experiments, and the stores that cannot be read",
       .call = experiments},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}",
       .summary = "The state of an experiment, its file and its search space",
       .call = experiment},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/events",
       .summary = "The newest events of an experiment, the oldest of them first",
       .query = {{"newest", limit_schema()}},
       .call = events},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/trials",
       .summary = "Trials, page by page",
       .query = {{"status", status_schema()},
                 {"sort", with_default(word_schema("Order: of submission, newest first, best "
                                                   "first.",
                                                   {"sequence", "newest", "best"}),
                                       "sequence")},
                 {"limit", limit_schema()},
                 {"offset", offset_schema()}},
       .heavy = true,
       .call = trials},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/trials/{trial}",
       .summary = "Everything about one trial (its job id or number)",
       .call = trial},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/trials/{trial}/log",
       .summary = "The end of what a trial has printed",
       .query = {{"stream",
                  with_default(word_schema("Which output.", {"stdout", "stderr"}), "stdout")},
                 {"bytes",
                  with_default(integer_schema("At most so many bytes.", 1, kMostLog), kUsualLog)}},
       .call = log},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/trials/{trial}/files",
       .summary = "The files in the folder of a trial",
       .call = files},
      {.method = "GET",
       .path = "/api/v1/experiments/{experiment}/trials/{trial}/files/{file}",
       .summary = "One file of a trial",
       .answer = "application/octet-stream",
       .call = file},
  };
}

}  // namespace attune
