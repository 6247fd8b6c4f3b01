// StoreReader: trials one by one, and what of them has changed.
#include <fmt/format.h>

#include <algorithm>

#include "manager/store/store_reader_state.h"
#include "manager/store/stored_rows.h"
#include "manager/store/stored_values.h"

namespace attune {

Result<void> StoreReader::trials(const StoredExperiment& experiment, const TrialFilter& filter,
                                 const std::function<bool(const TrialRecord&)>& each) {
  const bool best = filter.order == TrialFilter::Order::best;
  if (best && experiment.objectives.size() > 1) return ranked(experiment, filter, each);
  std::string order = best ? fmt::format("ORDER BY t.score {} NULLS LAST, t.trial",
                                         experiment.objective().maximize ? "DESC" : "ASC")
                           : "ORDER BY t.trial";
  if (filter.order == TrialFilter::Order::newest) order += " DESC";
  std::string wanted = status_condition(filter.statuses) + "AND t.trial >= ?3 ";
  if (filter.every > 1) wanted += fmt::format("AND t.trial % {} = 0 ", filter.every);
  if (filter.numbers) wanted += "AND t.trial IN (SELECT value FROM json_each(?4)) ";
  // Few of many trials are in most states: their numbers come from the index, and only their rows
  // are read. Without that SQLite reads all rows, since these lie in the right order.
  const bool few =
      !filter.statuses.empty() && !best &&
      (filter.limit || std::ranges::count(filter.statuses, TrialStatus::succeeded) == 0);
  const std::string sql =
      few ? trial_query() + fmt::format(
                                "AND t.trial IN (SELECT t.trial FROM trials AS t INDEXED BY "
                                "trials_by_status WHERE t.experiment = ?1 {}{} LIMIT ?2) {}",
                                wanted, order, order)
          : trial_query() + wanted + order + " LIMIT ?2";
  auto statement = TRY(state_->database.prepare(sql));
  const std::string numbers = filter.numbers ? dump_json(*filter.numbers) : "";
  const auto row = [&](const SqlRow& found) { return each(trial_of(found)); };
  const std::int64_t limit = filter.limit.value_or(-1);
  if (filter.numbers) return statement.query({experiment.number, limit, filter.from, numbers}, row);
  return statement.query({experiment.number, limit, filter.from}, row);
}

Result<std::vector<TrialRecord>> StoreReader::trials(const StoredExperiment& experiment,
                                                     const TrialFilter& filter) {
  std::vector<TrialRecord> found;
  TRY(trials(experiment, filter, [&](const TrialRecord& trial) {
    found.push_back(trial);
    return true;
  }));
  return found;
}

Result<TrialRecord> StoreReader::trial(const StoredExperiment& experiment,
                                       const std::string& name) {
  const bool digits = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  auto found = TRY(state_->all(
      trial_query() + (digits ? "AND t.trial = CAST(?2 AS INTEGER)" : "AND t.job_id = ?2"),
      {experiment.number, name}, trial_of));
  if (!found.empty()) return std::move(found.front());
  return fail(fmt::format("experiment {} has no trial '{}'; attune trials lists them",
                          experiment.id, name));
}

Result<void> StoreReader::marks(const StoredExperiment& experiment,
                                const std::vector<std::int64_t>& trials,
                                const std::function<void(const TrialMark&)>& each) {
  auto statement = TRY(state_->database.prepare(
      "SELECT trial, status, reports, attempts, started_at, status = 'RUNNING' AND reason <> '' "
      "FROM trials WHERE experiment = ?1 AND trial IN (SELECT value FROM json_each(?2)) ORDER BY "
      "trial"));
  return statement.query({experiment.number, dump_json(trials)}, [&](const SqlRow& row) {
    each({row.integer(0), trial_status_of(row.text(1)).value_or(TrialStatus::failed),
          row.integer(2), static_cast<int>(row.integer(3)), row.real(4), row.integer(5) != 0});
    return true;
  });
}

Result<void> StoreReader::runs(const StoredExperiment& experiment, const TrialFilter& filter,
                               const std::function<bool(const TrialRun&)>& each) {
  auto statement = TRY(state_->database.prepare(
      std::string("SELECT trial, started_at, ended_at, ending, worker, gpus FROM attempts WHERE "
                  "experiment = ?1 AND trial >= ?2 ") +
      (filter.numbers ? "AND trial IN (SELECT value FROM json_each(?3)) " : "") +
      "ORDER BY trial, attempt"));
  const auto row = [&](const SqlRow& found) {
    return each({found.integer(0), found.real(1), found.maybe_real(2), ending_of(found.text(3)),
                 found.text(4), found.text(5)});
  };
  if (!filter.numbers) return statement.query({experiment.number, filter.from}, row);
  return statement.query({experiment.number, filter.from, dump_json(*filter.numbers)}, row);
}

}  // namespace attune
