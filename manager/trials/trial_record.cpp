#include "manager/trials/trial_record.h"

#include <fmt/format.h>

#include <cmath>

#include "base/python_json.h"

namespace attune {
namespace {

// The JSON value of one metric; `first`: it is the first objective, so that a bare number counts.
// Null when it is missing.
const json* said_of(const json& final_metric, const std::string& name, bool first) {
  if (!final_metric.is_object()) return first ? &final_metric : nullptr;
  const auto found = final_metric.find(name);
  return found == final_metric.end() ? nullptr : &*found;
}

}  // namespace

bool has_ended(TrialStatus status) { return status >= TrialStatus::succeeded; }

std::optional<double> TrialRecord::score(const std::string& name) const {
  return reported_value(final_metric, name, true);
}

std::optional<Standing> standing_of(const json& final_metric,
                                    const std::vector<Objective>& objectives) {
  std::vector<std::optional<double>> reported;
  reported.reserve(objectives.size());
  for (const Objective& objective : objectives)
    reported.push_back(reported_value(final_metric, objective.metric, reported.empty()));
  return standing(objectives, reported);
}

bool is_silent(const json& final_metric, const std::vector<Objective>& objectives) {
  return std::ranges::any_of(objectives, [&](const Objective& each) {
    const json* said = said_of(final_metric, each.metric, &each == &objectives.front());
    return said == nullptr || !(said->is_number() || said->is_boolean());
  });
}

std::string missing_metrics(const json& final_metric, const std::vector<Objective>& objectives) {
  std::string names;
  for (const Objective& each : objectives) {
    if (reported_value(final_metric, each.metric, &each == &objectives.front())) continue;
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", each.metric);
  }
  return names;
}

std::optional<double> reported_value(const json& final_metric, const std::string& name,
                                     bool first) {
  const json* value = said_of(final_metric, name, first);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;  // as the daemon counts them
  if (!value->is_number() || !std::isfinite(value->get<double>())) return std::nullopt;
  return value->get<double>();
}

std::string lack_text(const json& final_metric, const std::vector<Objective>& objectives) {
  const std::string names = missing_metrics(final_metric, objectives);
  if (names.empty()) return "";
  const std::string metric = dump_python_json(final_metric);  // dump_json() would show NaN as null
  if (objectives.size() > 1)
    return fmt::format("{} lacks a finite {}: it is never the best", metric, names);
  return fmt::format("{} is neither a finite number nor an object whose {} is one", metric, names);
}

std::string_view to_text(TrialStatus status) {
  switch (status) {
    case TrialStatus::pending:
      return "PENDING";
    case TrialStatus::running:
      return "RUNNING";
    case TrialStatus::paused:
      return "PAUSED";
    case TrialStatus::succeeded:
      return "SUCCEEDED";
    case TrialStatus::failed:
      return "FAILED";
    case TrialStatus::early_stopped:
      return "EARLY_STOPPED";
    case TrialStatus::user_canceled:
      return "USER_CANCELED";
  }
  return "UNKNOWN";
}

std::string status_word(TrialStatus status) {
  std::string word(to_text(status));
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return word;
}

std::string_view to_text(TrialSource source) {
  switch (source) {
    case TrialSource::algorithm:
      return "algorithm";
    case TrialSource::customized:
      return "customized";
    case TrialSource::initial:
      return "initial";
  }
  return "unknown";
}

// Zeros, so that ids sort in the order of submission; a letter, so that programs that read results
// do not take an id for a number.
std::string job_id_of(std::int64_t sequence) { return fmt::format("t{:04}", sequence); }

}  // namespace attune
