#include "manager/dashboard/trial_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/objective_json.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/dashboard/column_packing.h"
#include "manager/dashboard/shown_runs.h"
#include "manager/store/stored_values.h"

namespace attune {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint16_t kNoWorker = std::numeric_limits<std::uint16_t>::max();
constexpr float kRest = 0.05F;  // seconds; what passes in between otherwise is less

json searched_of(const StoredExperiment& experiment) {
  return experiment.file.is_object() ? experiment.file.value("searchSpace", json()) : json();
}

// Whether a float cannot tell the values of a domain apart: large integers, and sets of candidates,
// of which each is a bit. Multiples of a step get a digit more, which shows when they are written.
bool needs_double(const Domain& domain) {
  constexpr double kFloat = 1 << 24, kFloatDigits = 1 << 20;
  if (const auto* range = std::get_if<IntRange>(&domain))
    return std::max(std::abs(static_cast<double>(range->low)),
                    std::abs(static_cast<double>(range->high))) > kFloat;
  if (const auto* real = std::get_if<Uniform>(&domain); real && real->q)
    return std::max(std::abs(real->low), std::abs(real->high)) > kFloatDigits * *real->q;
  return std::holds_alternative<Subset>(domain);
}

}  // namespace

TrialColumns::TrialColumns(const StoredExperiment& experiment, Space space, std::string epoch)
    : experiment_(experiment.number),
      started_(experiment.started),
      objectives_(experiment.objectives),
      space_(std::move(space)),
      searched_(searched_of(experiment)),
      epoch_(std::move(epoch)) {
  for (const Objective& objective : objectives_) metrics_.push_back({objective.metric, {}});
  for (const Param& param : space_.params)
    parameters_.push_back({.is_wide = needs_double(param.domain)});
}

bool TrialColumns::fits(const StoredExperiment& experiment) const {
  return !failed_ && experiment.number == experiment_ && experiment.started == started_ &&
         to_json(experiment.objectives) == to_json(objectives_) &&
         searched_of(experiment) == searched_;
}

Result<bool> TrialColumns::update(StoreReader& reader, const StoredExperiment& experiment,
                                  std::size_t most) {
  bool more = false;
  TRY(reader.consistently([&]() -> Result<void> {
    TRY(update_unfinished(reader, experiment));
    failed_ = true;
    more = TRY(add_new(reader, experiment, most));
    failed_ = false;
    return {};
  }));
  return more;
}

bool TrialColumns::is_as(std::size_t row, const TrialMark& mark) const {
  return status_[row] == static_cast<std::uint8_t>(mark.status) &&
         reports_[row] == static_cast<std::uint32_t>(mark.reports) &&
         attempts_[row] == mark.attempts &&
         (mark.started == 0 ? std::isnan(began_[row]) : began_[row] == since_start(mark.started));
}

// Thousands of trials may be paused, so the rows of those that have not changed are not read. All
// is read before anything is set: after an error the next update begins where this one did.
Result<void> TrialColumns::update_unfinished(StoreReader& reader,
                                             const StoredExperiment& experiment) {
  if (unfinished_.empty()) return {};
  std::vector<std::int64_t> all, changed, ran;
  for (const std::size_t row : unfinished_) all.push_back(trial_[row]);
  std::set<std::size_t> waiting;
  TRY(reader.marks(experiment, all, [&](const TrialMark& mark) {
    const std::size_t row = row_of(mark.trial).value();
    if (mark.waits) waiting.insert(row);
    const bool same = is_as(row, mark);
    if (!same) changed.push_back(mark.trial);
    // One that runs may have got a place meanwhile.
    if (!same || mark.status == TrialStatus::running) ran.push_back(mark.trial);
  }));
  TrialFilter filter;
  filter.numbers = changed;
  std::vector<TrialRecord> records;
  if (!changed.empty()) records = TRY(reader.trials(experiment, filter));
  filter.numbers = std::move(ran);
  std::vector<TrialRun> runs;
  if (!filter.numbers->empty())
    TRY(reader.runs(experiment, filter, [&](const TrialRun& run) {
      runs.push_back(run);
      return true;
    }));
  const std::uint32_t before = changes_;
  waiting_ = std::move(waiting);
  std::erase_if(unfinished_, [&](std::size_t row) {
    return std::ranges::binary_search(changed, std::int64_t{trial_[row]});
  });
  for (const TrialRecord& record : records) {
    const std::size_t row = row_of(record.sequence).value();
    --counts_[status_[row]];
    set_parameters(row, record);  // a paused trial may go on with another configuration
    set(row, record);
  }
  set_runs(runs, before);
  return {};
}

Result<bool> TrialColumns::add_new(StoreReader& reader, const StoredExperiment& experiment,
                                   std::size_t most) {
  TrialFilter filter;
  filter.from = trial_.empty() ? 0 : trial_.back() + std::int64_t{1};
  filter.limit = static_cast<std::int64_t>(most) + 1;
  const std::uint32_t before = changes_;
  std::size_t read = 0;
  bool more = false;
  TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
    more = read++ == most;
    if (!more) add(trial);
    return !more;
  }));
  if (trial_.empty() || trial_.back() < filter.from) return more;
  std::vector<TrialRun> runs;
  TRY(reader.runs(experiment, filter, [&](const TrialRun& run) {
    const bool known = run.trial <= trial_.back();
    if (known) runs.push_back(run);
    return known;
  }));
  set_runs(runs, before);
  return more;
}

Tally TrialColumns::tally() const {
  const auto count = [&](TrialStatus status) { return counts_[static_cast<std::size_t>(status)]; };
  Tally tally;
  tally.pending = count(TrialStatus::pending);
  tally.running = count(TrialStatus::running);
  tally.waiting = std::ssize(waiting_);
  tally.paused = count(TrialStatus::paused);
  tally.succeeded = count(TrialStatus::succeeded);
  tally.failed = count(TrialStatus::failed);
  tally.early_stopped = count(TrialStatus::early_stopped);
  tally.user_canceled = count(TrialStatus::user_canceled);
  return tally;
}

std::size_t TrialColumns::bytes() const {
  constexpr std::size_t kFixed = 44;  // of the columns that each experiment has
  constexpr std::size_t kRuns = 120;  // of the runs of a trial that has several
  std::size_t row = kFixed + metrics_.size() * sizeof(double);
  for (const Parameter& parameter : parameters_)
    row += parameter.is_wide ? sizeof(double) : sizeof(float);
  return trial_.capacity() * row + runs_.size() * kRuns;
}

void TrialColumns::add(const TrialRecord& trial) {
  trial_.push_back(static_cast<std::uint32_t>(trial.sequence));
  change_.push_back(0);
  reports_.push_back(0);
  status_.push_back(0);
  attempts_.push_back(0);
  source_.push_back(static_cast<std::uint8_t>(trial.source));
  worker_.push_back(kNoWorker);
  began_.push_back(kNone);
  ended_.push_back(kNone);
  violation_.push_back(kNone);
  last_.push_back(kNoNumber);
  for (Metric& metric : metrics_) metric.values.push_back(kNoNumber);
  for (Parameter& parameter : parameters_) {
    if (parameter.is_wide) parameter.wide.push_back(kNoNumber);
    if (!parameter.is_wide) parameter.narrow.push_back(kNone);
  }
  const std::size_t row = trial_.size() - 1;
  set_parameters(row, trial);
  set(row, trial);
}

float TrialColumns::since_start(double time) const {
  return time == 0 ? kNone : static_cast<float>(time - started_);
}

void TrialColumns::set(std::size_t row, const TrialRecord& trial) {
  if (!has_ended(trial.status)) unfinished_.push_back(row);
  const auto status = static_cast<std::uint8_t>(trial.status);
  ++counts_[status];
  change_[row] = ++changes_;
  status_[row] = status;
  reports_[row] = static_cast<std::uint32_t>(trial.reports);
  attempts_[row] = trial.attempts;
  began_[row] = since_start(trial.start_time);
  ended_[row] = since_start(trial.end_time);
  last_[row] = number_of(trial.last_metric, objectives_.front().metric).value_or(kNoNumber);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    metrics_[i].values[row] =
        reported_value(trial.final_metric, metrics_[i].name, i == 0).value_or(kNoNumber);
  }
  auto standing = standing_of(trial.final_metric, objectives_);
  violation_[row] = standing ? static_cast<float>(standing->violation) : kNone;
  if (trial.status == TrialStatus::running && !trial.reason.empty()) waiting_.insert(row);
  if (trial.status == TrialStatus::succeeded && standing)
    leaders_.offer(trial.sequence, *std::move(standing));
}

void TrialColumns::set_parameters(std::size_t row, const TrialRecord& trial) {
  const std::vector<double> values =
      known_values(space_, without_budget(space_, trial.proposed.parameters));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    if (parameter.is_wide) parameter.wide[row] = values[i];
    if (!parameter.is_wide) parameter.narrow[row] = static_cast<float>(values[i]);
  }
}

std::optional<std::size_t> TrialColumns::row_of(std::int64_t trial) const {
  const auto found = std::ranges::lower_bound(
      trial_, trial, {}, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
  if (found == trial_.end() || *found != trial) return std::nullopt;
  return static_cast<std::size_t>(found - trial_.begin());
}

void TrialColumns::set_runs(std::span<const TrialRun> runs, std::uint32_t before) {
  while (!runs.empty()) {
    const std::int64_t trial = runs.front().trial;
    const auto other =
        std::ranges::find_if(runs, [&](const TrialRun& run) { return run.trial != trial; });
    const auto count = static_cast<std::size_t>(other - runs.begin());
    if (const auto row = row_of(trial)) set_runs_of(*row, runs.first(count), before);
    runs = runs.subspan(count);
  }
}

void TrialColumns::set_runs_of(std::size_t row, std::span<const TrialRun> runs,
                               std::uint32_t before) {
  const auto status = static_cast<TrialStatus>(status_[row]);
  std::uint16_t worker = kNoWorker;
  std::vector<Run> found;
  for (const ShownRun& run : shown_runs(status, 0, runs)) {
    const std::string place = place_text(run.worker, run.gpus);
    const std::uint16_t here = place.empty() ? kNoWorker : index_of_place(place);
    if (here != kNoWorker) worker = here;
    found.push_back({since_start(run.began), since_start(run.ended), here, run.status});
  }
  const bool over = has_ended(status);
  if (over && !runs.back().ended) found.back().ended = ended_[row];
  // A trial that was paused may end without running again.
  const bool rested =
      over ? ended_[row] - found.back().ended > kRest : runs.back().ended.has_value();
  if (runs.size() == 1 && !rested) found.clear();  // the columns tell all
  const auto known = runs_.find(row);
  const bool same =
      known == runs_.end() ? found.empty() : std::ranges::equal(known->second, found, &Run::is_as);
  if (same && worker_[row] == worker) return;
  worker_[row] = worker;
  if (found.empty()) {
    runs_.erase(row);
  } else {
    runs_[row] = std::move(found);
  }
  if (change_[row] <= before) change_[row] = ++changes_;
}

bool TrialColumns::Run::is_as(const Run& other) const {
  const bool same_end = ended == other.ended || (std::isnan(ended) && std::isnan(other.ended));
  return same_end && began == other.began && worker == other.worker && status == other.status;
}

TrialColumns::RunColumns TrialColumns::runs_of(std::span<const std::size_t> rows) const {
  RunColumns columns;
  if (runs_.empty()) return columns;
  for (const std::size_t row : rows) {
    const auto found = runs_.find(row);
    if (found == runs_.end()) continue;
    for (const Run& run : found->second) {
      columns.trial.push_back(trial_[row]);
      columns.began.push_back(run.began);
      columns.ended.push_back(run.ended);
      columns.worker.push_back(run.worker);
      columns.status.push_back(static_cast<std::uint8_t>(run.status));
    }
  }
  return columns;
}

std::uint16_t TrialColumns::index_of_place(const std::string& place) {
  const auto known = place_indices_.find(place);
  if (known != place_indices_.end()) return known->second;
  if (workers_.size() >= kNoWorker) return kNoWorker;
  const auto index = static_cast<std::uint16_t>(workers_.size());
  workers_.push_back(place);
  place_indices_.emplace(place, index);
  return index;
}

std::string TrialColumns::cursor() const { return fmt::format("{}.{}", epoch_, changes_); }

std::vector<std::size_t> TrialColumns::changed_since(std::uint32_t number, std::size_t limit,
                                                     bool& more) const {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < change_.size(); ++row)
    if (change_[row] > number) rows.push_back(row);
  const auto by_change = [&](std::size_t a, std::size_t b) { return change_[a] < change_[b]; };
  more = rows.size() > limit;
  if (more) {
    std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(limit), by_change);
    rows.resize(limit);
  }
  std::ranges::sort(rows, by_change);
  return rows;
}

std::string TrialColumns::changes(const std::string& cursor, std::size_t limit, bool more_in_store,
                                  std::int64_t total) const {
  std::uint32_t number = 0;
  const bool ours = cursor.starts_with(epoch_ + ".");
  if (ours) {
    const char* begin = cursor.data() + epoch_.size() + 1;
    std::from_chars(begin, cursor.data() + cursor.size(), number);
  }
  bool more = false;
  const std::vector<std::size_t> rows = changed_since(number, limit, more);
  const std::uint32_t next = rows.empty() ? std::min(number, changes_) : change_[rows.back()];
  ColumnPacking packing;
  json columns = json::array();
  const auto add = [&](const std::string& name, const char* type, const auto& column) {
    columns.push_back(packing.add(name, type, column, rows));
  };
  add("trial", "u32", trial_);
  add("status", "u8", status_);
  add("source", "u8", source_);
  add("reports", "u32", reports_);
  add("started", "f32", began_);
  add("ended", "f32", ended_);
  add("worker", "u16", worker_);
  add("last", "f64", last_);
  add("violation", "f32", violation_);
  for (const Metric& metric : metrics_) add("m:" + metric.name, "f64", metric.values);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::string name = "p:" + space_.params[i].path;
    if (parameters_[i].is_wide) add(name, "f64", parameters_[i].wide);
    if (!parameters_[i].is_wide) add(name, "f32", parameters_[i].narrow);
  }
  const RunColumns ran = runs_of(rows);
  std::vector<std::size_t> all(ran.trial.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const json runs = {
      {"rows", all.size()},
      {"columns",
       {packing.add("trial", "u32", ran.trial, all), packing.add("started", "f32", ran.began, all),
        packing.add("ended", "f32", ran.ended, all), packing.add("worker", "u16", ran.worker, all),
        packing.add("status", "u8", ran.status, all)}}};
  return packing.text({{"format", 1},
                       {"rows", rows.size()},
                       {"next", fmt::format("{}.{}", epoch_, next)},
                       {"more", more || more_in_store},
                       {"reset", !cursor.empty() && !ours},
                       {"total", total},
                       {"started", started_},
                       {"workers", workers_},
                       {"columns", columns},
                       {"runs", runs}});
}

}  // namespace attune
