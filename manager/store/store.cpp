#include "manager/store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <unordered_map>
#include <utility>

#include "manager/store/lost_store.h"
#include "manager/store/schema.h"
#include "manager/store/store_statements.h"
#include "manager/store/stored_values.h"
#include "manager/store/transaction.h"
#include "os/private_file.h"
#include "protocol/codec.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

std::optional<double> time_or_null(double time) {
  return time == 0 ? std::nullopt : std::optional(time);
}

}  // namespace

struct Store::State {
  // A cache of what the store needs of a trial to write the next row about it.
  struct Known {
    std::int64_t trial = 0;
    std::int64_t next_report = 0;
    std::string status;
    int attempt = 0;  // the newest
  };
  fs::path working_directory;
  BusyWait busy;
  SideFiles side_files;
  Database database;
  StoreStatements sql;
  Transaction transaction;
  std::int64_t experiment = 0;
  fs::path directory = {};  // of the experiment
  std::string objective = {};
  std::optional<double> seen = {};                    // `ran` of the last seen() that was written
  std::unordered_map<std::string, Known> known = {};  // trials that have not ended, by job id
  std::vector<std::string> ended = {};  // trials that the next commit removes from `known`

  std::optional<Outbox::Counts> counts = {};
  std::string manager = "{}";
  bool conversation_changed = false;
  std::function<void()> on_commit = {};
  std::function<Result<void>()> keep_folder = {};
  bool folder_due = false;
  bool rewritten = false;

  Result<void> change_row(SqlStatement& statement, std::initializer_list<SqlValue> values) {
    return transaction.change(statement, values);
  }

  Result<void> commit() {
    if (conversation_changed && counts) {
      conversation_changed = false;
      TRY(change_row(sql.set_conversation, {experiment, counts->commands, counts->acknowledged,
                                            counts->answers, manager}));
    }
    TRY(find_again());
    if (!TRY(transaction.commit())) return {};
    // A commit becomes visible when SQLite changes the index in shared memory, which is after its
    // write to the log. Whoever watches the folder and reads at that write would miss the commit.
    // So the file is touched now.
    std::error_code ignored;
    fs::last_write_time(working_directory / kStoreFile, fs::file_time_type::clock::now(), ignored);
    for (const std::string& job_id : std::exchange(ended, {})) known.erase(job_id);
    if (on_commit) on_commit();
    return {};
  }

  // If the open file has lost its name, writes it anew in its place. While that fails, the changes
  // stay in memory, as with a full disk.
  Result<void> find_again() {
    if (experiment == 0) return {};
    if (!database.has_moved()) return look_after_folder();
    if (transaction.is_patient()) transaction.set_aside();
    if (transaction.is_open())  // no patience: the open changes cannot be written into another file
      return fail(fmt::format("{} was deleted, moved or replaced",
                              (working_directory / kStoreFile).string()));
    if (auto done = write_anew(); !done)
      return fail(fmt::format("{} was deleted, moved or replaced, and cannot be written anew: {}",
                              (working_directory / kStoreFile).string(), done.error().message));
    rewritten = true;
    return {};
  }

  // The experiment's folder may be deleted while the file stays. In it is the lock, by which others
  // know that a manager runs.
  Result<void> look_after_folder() {
    if (!folder_due || !keep_folder) return {};
    auto made = make_folder();
    if (!made && transaction.is_patient()) transaction.set_aside();
    folder_due = !made;
    return made;
  }

  Result<void> make_folder() {
    TRY(make_directories(directory));
    link_database(working_directory, directory);
    return keep_folder ? keep_folder() : Result<void>();
  }

  // In this order, so that after an error the old database stays in use, and the next commit()
  // tries again.
  Result<void> write_anew() {
    const fs::path file = working_directory / kStoreFile;
    side_files.remove(file);
    Database anew = TRY(open_for_writing(working_directory, schema_steps(), busy));
    TRY(copy_experiments(database, file, experiment));
    StoreStatements statements = TRY(StoreStatements::prepare(anew));
    TRY(make_folder());
    TRY(transaction.go_on_in(anew));
    sql = std::move(statements);  // by value: changes in memory point to the members of `sql`
    database = std::move(anew);
    side_files = SideFiles::of(file);
    return {};
  }

  // Finds a trial by its job id: in `known`, else in the file, such as a trial that has ended.
  Result<Known> look_up(const std::string& job_id) {
    if (const auto found = known.find(job_id); found != known.end()) return found->second;
    std::optional<Known> trial;
    TRY(sql.find.query({experiment, job_id}, [&](const SqlRow& row) {
      trial =
          Known{row.integer(0), row.integer(1), row.text(2), static_cast<int>(row.integer(3)) - 1};
      return false;
    }));
    if (!trial) return fail(fmt::format("the store knows no trial {}", job_id));
    if (const auto status = trial_status_of(trial->status); status && !has_ended(*status))
      known.emplace(job_id, *trial);
    return *trial;
  }

  // Calls `body` with the trial, and keeps its changes in `known`.
  Result<void> with(const std::string& job_id, const std::function<Result<void>(Known&)>& body) {
    Known trial = TRY(look_up(job_id));
    TRY(body(trial));
    if (const auto found = known.find(job_id); found != known.end()) found->second = trial;
    return {};
  }

  Result<void> save_parameters(std::int64_t trial, std::int64_t index, std::int64_t attempt,
                               const ProposedTrial& proposed) {
    return change_row(sql.save_parameters,
                      {experiment, trial, index, attempt, dump_json(to_json(proposed.parameter_id)),
                       dump_json(proposed.parameters), proposed.text, proposed.resume_job,
                       proposed.checkpoint_from});
  }
};

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& working_directory, BusyWait busy) {
  Database database = TRY(open_for_writing(working_directory, schema_steps(), busy));
  auto sql = TRY(StoreStatements::prepare(database));
  Transaction transaction = TRY(Transaction::on(database));
  const SideFiles side_files = SideFiles::of(working_directory / kStoreFile);
  // Absolute, so that a later chdir() of this process does not matter.
  return Store(
      std::make_unique<State>(State{fs::absolute(working_directory), busy, side_files,
                                    std::move(database), std::move(sql), std::move(transaction)}));
}

Result<void> Store::begin(const NewExperiment& experiment, double time) {
  auto insert = TRY(state_->database.prepare(
      "INSERT INTO experiments (id, name, directory, status, objective, maximize, seed, file, "
      "manager_pid, manager_started_at, started_at) "
      "VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?8, ?9, ?9)"));
  TRY(state_->change_row(insert, {experiment.id, experiment.name, experiment.directory.string(),
                                  experiment.objective, experiment.maximize, experiment.seed,
                                  dump_json(experiment.file), std::int64_t{::getpid()}, time}));
  state_->experiment = state_->database.last_row();
  state_->objective = experiment.objective;
  state_->directory = experiment.directory;
  TRY(add_imports(experiment.imports, time));
  TRY(commit());
  link_database(state_->working_directory, experiment.directory);
  return {};
}

Result<void> Store::resume(const std::string& id, double time, const Resumption& with) {
  auto find = TRY(state_->database.prepare(
      "SELECT experiment, objective, directory FROM experiments WHERE id = ?"));
  state_->experiment = 0;
  TRY(find.query({id}, [&](const SqlRow& row) {
    state_->experiment = row.integer(0);
    state_->objective = row.text(1);
    state_->directory = row.text(2);
    return false;
  }));
  auto manager =
      TRY(state_->database.prepare("SELECT manager FROM conversations WHERE experiment = ?"));
  TRY(manager.query({state_->experiment}, [&](const SqlRow& row) {
    state_->manager = row.text(0);  // until the first set_state()
    return false;
  }));
  if (state_->experiment == 0)
    return fail(fmt::format("{}: no experiment {}; attune list shows those that there are",
                            (state_->working_directory / kStoreFile).string(), id));
  auto update = TRY(state_->database.prepare(
      "UPDATE experiments SET status = 'running', reason = '', ended_at = NULL, runs = runs + 1, "
      "seconds = seconds + ran, ran = 0, seen_at = NULL, "
      "manager_pid = ?2, manager_started_at = ?3 WHERE experiment = ?1"));
  TRY(state_->change_row(update, {state_->experiment, std::int64_t{::getpid()}, time}));
  if (!with.file.is_null()) TRY(update_file(with.file));
  TRY(add_imports(with.imports, time));
  for (const auto& [number, command] : with.commands) TRY(add_command(number, command));
  if (!with.commands.empty()) {
    set_counts(with.counts);
    set_state(with.state);
  }
  return commit();
}

Result<void> Store::set_reason(const std::string& reason) {
  return state_->change_row(state_->sql.set_reason, {state_->experiment, reason});
}

Result<void> Store::update_file(const json& file) {
  return state_->change_row(state_->sql.update_file, {state_->experiment, dump_json(file)});
}

Result<void> Store::end(const ExperimentEnd& outcome, double time, double ran) {
  // Drops what is not committed, so that at least the end of the experiment may be written.
  state_->transaction.give_up();
  state_->conversation_changed = false;
  TRY(state_->find_again());
  auto update = TRY(state_->database.prepare(
      "UPDATE experiments SET status = ?2, reason = ?3, ended_at = ?4, seen_at = ?4, ran = ?5 "
      "WHERE experiment = ?1"));
  const std::string status = outcome.kind == ExperimentEnd::Kind::completed     ? "completed"
                             : outcome.kind == ExperimentEnd::Kind::interrupted ? "interrupted"
                                                                                : "failed";
  TRY(state_->change_row(update, {state_->experiment, status, outcome.reason, time, ran}));
  return commit();
}

Result<void> Store::add_trial(const TrialRecord& trial, double time) {
  const std::string status(to_text(trial.status));
  const std::string last = metric_column(trial.last_metric);
  const std::string final = metric_column(trial.final_metric);
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? SqlValue(nullptr) : SqlValue(text);
  };
  TRY(state_->change_row(
      state_->sql.add_trial,
      {state_->experiment, trial.sequence, trial.job_id, std::string(to_text(trial.source)), status,
       trial.reason, trial.attempts, trial.failures, trial.reports, trial.score(state_->objective),
       text_or_null(last), text_or_null(final), trial.checkpoint, time,
       time_or_null(trial.start_time), time_or_null(trial.end_time)}));
  if (!has_ended(trial.status))
    state_->known.emplace(trial.job_id, State::Known{trial.sequence, 0, status, -1});
  return state_->save_parameters(trial.sequence, 0, 0, trial.proposed);
}

Result<void> Store::change_trial(const TrialRecord& trial) {
  TRY(state_->with(trial.job_id, [&](State::Known& known) -> Result<void> {
    TRY(state_->change_row(
        state_->sql.change,
        {state_->experiment, trial.sequence, trial.reason, trial.attempts, trial.failures,
         trial.reports, metric_column(trial.last_metric), metric_column(trial.final_metric),
         trial.checkpoint, time_or_null(trial.start_time), time_or_null(trial.end_time)}));
    std::string status(to_text(trial.status));
    if (status == known.status) return {};
    TRY(state_->change_row(state_->sql.change_status, {state_->experiment, trial.sequence, status,
                                                       trial.score(state_->objective)}));
    known.status = std::move(status);
    // The decider may have resumed a paused trial with another configuration.
    if (trial.status == TrialStatus::running || has_ended(trial.status)) return {};
    return state_->save_parameters(trial.sequence, 0, trial.attempts, trial.proposed);
  }));
  // It stays in `known` until the next commit: the changes may not be in the file yet, so that
  // look_up() would read old values there.
  if (has_ended(trial.status)) state_->ended.push_back(trial.job_id);
  return {};
}

Result<void> Store::add_attempt(const TrialRecord& trial, const std::string& from_checkpoint,
                                double time) {
  return state_->with(trial.job_id, [&](State::Known& known) -> Result<void> {
    known.attempt = trial.attempts - 1;
    TRY(state_->save_parameters(trial.sequence, 0, known.attempt, trial.proposed));
    return state_->change_row(state_->sql.add_attempt, {state_->experiment, trial.sequence,
                                                        known.attempt, from_checkpoint, time});
  });
}

Result<void> Store::set_place(const TrialRecord& trial, const TrialPlace& place, double since) {
  return state_->change_row(state_->sql.set_place,
                            {state_->experiment, trial.sequence, trial.attempts - 1, place.worker,
                             place.host, since, place.gpus});
}

Result<void> Store::end_attempt(const TrialRecord& trial, const TrialFinished& end) {
  return state_->change_row(
      state_->sql.end_attempt,
      {state_->experiment, trial.sequence, trial.attempts - 1, end.time,
       std::string(to_text(end.how)), end.detail, end.cpu_seconds, end.max_rss, end.ran});
}

Result<void> Store::add_parameter(const TrialRecord& trial, std::int64_t index,
                                  const ProposedTrial& proposal) {
  return state_->save_parameters(trial.sequence, index, trial.attempts - 1, proposal);
}

Result<void> Store::add_report(const TrialRecord& trial, const TrialReport& report,
                               const ReportVerdict& verdict) {
  return state_->with(trial.job_id, [&](State::Known& known) {
    return state_->change_row(state_->sql.add_report,
                              {state_->experiment, trial.sequence, known.next_report++,
                               trial.attempts - 1, std::string(to_text(report.metric.type)),
                               report.metric.sequence, report.time, report.position, report.late,
                               verdict.why, number_of(report.metric.value, state_->objective),
                               report.text, report.ran, verdict.counts});
  });
}

Result<void> Store::add_decision(const DecisionRecord& decision, double time) {
  const State::Known trial = TRY(state_->look_up(decision.job_id));
  return state_->change_row(
      state_->sql.add_decision,
      {state_->experiment, trial.trial, time, decision.action, decision.by, decision.reason,
       trial.attempt, decision.ends ? std::string(to_text(*decision.ends)) : ""});
}

Result<void> Store::add_checkpoint(const CheckpointStored& saved, double time) {
  const State::Known trial = TRY(state_->look_up(saved.job_id));
  const std::string state = saved.error.empty() ? "kept" : "failed";
  TRY(state_->change_row(state_->sql.add_checkpoint,
                         {state_->experiment, saved.checkpoint, trial.trial, trial.attempt, state,
                          saved.bytes, saved.error, time, saved.reports}));
  if (!saved.error.empty()) return {};
  // Here, because the runner does not call change_trial() for a trial that has ended.
  return state_->change_row(state_->sql.set_checkpoint,
                            {state_->experiment, trial.trial, saved.checkpoint});
}

Result<void> Store::drop_checkpoint(const std::string& checkpoint, double time) {
  return state_->change_row(state_->sql.drop_checkpoint, {state_->experiment, checkpoint, time});
}

Result<void> Store::add_imports(const std::vector<ImportData::Record>& records, double time) {
  for (const ImportData::Record& record : records) {
    TRY(state_->change_row(state_->sql.add_import,
                           {state_->experiment, time, record.trial_job_id,
                            metric_column(record.parameter), metric_column(record.value)}));
  }
  return {};
}

Result<void> Store::add_event(const RunnerEvent& event, double time) {
  return state_->change_row(
      state_->sql.add_event,
      {state_->experiment, time, std::string(to_text(event.kind)), event.text, event.job_id});
}

Result<void> Store::seen(double time, double ran) {
  if (state_->experiment == 0 || (state_->seen && ran - *state_->seen < kSeenSeconds)) return {};
  state_->seen = ran;
  state_->folder_due = true;
  return state_->change_row(state_->sql.seen, {state_->experiment, time, ran});
}

Result<void> Store::add_command(std::uint64_t number, const Frame& command) {
  return state_->change_row(state_->sql.add_command,
                            {state_->experiment, number, command.code, command.payload});
}

Result<void> Store::drop_commands(std::uint64_t first, std::uint64_t last) {
  return state_->change_row(state_->sql.drop_commands, {state_->experiment, first, last});
}

void Store::set_counts(const Outbox::Counts& counts) {
  state_->counts = counts;
  state_->conversation_changed = true;
}

void Store::set_state(const RunnerState& state) {
  state_->manager = state_column(state);
  state_->conversation_changed = true;
}

Result<void> Store::forget_conversation() {
  state_->counts.reset();
  TRY(state_->change_row(state_->sql.forget_commands, {state_->experiment}));
  return state_->change_row(state_->sql.forget_conversation, {state_->experiment});
}

void Store::on_commit(std::function<void()> committed) { state_->on_commit = std::move(committed); }
void Store::keep_folder(std::function<Result<void>()> keep) {
  state_->keep_folder = std::move(keep);
}
bool Store::was_rewritten() { return std::exchange(state_->rewritten, false); }

Result<void> Store::commit() { return state_->commit(); }
void Store::be_patient(BusyWait busy) {
  state_->transaction.be_patient();
  state_->busy = busy;
  state_->database.wait(std::move(busy));
}
bool Store::stalled() const { return state_->transaction.stalled(); }

}  // namespace attune
