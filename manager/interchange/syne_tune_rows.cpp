#include "manager/interchange/syne_tune_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace attune {
namespace {

constexpr std::string_view kConfig = "config_";
constexpr std::array kUnfinished = {"STOP", "PAUSE", "Stopped", "Stopping", "Paused", "Failed"};

bool was_cut_off(const json& row) {
  return std::ranges::any_of(std::array{"st_decision", "st_status"}, [&](const char* column) {
    const json said = row.value(column, json());
    return std::ranges::any_of(kUnfinished, [&](const char* word) { return said == word; });
  });
}

json trial_of_row(const json& row) {
  json parameters = json::object(), metrics = json::object();
  for (const auto& [name, value] : row.items()) {
    if (name.starts_with(kConfig)) {
      if (!value.is_null()) parameters[name.substr(kConfig.size())] = value;
    } else if (value.is_number() && name != "trial_id" && !name.empty() &&
               !name.starts_with("st_")) {
      metrics[name] = value;
    }
  }
  json trial = {{"trial_job_id", "syne-tune-" + dump_json(row["trial_id"])},
                {"parameters", std::move(parameters)},
                {"value", nullptr}};
  if (!was_cut_off(row)) trial["value"] = std::move(metrics);
  return trial;
}

}  // namespace

bool is_syne_tune(const PlacedRows& rows) {
  if (rows.empty()) return false;
  const json& row = rows.front().second;
  return row.contains("trial_id") && (row.contains("st_decision") || row.contains("st_status"));
}

PlacedRows syne_tune_trials(const PlacedRows& rows) {
  PlacedRows trials;
  std::map<std::string, std::size_t> by_id;
  for (const auto& [place, row] : rows) {
    const auto [at, is_new] = by_id.try_emplace(dump_json(row["trial_id"]), trials.size());
    if (is_new) trials.emplace_back();
    trials[at->second] = {place, trial_of_row(row)};
  }
  return trials;
}

}  // namespace attune
