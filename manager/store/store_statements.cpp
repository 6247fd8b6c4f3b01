#include "manager/store/store_statements.h"

#include <optional>
#include <string>
#include <utility>

namespace attune {
namespace {

// Writes a configuration only if it differs from the newest one of the trial; `attempt` is thus the
// first attempt that runs with it.
constexpr const char* kSaveParameters =
    "INSERT OR REPLACE INTO parameters SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ?7 IS NOT "
    "(SELECT text FROM parameters WHERE experiment = ?1 AND trial = ?2 AND parameter_index = ?3 "
    "ORDER BY attempt DESC LIMIT 1)";

}  // namespace

Result<StoreStatements> StoreStatements::prepare(Database& database) {
  std::optional<Error> failure;
  const auto make = [&](const std::string& text) {
    auto statement = database.prepare(text);
    if (!statement && !failure) failure = statement.error();
    return statement ? *std::move(statement) : SqlStatement();
  };
  StoreStatements sql{
      .find = make("SELECT trial, (SELECT coalesce(max(report) + 1, 0) FROM reports AS r WHERE "
                   "r.experiment = t.experiment AND r.trial = t.trial), status, attempts "
                   "FROM trials AS t WHERE experiment = ? AND job_id = ?"),
      .add_trial =
          make("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      // Without status and score: this statement runs for every report, and they are in indexes.
      .change =
          make("UPDATE trials SET reason = ?3, attempts = ?4, failures = ?5, reports = ?6, "
               "last_metric = nullif(?7, ''), final_metric = nullif(?8, ''), checkpoint = ?9, "
               "started_at = ?10, ended_at = ?11 WHERE experiment = ?1 AND trial = ?2"),
      .change_status =
          make("UPDATE trials SET status = ?3, score = ?4 WHERE experiment = ?1 AND trial = ?2"),
      .save_parameters = make(kSaveParameters),
      .add_attempt =
          // REPLACE: a manager may have been killed before the attempt that it wrote had started.
      make("INSERT OR REPLACE INTO attempts (experiment, trial, attempt, from_checkpoint, "
           "started_at) VALUES (?, ?, ?, ?, ?)"),
      .set_place =
          // A restarted coordinator does not know the hosts of all workers: a known host stays.
      make("UPDATE attempts SET worker = ?4, host = iif(?5 = '' AND worker = ?4, host, ?5), "
           "started_at = max(started_at, ?6), gpus = ?7 "
           "WHERE experiment = ?1 AND trial = ?2 AND attempt = ?3"),
      .end_attempt =
          make("UPDATE attempts SET ended_at = ?4, ending = ?5, detail = ?6, cpu_seconds = ?7, "
               "max_rss = ?8, ran = ?9 WHERE experiment = ?1 AND trial = ?2 AND attempt = ?3"),
      .add_report = make("INSERT INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      .add_decision = make(
          "INSERT INTO decisions (experiment, trial, time, action, decided_by, reason, attempt, "
          "ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
      .add_checkpoint =
          make("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"),
      .set_checkpoint =
          make("UPDATE trials SET checkpoint = ?3 WHERE experiment = ?1 AND trial = ?2"),
      .seen = make("UPDATE experiments SET seen_at = ?2, ran = ?3 WHERE experiment = ?1"),
      .drop_checkpoint = make("UPDATE checkpoints SET state = 'dropped', dropped_at = ?3 "
                              "WHERE experiment = ?1 AND checkpoint = ?2"),
      .add_import = make("INSERT INTO imports (experiment, time, job_id, parameters, value) "
                         "VALUES (?, ?, ?, ?, ?)"),
      .add_event =
          make("INSERT INTO events (experiment, time, kind, text, trial) VALUES (?1, ?2, ?3, ?4, "
               "(SELECT trial FROM trials WHERE experiment = ?1 AND job_id = ?5))"),
      .set_reason = make("UPDATE experiments SET reason = ?2 WHERE experiment = ?1"),
      .update_file = make("UPDATE experiments SET file = ?2 WHERE experiment = ?1"),
      .add_command = make("INSERT INTO outbox VALUES (?, ?, ?, ?)"),
      .drop_commands = make("DELETE FROM outbox WHERE experiment = ? AND number BETWEEN ? AND ?"),
      .set_conversation = make("INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?)"),
      .forget_commands = make("DELETE FROM outbox WHERE experiment = ?"),
      .forget_conversation = make("DELETE FROM conversations WHERE experiment = ?"),
  };
  if (failure) return std::unexpected(*std::move(failure));
  return sql;
}

}  // namespace attune
