#include "manager/dashboard/trial_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/objective_json.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/store/stored_values.h"

namespace attune {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint16_t kNoWorker = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kPad = 8;  // columns begin at multiples of it, as typed arrays need

json searched_of(const StoredExperiment& experiment) {
  return experiment.file.is_object() ? experiment.file.value("searchSpace", json()) : json();
}

// Collects columns behind a header that says where each is.
class Packing {
 public:
  template <class T>
  void add(const std::string& name, const char* type, const std::vector<T>& column,
           std::span<const std::size_t> rows) {
    columns_.push_back({{"name", name}, {"type", type}, {"offset", body_.size()}});
    const std::size_t begin = body_.size();
    body_.resize(begin + rows.size() * sizeof(T));
    char* out = body_.data() + begin;
    for (const std::size_t row : rows) {
      std::memcpy(out, &column[row], sizeof(T));
      out += sizeof(T);
    }
    body_.resize((body_.size() + kPad - 1) / kPad * kPad);
  }

  std::string text(json header) {
    header["columns"] = columns_;
    std::string head = dump_json(header);
    head.append((kPad - (head.size() + 4) % kPad) % kPad, ' ');
    const auto size = static_cast<std::uint32_t>(head.size());
    std::string whole(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) whole[i] = static_cast<char>(size >> (8 * i) & 0xff);
    return whole + head + body_;
  }

 private:
  json columns_ = json::array();
  std::string body_;
};

}  // namespace

std::string place_text(const std::string& worker, const std::string& gpus) {
  if (gpus.empty()) return worker;
  return (worker.empty() ? "gpu " : worker + " gpu ") + gpus;
}

TrialColumns::TrialColumns(const StoredExperiment& experiment, Space space, std::string epoch)
    : experiment_(experiment.number),
      started_(experiment.started),
      objectives_(experiment.objectives),
      space_(std::move(space)),
      searched_(searched_of(experiment)),
      epoch_(std::move(epoch)),
      parameters_(space_.params.size()) {
  for (const Objective& objective : objectives_) metrics_.push_back({objective.metric, {}});
}

bool TrialColumns::fits(const StoredExperiment& experiment) const {
  return experiment.number == experiment_ && experiment.started == started_ &&
         to_json(experiment.objectives) == to_json(objectives_) &&
         searched_of(experiment) == searched_;
}

Result<bool> TrialColumns::update(StoreReader& reader, const StoredExperiment& experiment,
                                  std::size_t most) {
  bool more = false;
  const std::uint32_t before = changes_;
  TRY(reader.consistently([&]() -> Result<void> {
    for (const std::size_t row : std::exchange(unfinished_, {})) {
      set(row, TRY(reader.trial(experiment, std::to_string(trial_[row]))));
      TRY(read_places(reader, experiment, trial_[row], trial_[row], before));
    }
    TrialFilter filter;
    filter.from = trial_.empty() ? 0 : trial_.back() + std::int64_t{1};
    filter.limit = static_cast<std::int64_t>(most) + 1;
    std::size_t read = 0;
    TRY(reader.trials(experiment, filter, [&](const TrialRecord& trial) {
      more = read++ == most;
      if (!more) add(trial);
      return !more;
    }));
    return trial_.empty() ? Result<void>()
                          : read_places(reader, experiment, filter.from, trial_.back(), before);
  }));
  return more;
}

Tally TrialColumns::tally() const {
  const auto count = [&](TrialStatus status) { return counts_[static_cast<std::size_t>(status)]; };
  Tally tally;
  tally.pending = count(TrialStatus::pending);
  tally.running = count(TrialStatus::running);
  tally.paused = count(TrialStatus::paused);
  tally.succeeded = count(TrialStatus::succeeded);
  tally.failed = count(TrialStatus::failed);
  tally.early_stopped = count(TrialStatus::early_stopped);
  tally.user_canceled = count(TrialStatus::user_canceled);
  return tally;
}

std::size_t TrialColumns::bytes() const {
  constexpr std::size_t kFixed = 40;  // of the columns that each experiment has
  return trial_.capacity() *
         (kFixed + metrics_.size() * sizeof(double) + parameters_.size() * sizeof(float));
}

void TrialColumns::add(const TrialRecord& trial) {
  trial_.push_back(static_cast<std::uint32_t>(trial.sequence));
  change_.push_back(0);
  reports_.push_back(0);
  status_.push_back(0);
  source_.push_back(static_cast<std::uint8_t>(trial.source));
  worker_.push_back(kNoWorker);
  began_.push_back(kNone);
  ended_.push_back(kNone);
  violation_.push_back(kNone);
  last_.push_back(kNoNumber);
  for (Metric& metric : metrics_) metric.values.push_back(kNoNumber);
  for (auto& column : parameters_) column.push_back(kNone);
  const std::size_t row = trial_.size() - 1;
  set_parameters(row, trial);
  set(row, trial);
}

void TrialColumns::set(std::size_t row, const TrialRecord& trial) {
  const auto since = [&](double time) {
    return time == 0 ? kNone : static_cast<float>(time - started_);
  };
  const bool ended = has_ended(trial.status);
  if (!ended) unfinished_.push_back(row);
  const auto status = static_cast<std::uint8_t>(trial.status);
  const auto reports = static_cast<std::uint32_t>(trial.reports);
  const bool same = change_[row] != 0 && status_[row] == status && reports_[row] == reports &&
                    !ended && (trial.start_time == 0) == std::isnan(began_[row]);
  if (same) return;
  // A paused trial may go on with another configuration.
  if (change_[row] != 0) {
    set_parameters(row, trial);
    --counts_[status_[row]];
  }
  ++counts_[status];
  change_[row] = ++changes_;
  status_[row] = status;
  reports_[row] = reports;
  began_[row] = since(trial.start_time);
  ended_[row] = since(trial.end_time);
  last_[row] = number_of(trial.last_metric, objectives_.front().metric).value_or(kNoNumber);
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    metrics_[i].values[row] =
        reported_value(trial.final_metric, metrics_[i].name, i == 0).value_or(kNoNumber);
  }
  const auto standing = standing_of(trial.final_metric, objectives_);
  violation_[row] = standing ? static_cast<float>(standing->violation) : kNone;
}

void TrialColumns::set_parameters(std::size_t row, const TrialRecord& trial) {
  const auto point = point_from_json(space_, without_budget(space_, trial.proposed.parameters));
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i][row] = point ? static_cast<float>(point->values[i]) : kNone;
}

std::optional<std::size_t> TrialColumns::row_of(std::int64_t trial) const {
  const auto found = std::ranges::lower_bound(
      trial_, trial, {}, [](std::uint32_t number) { return static_cast<std::int64_t>(number); });
  if (found == trial_.end() || *found != trial) return std::nullopt;
  return static_cast<std::size_t>(found - trial_.begin());
}

Result<void> TrialColumns::read_places(StoreReader& reader, const StoredExperiment& experiment,
                                       std::int64_t from, std::int64_t to, std::uint32_t before) {
  return reader.places(experiment, from, to,
                       [&](std::int64_t trial, const std::string& worker, const std::string& gpus) {
                         const std::uint16_t index = index_of_place(place_text(worker, gpus));
                         const auto row = row_of(trial);
                         if (!row || worker_[*row] == index) return;
                         worker_[*row] = index;
                         if (change_[*row] <= before) change_[*row] = ++changes_;
                       });
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
  Packing packing;
  packing.add("trial", "u32", trial_, rows);
  packing.add("status", "u8", status_, rows);
  packing.add("source", "u8", source_, rows);
  packing.add("reports", "u32", reports_, rows);
  packing.add("started", "f32", began_, rows);
  packing.add("ended", "f32", ended_, rows);
  packing.add("worker", "u16", worker_, rows);
  packing.add("last", "f64", last_, rows);
  packing.add("violation", "f32", violation_, rows);
  for (const Metric& metric : metrics_) packing.add("m:" + metric.name, "f64", metric.values, rows);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    packing.add("p:" + space_.params[i].path, "f32", parameters_[i], rows);
  return packing.text({{"format", 1},
                       {"rows", rows.size()},
                       {"next", fmt::format("{}.{}", epoch_, next)},
                       {"more", more || more_in_store},
                       {"reset", !cursor.empty() && !ours},
                       {"total", total},
                       {"started", started_},
                       {"workers", workers_}});
}

}  // namespace attune
