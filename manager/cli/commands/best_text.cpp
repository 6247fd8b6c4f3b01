#include "manager/cli/commands/best_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "manager/cli/commands/console.h"

namespace attune {
namespace {

std::string bound(const Objective& objective) {
  return fmt::format("at {} {}", objective.maximize ? "least" : "most", *objective.limit);
}

}  // namespace

std::string sought_text(const Objective& objective) {
  if (objective.limit) return fmt::format("{} {}", objective.metric, bound(objective));
  return fmt::format("{} {}", objective.maximize ? "maximize" : "minimize", objective.metric);
}

std::string best_text(const std::optional<BestSoFar>& best,
                      const std::vector<Objective>& objectives) {
  if (!best) return "";
  const Objective& first = objectives.front();
  const auto value = best->trial.score(first.metric);
  if (!value) return "";  // the row in the store is damaged
  const std::string score = fmt::format("{} ({})", number_text(*value), best->trial.job_id);
  if (best->violation > 0) return fmt::format("{}, nearest {}", kNoneKeepsLimits, score);
  if (!several(objectives)) return "best " + score;
  return fmt::format("{} trade-off{}, best {} {}", best->trade_offs,
                     best->trade_offs == 1 ? "" : "s", first.metric, score);
}

std::string limit_note(const TrialRecord& trial, const Objective& objective) {
  if (!objective.limit) return "";
  const auto value = reported_value(trial.final_metric, objective.metric, false);
  const bool kept = value && to_minimise(*value, objective) <= 0;
  return fmt::format(" ({}: {})", kept ? "limit" : "breaks the limit", bound(objective));
}

bool limits_broken(const std::vector<TrialRecord>& best, const std::vector<Objective>& objectives) {
  if (best.empty()) return false;
  const auto standing = standing_of(best.front().final_metric, objectives);
  return standing && standing->violation > 0;
}

std::string trade_offs_text(const std::vector<TrialRecord>& best,
                            const std::vector<Objective>& objectives, std::size_t width,
                            std::optional<std::int64_t> count) {
  std::string sought;
  std::vector<std::string> headings = {"TRIAL"};
  for (const Objective& each : objectives) {
    sought += (sought.empty() ? "" : ", ") + sought_text(each);
    headings.push_back(each.metric);
  }
  headings.emplace_back("PARAMETERS");
  TextTable table(std::move(headings));
  const std::size_t shown =
      std::min(best.size(), static_cast<std::size_t>(count.value_or(std::ssize(best))));
  for (const TrialRecord& trial : std::span(best).first(shown)) {
    std::vector<std::string> cells = {trial.job_id};
    for (const Objective& each : objectives) {
      const auto value =
          reported_value(trial.final_metric, each.metric, &each == &objectives.front());
      cells.push_back(value ? number_text(*value) : "");
    }
    cells.push_back(dump_json(trial.proposed.parameters));
    table.add(std::move(cells));
  }
  std::string what = fmt::format("{} trade-off{}", best.size(), best.size() == 1 ? "" : "s");
  if (shown < best.size()) what += fmt::format(", the first {}", shown);
  if (limits_broken(best, objectives)) what = fmt::format("{}; nearest", kNoneKeepsLimits);
  return fmt::format("{} ({}):\n{}", what, sought, table.text(width));
}

void add_objectives(json& object, const TrialRecord& trial,
                    const std::vector<Objective>& objectives) {
  if (objectives.size() == 1) return;
  json& values = object["objectives"] = json::object();
  for (const Objective& each : objectives) {
    const auto value =
        reported_value(trial.final_metric, each.metric, &each == &objectives.front());
    values[each.metric] = value ? json(*value) : json();
  }
  const auto standing = standing_of(trial.final_metric, objectives);
  object["violation"] = standing ? json(standing->violation) : json();
}

}  // namespace attune
