#include "manager/store/store_reader_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "manager/store/schema.h"
#include "manager/store/stored_rows.h"
#include "manager/store/stored_values.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::vector<StoredExperiment>& experiments) {
  std::string text;
  for (const StoredExperiment& experiment : experiments)
    text += (text.empty() ? "" : ", ") + experiment.id +
            (experiment.name.empty() ? "" : " (" + experiment.name + ")");
  return text;
}

}  // namespace

std::string_view to_text(ExperimentStatus status) {
  switch (status) {
    case ExperimentStatus::running:
      return "running";
    case ExperimentStatus::completed:
      return "completed";
    case ExperimentStatus::interrupted:
      return "interrupted";
    case ExperimentStatus::failed:
      return "failed";
    case ExperimentStatus::killed:
      return "killed";
  }
  return "";
}

StoreReader::StoreReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreReader::StoreReader(StoreReader&&) noexcept = default;
StoreReader& StoreReader::operator=(StoreReader&&) noexcept = default;
StoreReader::~StoreReader() = default;

Result<StoreReader> StoreReader::open(const fs::path& folder) {
  std::error_code error;
  const fs::path file = fs::canonical(folder / kStoreFile, error);
  std::error_code ignored;
  if (error &&
      (fs::exists(folder / "trials", ignored) || fs::is_symlink(folder / kStoreFile, ignored)))
    return fail(
        fmt::format("{} holds trials, but {}, which knew what they are, is gone; put it back, or "
                    "begin anew in another folder: attune run --dir",
                    folder.string(), (folder / kStoreFile).string()));
  if (error)
    return fail(
        fmt::format("no experiments in {}: attune run makes some, --dir names another "
                    "working directory",
                    folder.string()));
  // The folder of an experiment holds a link (Store::begin).
  const bool linked = fs::is_symlink(folder / kStoreFile, error);
  Database database = TRY(open_for_reading(file.parent_path(), schema_steps()));
  return StoreReader(std::make_unique<State>(
      State{fs::canonical(folder, error), file, linked, std::move(database)}));
}

fs::path StoreReader::working_directory() const { return state_->file.parent_path(); }
bool StoreReader::has_moved() const { return state_->database.has_moved(); }

Result<std::vector<StoredExperiment>> StoreReader::experiments() {
  const std::string sql =
      fmt::format("SELECT {} FROM experiments ORDER BY experiment DESC", kExperimentColumns);
  std::vector<StoredExperiment> all = TRY(state_->all(sql, {}, experiment_of));
  const auto is_killed = [](const StoredExperiment& each) {
    return each.status == ExperimentStatus::killed;
  };
  if (std::ranges::none_of(all, is_killed)) return all;
  // The row said running, and then nobody held the lock: the manager may have ended in order
  // between the two. In that case the row, read once more, says how.
  const auto number = [](const StoredExperiment& each) { return each.number; };
  for (StoredExperiment& again : TRY(state_->all(sql, {}, experiment_of))) {
    const auto found = std::ranges::find(all, again.number, number);
    if (found != all.end() && is_killed(*found)) *found = std::move(again);
  }
  return all;
}

Result<StoredExperiment> StoreReader::find(const std::string& id_or_name) {
  std::vector<StoredExperiment> all = TRY(experiments());
  if (all.empty()) return fail(fmt::format("no experiments in {} yet", state_->file.string()));
  if (id_or_name.empty()) {
    if (!state_->is_experiment) return std::move(all.front());
    std::error_code ignored;
    for (StoredExperiment& each : all) {
      if (fs::equivalent(each.directory, state_->folder, ignored)) return std::move(each);
    }
    // The rows of a copy name the folders of the original. Each folder has the id for its name.
    for (StoredExperiment& each : all) {
      if (each.id == state_->folder.filename().string()) return std::move(each);
    }
    return fail(fmt::format("{} is the folder of none of the experiments in {}: {}",
                            state_->folder.string(), state_->file.string(), listed(all)));
  }
  std::vector<StoredExperiment> found;
  for (StoredExperiment& each : all) {
    if (each.id == id_or_name) return std::move(each);
    if (each.id.starts_with(id_or_name)) found.push_back(each);
  }
  if (found.size() == 1) return std::move(found.front());
  for (StoredExperiment& each : all) {
    if (each.name == id_or_name) return std::move(each);
  }
  if (!found.empty())
    return fail(fmt::format("'{}' begins several ids: {}", id_or_name, listed(found)));
  return fail(fmt::format("no experiment '{}' in {}; there are: {}", id_or_name,
                          state_->file.string(), listed(all)));
}

Result<Tally> StoreReader::tally(const StoredExperiment& experiment) {
  Tally tally;
  // From the index alone; only of the few that run the rows are read.
  auto statement = TRY(state_->database.prepare(
      "SELECT status, count(*), iif(status = 'RUNNING', (SELECT count(*) FROM trials WHERE "
      "experiment = ?1 AND status = 'RUNNING' AND reason <> ''), 0) FROM trials WHERE "
      "experiment = ?1 GROUP BY status"));
  TRY(statement.query({experiment.number}, [&](const SqlRow& row) {
    const std::int64_t count = row.integer(1);
    switch (trial_status_of(row.text(0)).value_or(TrialStatus::failed)) {
      case TrialStatus::pending:
        tally.pending = count;
        break;
      case TrialStatus::running:
        tally.running = count;
        tally.waiting = row.integer(2);
        break;
      case TrialStatus::paused:
        tally.paused = count;
        break;
      case TrialStatus::succeeded:
        tally.succeeded = count;
        break;
      case TrialStatus::failed:
        tally.failed = count;
        break;
      case TrialStatus::early_stopped:
        tally.early_stopped = count;
        break;
      case TrialStatus::user_canceled:
        tally.user_canceled = count;
        break;
    }
    return true;
  }));
  return tally;
}

Result<void> StoreReader::intermediate_reports(
    const StoredExperiment& experiment,
    const std::function<void(const std::string&, const StoredReport&)>& each) {
  auto statement = TRY(state_->database.prepare(
      fmt::format("SELECT {}, (SELECT job_id FROM trials AS t WHERE t.experiment = r.experiment "
                  "AND t.trial = r.trial) FROM reports AS r WHERE experiment = ? AND type = "
                  "'periodical' ORDER BY trial, report",
                  kReportColumns)));
  constexpr int kJobId = 12;  // the column after those of a report
  return statement.query({experiment.number}, [&](const SqlRow& row) {
    each(row.text(kJobId), report_of(row));
    return true;
  });
}

Result<StoredTrial> StoreReader::whole_trial(const StoredExperiment& experiment,
                                             const std::string& name,
                                             std::optional<std::int64_t> reports) {
  StoredTrial found;
  TRY(consistently([&]() -> Result<void> {
    found.trial = TRY(trial(experiment, name));
    const std::int64_t number = found.trial.sequence;
    const auto rows = [&](const std::string& sql, const auto& make) {
      return state_->all(sql, {experiment.number, number}, make);
    };
    found.attempts = TRY(rows(
        fmt::format("SELECT {} FROM attempts WHERE experiment = ? AND trial = ? ORDER BY attempt",
                    kAttemptColumns),
        attempt_of));
    found.parameters = TRY(rows(fmt::format("SELECT {} FROM parameters WHERE experiment = ? AND "
                                            "trial = ? ORDER BY attempt, parameter_index",
                                            kParameterColumns),
                                parameter_of));
    found.reports =
        TRY(state_->all(fmt::format("SELECT {} FROM reports WHERE experiment = ? AND trial = ? "
                                    "ORDER BY report DESC LIMIT ?",
                                    kReportColumns),
                        {experiment.number, number, reports.value_or(-1)}, report_of));
    std::ranges::reverse(found.reports);
    found.decisions = TRY(rows(
        "SELECT time, action, decided_by, reason, attempt, ends FROM decisions WHERE experiment "
        "= ? AND trial = ? "
        "ORDER BY decision",
        [](const SqlRow& row) {
          StoredDecision decision{
              row.real(0), row.text(1), row.text(2), row.text(3), end_kind_of(row.text(5)), {}};
          if (!row.is_null(4)) decision.attempt = static_cast<int>(row.integer(4));
          return decision;
        }));
    found.checkpoints = TRY(rows(
        fmt::format("SELECT {} FROM checkpoints AS c JOIN trials AS t USING (experiment, trial) "
                    "WHERE experiment = ? AND trial = ? ORDER BY saved_at, c.checkpoint",
                    kCheckpointColumns),
        checkpoint_of));
    found.events = TRY(rows(
        "SELECT time, kind, text FROM events WHERE experiment = ? AND trial = ? ORDER BY event",
        [](const SqlRow& row) { return StoredEvent{row.real(0), row.text(1), row.text(2)}; }));
    return {};
  }));
  return found;
}

Result<void> StoreReader::consistently(const std::function<Result<void>()>& body) {
  if (state_->consistent) return body();
  TRY(state_->database.execute("BEGIN"));
  state_->consistent = true;
  // Also if `body` throws: an open transaction would show an old state for ever.
  const auto finish = [&] {
    state_->consistent = false;
    return state_->database.execute("COMMIT");
  };
  try {
    Result<void> result = body();
    TRY(finish());
    return result;
  } catch (...) {
    std::ignore = finish();
    throw;
  }
}

Result<std::vector<StoredEvent>> StoreReader::events(const StoredExperiment& experiment,
                                                     std::int64_t newest) {
  return state_->all(
      "SELECT time, kind, text FROM (SELECT * FROM events WHERE experiment = ? "
      "ORDER BY event DESC LIMIT ?) ORDER BY event",
      {experiment.number, newest},
      [](const SqlRow& row) { return StoredEvent{row.real(0), row.text(1), row.text(2)}; });
}

Result<std::int64_t> StoreReader::next_sequence(const StoredExperiment& experiment) {
  const auto next =
      TRY(state_->all("SELECT coalesce(max(trial) + 1, 0) FROM trials WHERE experiment = ?",
                      {experiment.number}, [](const SqlRow& row) { return row.integer(0); }));
  return next.front();
}

Result<std::vector<UnfinishedTrial>> StoreReader::unfinished(const StoredExperiment& experiment) {
  TrialFilter filter;
  filter.statuses = {TrialStatus::pending, TrialStatus::running, TrialStatus::paused};
  std::vector<UnfinishedTrial> unfinished;
  for (TrialRecord& trial : TRY(trials(experiment, filter))) {
    UnfinishedTrial found;
    auto attempts = TRY(state_->all(fmt::format("SELECT {} FROM attempts WHERE experiment = ? AND "
                                                "trial = ? ORDER BY attempt DESC LIMIT 1",
                                                kAttemptColumns),
                                    {experiment.number, trial.sequence}, attempt_of));
    if (!attempts.empty()) found.attempt = std::move(attempts.front());
    const auto last = TRY(state_->all(fmt::format("SELECT {} FROM reports WHERE experiment = ? AND "
                                                  "trial = ? ORDER BY report DESC LIMIT 1",
                                                  kReportColumns),
                                      {experiment.number, trial.sequence}, report_of));
    if (!last.empty() && found.attempt && last.front().attempt == found.attempt->attempt)
      found.position = last.front().position;
    found.parameters = TRY(
        state_->all(fmt::format("SELECT {} FROM parameters WHERE experiment = ? AND trial = ? AND "
                                "parameter_index > 0 AND attempt = ? ORDER BY parameter_index",
                                kParameterColumns),
                    {experiment.number, trial.sequence, trial.attempts - 1}, parameter_of));
    found.trial = std::move(trial);
    unfinished.push_back(std::move(found));
  }
  return unfinished;
}

Result<std::vector<StoredCheckpoint>> StoreReader::kept_checkpoints(
    const StoredExperiment& experiment) {
  return state_->all(
      fmt::format("SELECT {} FROM checkpoints AS c JOIN trials AS t USING (experiment, trial) "
                  "WHERE experiment = ? AND state = 'kept' ORDER BY saved_at, c.checkpoint",
                  kCheckpointColumns),
      {experiment.number}, checkpoint_of);
}

Result<std::vector<ImportData::Record>> StoreReader::imports(const StoredExperiment& experiment) {
  return state_->all(
      "SELECT parameters, value, job_id FROM imports WHERE experiment = ? "
      "ORDER BY import",
      {experiment.number}, [](const SqlRow& row) {
        return ImportData::Record{json_of(row.text(0)), json_of(row.text(1)), row.text(2)};
      });
}

Result<std::optional<StoredConversation>> StoreReader::conversation(
    const StoredExperiment& experiment) {
  using Number = std::uint64_t;
  std::optional<StoredConversation> found;
  std::string manager;
  auto counts = TRY(state_->database.prepare(
      "SELECT commands, acknowledged, answers, manager FROM conversations WHERE experiment = ?"));
  TRY(counts.query({experiment.number}, [&](const SqlRow& row) {
    found.emplace();
    found->outbox.counts = {static_cast<Number>(row.integer(0)),
                            static_cast<Number>(row.integer(1)),
                            static_cast<Number>(row.integer(2))};
    manager = row.text(3);
    return false;
  }));
  if (!found) return found;
  const auto damaged = [&](const std::string& what) {
    return fail(fmt::format("{}: the conversation of experiment {} is damaged: {}",
                            state_->file.string(), experiment.id, what));
  };
  auto state = runner_state_of(manager);
  if (!state) return damaged(state.error().message);
  found->manager = *std::move(state);
  found->outbox.commands = TRY(state_->all(
      "SELECT number, code, payload FROM outbox WHERE experiment = ? ORDER BY number",
      {experiment.number}, [](const SqlRow& row) {
        return std::pair(static_cast<Number>(row.integer(0)), Frame{row.text(1), row.text(2)});
      }));
  Number next = found->outbox.counts.acknowledged;
  for (const auto& [number, command] : found->outbox.commands) {
    if (number != ++next) return damaged(fmt::format("command {} is missing", next));
  }
  if (next != found->outbox.counts.commands)
    return damaged(fmt::format("{} commands were said, and command {} is missing",
                               found->outbox.counts.commands, next + 1));
  return found;
}

}  // namespace attune
